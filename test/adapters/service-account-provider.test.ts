import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { importSPKI, jwtVerify } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type ServiceAccountOptions,
  ServiceAccountProvider,
} from '../../src/adapters/service-account/service-account-provider.js';
import { type GeneratedKeyPair, generateKeyPair } from '../../src/adapters/keys/pem.js';
import { keyText, type PrivateKeyReading, type PrivateKeySource } from '../../src/adapters/keys/private-key.js';
import type { IdentityProvider } from '../../src/ports/identity-provider.js';
import { anyIdentity, configuredProvider } from '../support/configured-provider.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { identityProviderContract } from '../contracts/identity-provider.contract.js';

const now = 1_800_000_000_999;
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
  if (outcome.kind !== 'token') throw new Error(`no token: ${outcome.detail}`);
  return outcome.token.value;
}

/** A key source that counts how often its key is read. */
class CountingKey implements PrivateKeySource {
  reveals = 0;
  pem = '';
  name = 'one';

  read(): Promise<PrivateKeyReading> {
    const reveal = (): string => {
      this.reveals += 1;
      return this.pem;
    };
    return Promise.resolve({ kind: 'key', pem: { reveal }, fingerprint: this.name });
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
      'claims that are not JSON': {
        provider: provider({ claims: { big: 1n } }),
        reason: 'refused',
        fields: ['claims'],
      },
      'a key nobody can import': {
        provider: provider({ key: new CountingKey() }),
        reason: 'refused',
        fields: ['privateKeyPem', 'privateKeyPath'],
      },
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

  it('is imported again after a failure', async () => {
    const key = new CountingKey();
    const source = provider({ key });
    expect(await source.issue(now)).toMatchObject({ kind: 'failure', reason: 'refused' });
    key.pem = first.privateKeyPem.reveal();
    expect(await source.issue(now)).toMatchObject({ kind: 'token' });
  });

  it('that is unusable is reported in the words of its source', async () => {
    const fields = ['privateKeyPath'] as const;
    const told = { reason: 'refused', fields, advice: 'Point "privateKeyPath" elsewhere.', detail: 'ENOENT' } as const;
    const key: PrivateKeySource = { read: () => Promise.resolve({ kind: 'unusable', ...told }) };
    expect(await provider({ key }).issue(now)).toEqual({
      kind: 'failure',
      reason: 'refused',
      block,
      fields: ['privateKeyPath'],
      advice: told.advice,
      detail: told.detail,
    });
  });
});

describe('a service account', () => {
  it('signs with the clock of its caller', () => {
    expect(provider().signsLocally).toBe(true);
  });
});

it('has another proof, and the same principal, once its key file has another key', async () => {
  const privateKeyPath = join(temporaryFolder('key'), 'key.pem');
  const identityWith = async (pair: GeneratedKeyPair) => {
    await writeFile(privateKeyPath, pair.privateKeyPem.reveal());
    const serviceAccount = { serviceAccountId: 'site-1', keyId: 'key-7', privateKeyPath };
    return (await configuredProvider('service_account', { serviceAccount })).identity();
  };
  const [before, after] = [await identityWith(first), await identityWith(second)];
  expect(after.principal).toBe(before.principal);
  expect(after.proof).not.toBe(before.proof);
});
