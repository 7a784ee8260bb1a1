import { chmodSync, writeFileSync } from 'node:fs';
import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { configureServer, type ServerConfig } from 'agent-bff';
import { FakeIdentityProvider } from 'agent-bff/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { asNobody } from '../../support/as-nobody.js';
import { newServiceAccountKey } from '../../support/service-account.js';
import { failureOf, startSite } from './credential-site.js';
import { Evidence } from './evidence.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const folder = temporaryFolder('agent-bff-failures');
const evidence = new Evidence();
let key: string;

beforeAll(async () => {
  ({ privateKey: key } = await newServiceAccountKey());
  evidence.hide(key);
  evidence.conceal(folder, 'agent-bff-failures');
  chmodSync(folder, 0o755);
});

function file(name: string, text: string, mode = 0o644): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode });
  return path;
}

const account = (block: ServerConfig['serviceAccount']): ServerConfig => ({
  serviceAuthStrategy: 'service_account',
  serviceAccount: { serviceAccountId: 'site-1', keyId: 'key-1', ...block },
});

async function failing(site: ServerConfig, ports = {}) {
  const running = await startSite(site, { ports });
  const answer = await running.chat();
  await evidence.take(running, answer);
  expect(answer.status).toBe(401);
  expect(running.agent.requests).toEqual([]);
  return failureOf(answer);
}

const refused = (...fields: string[]) => ({ code: 'service_auth_failed', block: 'serviceAccount', fields });

describe('what a visitor reads when the key of the service account', () => {
  it.each<[string, () => ServerConfig, object]>([
    ['is not there', () => account({ privateKeyPath: join(folder, 'none.pem') }), refused('privateKeyPath')],
    ['is a folder', () => account({ privateKeyPath: folder }), refused('privateKeyPath')],
    ['is given as a path', () => account({ privateKeyPath: key }), refused('privateKeyPath')],
    ['is no key', () => account({ privateKeyPath: file('empty.pem', '') }), refused('privateKeyPath')],
    ['is missing', () => account({}), refused('privateKeyPem', 'privateKeyPath')],
    ['belongs to nobody', () => account({ serviceAccountId: '', privateKeyPem: key }), refused('serviceAccountId')],
    ['is cut off', () => account({ privateKeyPem: key.slice(0, 900) }), refused('privateKeyPem')],
    [
      'is too short',
      () => {
        const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
        const pem = short.export({ type: 'pkcs8', format: 'pem' }).toString();
        evidence.hide(pem);
        return account({ privateKeyPem: pem });
      },
      refused('privateKeyPem'),
    ],
  ])('%s: block and field', async (_title, site, expected) => {
    expect(await failing(site())).toMatchObject(expected);
  });

  it('may not be read by the server: block and field', async () => {
    const path = file('locked.pem', key, 0o600);
    const site = await startSite(account({ privateKeyPem: key }));
    await site.chat(); // Loads what a request needs while everything may still be read.
    const locked = await startSite(account({ privateKeyPath: path }));
    const answer = await asNobody(() => locked.chat());
    await evidence.take(locked, answer);
    expect(failureOf(answer)).toMatchObject(refused('privateKeyPath'));
    expect(locked.telemetry.of('error')[0]?.detail).toContain('EACCES');
  });

  it('is there at last: the next request works', async () => {
    const path = join(folder, 'late.pem');
    const site = await startSite(account({ privateKeyPath: path }), {});
    const missing = await site.chat();
    await evidence.take(site, missing);
    expect(missing.status).toBe(401);
    file('late.pem', key);
    // A file that changed is another credential, so no back-off stands against it; it is looked at every 30 seconds.
    const again = await startSite(account({ privateKeyPath: path }));
    expect((await again.chat()).status).toBe(200);
  });
});

describe('what a visitor reads when there is nothing to prove', () => {
  it.each<[string, ServerConfig, object]>([
    ['no strategy and no block', {}, { block: 'configureServer', fields: ['serviceAuthStrategy'] }],
    [
      'a strategy without its block',
      { serviceAuthStrategy: 'resource_owner_password' },
      { block: 'idpA', fields: ['domain', 'clientId', 'clientSecret'] },
    ],
    [
      'a provider without its block',
      { authProvider: 'idp_b' },
      {
        block: 'idpBService',
        fields: ['tenantId', 'clientId', 'scope', 'clientSecret', 'certificatePath', 'privateKeyPath'],
      },
    ],
  ])('%s: what to fill in', async (_title, config, expected) => {
    expect(await failing(config)).toMatchObject({ code: 'service_auth_failed', ...expected });
  });

  it('a provider of the site itself that throws: its name, and its text in no answer', async () => {
    const okta = new FakeIdentityProvider('okta');
    const thrown = 'connect ECONNREFUSED https://okta.example with the secret s3cr3t-of-okta';
    okta.answer = () => {
      throw new Error(thrown);
    };
    evidence.hide('s3cr3t-of-okta');
    evidence.conceal('okta.example');
    const failure = await failing({ serviceAuthStrategy: 'okta' }, { identityProviders: { okta } });
    expect(failure).toMatchObject({ code: 'identity_provider_unavailable', retryable: true });
  });
});

describe('whoever prints the objects of a site', () => {
  it('finds no secret in the process-wide state, nor in the toolkit', () => {
    const secrets = {
      serviceApiKey: 'key-of-the-api-123',
      idpA: { clientSecret: 'secret-of-idp-a-123' },
      idpAServiceUser: { password: 'password-of-the-user-123' },
      idpBService: { clientSecret: 'secret-of-idp-b-123' },
      onBehalfOf: { clientSecret: 'secret-of-the-exchange-123' },
      serviceAccount: { privateKeyPem: key },
    };
    evidence.hide('key-of-the-api-123', 'secret-of-idp-a-123', 'password-of-the-user-123', 'secret-of-idp-b-123');
    evidence.hide('secret-of-the-exchange-123');
    const toolkit = configureServer(secrets);
    const state: unknown = Reflect.get(globalThis, Symbol.for('agent-bff/state@1'));
    expect(state).toBeDefined();
    for (const value of [toolkit, state, { state, toolkit, handler: toolkit.chatHandler() }]) evidence.print(value);
  });

  it('finds none in a refused configuration either', () => {
    const misplaced = 'a-secret-in-a-wrong-field-123';
    evidence.hide(misplaced);
    for (const config of [
      { a2aUrl: misplaced },
      { serviceAuthStrategy: misplaced },
      { idpA: { clientsecret: misplaced } },
      { cacheKeys: [misplaced] },
      { serviceApiKey: `${misplaced}\n` },
      { idpBService: { clientSecret: [misplaced] } },
    ]) {
      const thrown = caught(() => configureServer(config as ServerConfig));
      expect(thrown.message).not.toContain(misplaced);
      evidence.print(thrown);
    }
  });

  it('and of all failures above no answer names a secret or a path, and no log a secret', () => {
    evidence.expectNothingLeaked(14);
  });
});

function caught(call: () => unknown): Error {
  try {
    call();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('nothing was refused');
}
