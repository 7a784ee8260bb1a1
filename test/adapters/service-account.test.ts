import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLocalJWKSet, decodeProtectedHeader, exportJWK, importSPKI, type JWTPayload, jwtVerify } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { RecordingTelemetry } from '../../src/adapters/fakes/fakes.js';
import {
  type ServiceAccountOptions,
  ServiceAccountProvider,
} from '../../src/adapters/service-account/service-account-provider.js';
import { type GeneratedKeyPair, generateKeyPair } from '../../src/adapters/keys/pem.js';
import { keyText, type PrivateKeyReading, type PrivateKeySource } from '../../src/adapters/keys/private-key.js';
import type { Identity, IdentityProvider } from '../../src/ports/identity-provider.js';
import { anyIdentity, configuredProvider } from '../support/configured-provider.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { identityProviderContract } from '../contracts/identity-provider.contract.js';

const now = 1_800_000_000_999;
const issuedAt = 1_800_000_000;
const block = 'serviceAccount';

let first: GeneratedKeyPair;
let second: GeneratedKeyPair;
beforeAll(async () => {
  [first, second] = await Promise.all([generateKeyPair(), generateKeyPair()]);
});

function keyOf(pair: GeneratedKeyPair): PrivateKeySource {
  return keyText(pair.privateKeyPem.reveal(), block);
}

function provider(settings: Partial<ServiceAccountOptions> = {}): ServiceAccountProvider {
  return new ServiceAccountProvider({
    serviceAccountId: 'site-1',
    keyId: 'key-7',
    audience: 'https://platform.example',
    subject: 'site-1-subject',
    issuer: 'site-1-issuer',
    claims: {},
    key: keyOf(first),
    identity: anyIdentity,
    ...settings,
  });
}

async function tokenOf(source: ServiceAccountProvider): Promise<string> {
  const outcome = await source.issue(now);
  if (outcome.kind !== 'token') throw new Error(`no token: ${outcome.log}`);
  return outcome.token.value;
}

/** A key source that counts how often its key is read. */
class CountingKey implements PrivateKeySource {
  reveals = 0;
  pem = '';
  name = 'one';

  read(): PrivateKeyReading {
    const reveal = (): string => {
      this.reveals += 1;
      return this.pem;
    };
    return { kind: 'key', pem: { reveal }, fingerprint: this.name };
  }
}

identityProviderContract('ServiceAccountProvider', async () => {
  const unusable = keyText(first.privateKeyPem.reveal().slice(0, 900), block);
  const made = (change: object = {}): Promise<IdentityProvider> =>
    configuredProvider('service_account', {
      serviceAccount: {
        serviceAccountId: 'site-1',
        keyId: 'key-7',
        privateKeyPem: first.privateKeyPem.reveal(),
        audience: 'https://platform.example',
        subject: 'site-1-subject',
        issuer: 'site-1-issuer',
        claims: { org: 'acme' },
        ...change,
      },
    });
  return {
    now,
    working: await made(),
    again: await made(),
    otherPrincipal: {
      serviceAccountId: await made({ serviceAccountId: 'site-2' }),
      audience: await made({ audience: ['https://platform.example'] }),
      'no audience': await made({ audience: false }),
      subject: await made({ subject: 'another' }),
      issuer: await made({ issuer: 'another' }),
      claims: await made({ claims: { org: 'other' } }),
    },
    otherProof: {
      keyId: await made({ keyId: 'key-8' }),
      privateKeyPem: await made({ privateKeyPem: second.privateKeyPem.reveal() }),
      'unusable key': await made({ privateKeyPem: 'half' }),
      'no key': await made({ privateKeyPem: '' }),
    },
    failing: {
      'no id': { provider: provider({ serviceAccountId: '' }), reason: 'incomplete', fields: ['serviceAccountId'] },
      'no key': {
        provider: provider({ key: undefined }),
        reason: 'incomplete',
        fields: ['privateKeyPem', 'privateKeyPath'],
      },
      'half a key': { provider: provider({ key: unusable }), reason: 'refused', fields: ['privateKeyPem'] },
    },
    secrets: [first, second].map((pair) => pair.privateKeyPem.reveal().slice(100, 150)),
  };
});

