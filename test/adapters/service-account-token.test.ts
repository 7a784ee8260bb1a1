import { createLocalJWKSet, decodeProtectedHeader, exportJWK, importSPKI, type JWTPayload, jwtVerify } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type ServiceAccountOptions,
  ServiceAccountProvider,
} from '../../src/adapters/service-account/service-account-provider.js';
import { type GeneratedKeyPair, generateKeyPair } from '../../src/adapters/keys/pem.js';
import { keyText } from '../../src/adapters/keys/private-key.js';

import { anyIdentity } from '../support/configured-provider.js';

const now = 1_800_000_000_999;
const issuedAt = 1_800_000_000;

let pair: GeneratedKeyPair;
beforeAll(async () => {
  pair = await generateKeyPair();
});

function provider(settings: Partial<ServiceAccountOptions> = {}): ServiceAccountProvider {
  return new ServiceAccountProvider({
    serviceAccountId: 'site-1',
    keyId: 'key-7',
    audience: 'https://platform.example',
    subject: 'site-1-subject',
    issuer: 'site-1-issuer',
    claims: {},
    key: keyText(pair.privateKeyPem.reveal(), 'serviceAccount'),
    identity: anyIdentity,
    ...settings,
  });
}

async function tokenOf(source: ServiceAccountProvider): Promise<string> {
  const outcome = await source.issue(now);
  if (outcome.kind !== 'token') throw new Error(`no token: ${outcome.detail}`);
  return outcome.token.value;
}

/** Verifies as the platform does, with the public half only. */
async function verified(token: string): Promise<JWTPayload> {
  const jwk = await exportJWK(await importSPKI(pair.publicKeyPem, 'RS256'));
  const { payload } = await jwtVerify(token, createLocalJWKSet({ keys: [{ ...jwk, kid: 'key-7' }] }), {
    algorithms: ['RS256'],
    currentDate: new Date(now),
  });
  return payload;
}

describe('a service account token', () => {
  it('is verified with the public key alone', async () => {
    expect(await verified(await tokenOf(provider({ newId: () => 'id-1' })))).toEqual({
      iss: 'site-1-issuer',
      sub: 'site-1-subject',
      aud: 'https://platform.example',
      iat: issuedAt,
      exp: issuedAt + 300,
      jti: 'id-1',
    });
  });

  it('lives for five minutes', async () => {
    expect(await provider().issue(now)).toMatchObject({ kind: 'token', token: { expiresAt: 1_800_000_300_000 } });
    const { iat, exp } = await verified(await tokenOf(provider()));
    expect(Number(exp) - Number(iat)).toBe(300);
  });

  it('is RS256 and names its key', async () => {
    expect(decodeProtectedHeader(await tokenOf(provider()))).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'key-7' });
  });

  it('has no key id when none is configured', async () => {
    expect(decodeProtectedHeader(await tokenOf(provider({ keyId: '' })))).toEqual({ alg: 'RS256', typ: 'JWT' });
  });

  it.each([
    ['several audiences', ['https://a.example', 'https://b.example'], ['https://a.example', 'https://b.example']],
    ['no audience when it is switched off', false, undefined],
    ['no audience when none is supplied', '', undefined],
    ['no audience when the list is empty', [], undefined],
  ] as const)('has %s', async (_title, audience, aud) => {
    expect((await verified(await tokenOf(provider({ audience }))))['aud']).toEqual(aud);
  });

  it('has no issuer and subject when they are empty', async () => {
    const payload = await verified(await tokenOf(provider({ issuer: '', subject: '' })));
    expect(Object.keys(payload).sort()).toEqual(['aud', 'exp', 'iat', 'jti']);
  });

  it('has a new id each time', async () => {
    const source = provider();
    const ids = await Promise.all([source, source].map(async (one) => (await verified(await tokenOf(one))).jti));
    expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(ids[0]).not.toBe(ids[1]);
  });

  it('contains further claims', async () => {
    const payload = await verified(await tokenOf(provider({ claims: { org: 'acme', roles: ['reader'] } })));
    expect(payload).toMatchObject({ org: 'acme', roles: ['reader'] });
  });

  it('keeps its registered claims', async () => {
    const claims = { iss: 'x', sub: 'x', aud: 'x', iat: 1, exp: 9_999_999_999, nbf: 1, jti: 'x' };
    const expected = { iat: issuedAt, exp: issuedAt + 300, jti: 'id' };
    const left = { audience: false, issuer: '', subject: '', claims, newId: () => 'id' } as const;
    expect(await verified(await tokenOf(provider(left)))).toEqual(expected);
  });

  it('keeps its claims when the caller changes the object', async () => {
    const claims: Record<string, unknown> = { org: 'acme' };
    const source = provider({ claims });
    claims['org'] = 'other';
    expect(await verified(await tokenOf(source))).toMatchObject({ org: 'acme' });
  });
});