describe('a service account key', () => {
  it('is imported once per key', async () => {
    const key = Object.assign(new CountingKey(), { pem: first.privateKeyPem.reveal() });
    const source = provider({ key });
    await Promise.all([tokenOf(source), tokenOf(source), tokenOf(source)]);
    expect(key.reveals).toBe(1);

    Object.assign(key, { pem: second.privateKeyPem.reveal(), name: 'two' });
    const token = await tokenOf(source);
    await jwtVerify(token, await importSPKI(second.publicKeyPem, 'RS256'), { currentDate: new Date(now) });
    expect(key.reveals).toBe(2);
  });

  it('is checked again after recheck(), if its source can', () => {
    let checks = 0;
    const watched = { ...keyOf(first), recheck: () => (checks += 1) };
    for (const key of [watched, keyOf(first), undefined]) provider({ key }).recheck();
    expect(checks).toBe(1);
  });

  it('that is unusable is reported in the words of its source', async () => {
    const fields = ['privateKeyPath'] as const;
    const told = { reason: 'refused', fields, advice: 'Point "privateKeyPath" elsewhere.', log: 'ENOENT' } as const;
    const key: PrivateKeySource = { read: () => ({ kind: 'unusable', ...told }) };
    expect(await provider({ key }).issue(now)).toEqual({
      kind: 'failure',
      reason: 'refused',
      block,
      fields: ['privateKeyPath'],
      advice: told.advice,
      log: told.log,
    });
  });
});

describe('a service account', () => {
  it('signs with the clock of its caller', () => {
    expect(provider().signsLocally).toBe(true);
  });
});

it('has another proof, and the same principal, once its key file is another, or broken in another way', async () => {
  const privateKeyPath = join(temporaryFolder('key'), 'key.pem');
  const serviceAccount = { serviceAccountId: 'site-1', keyId: 'key-7', privateKeyPath };
  const identities: Identity[] = [];
  for (const text of [first.privateKeyPem.reveal(), second.privateKeyPem.reveal(), '', '<PRIVATE_KEY>']) {
    await writeFile(privateKeyPath, text);
    identities.push(await (await configuredProvider('service_account', { serviceAccount })).identity());
  }
  expect(new Set(identities.map(({ principal }) => principal)).size).toBe(1);
  expect(new Set(identities.map(({ proof }) => proof)).size).toBe(4);
});

it('warns of a key file only beside a key in the configuration', async () => {
  const telemetry = new RecordingTelemetry();
  const privateKeyPath = '/missing/key.pem';
  await configuredProvider('service_account', { serviceAccount: { privateKeyPath } }, { telemetry });
  expect(telemetry.events).toEqual([]);
  const privateKeyPem = first.privateKeyPem.reveal();
  await configuredProvider('service_account', { serviceAccount: { privateKeyPath, privateKeyPem } }, { telemetry });
  expect(telemetry.events).toMatchObject([{ type: 'warning', code: 'second_key_unused' }]);
});

/** Verifies as the platform does, with the public half only. */
async function verified(token: string): Promise<JWTPayload> {
  const jwk = await exportJWK(await importSPKI(first.publicKeyPem, 'RS256'));
  const { payload } = await jwtVerify(token, createLocalJWKSet({ keys: [{ ...jwk, kid: 'key-7' }] }), {
    algorithms: ['RS256'],
    currentDate: new Date(now),
  });
  return payload;
}

describe('a service account token', () => {
  it('is verified with the public key alone and lives for five minutes', async () => {
    expect(await provider().issue(now)).toMatchObject({ kind: 'token', token: { expiresAt: 1_800_000_300_000 } });
    expect(await verified(await tokenOf(provider()))).toEqual({
      iss: 'site-1-issuer',
      sub: 'site-1-subject',
      aud: 'https://platform.example',
      iat: issuedAt,
      exp: issuedAt + 300,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    });
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

  it('keeps its claims when the caller changes the object', async () => {
    const claims: Record<string, unknown> = { org: 'acme' };
    const source = provider({ claims });
    claims['org'] = 'other';
    expect(await verified(await tokenOf(source))).toMatchObject({ org: 'acme' });
  });
});
