import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { type AgentBffError, configFromEnv, createToolkit, type ServerConfig } from 'agent-bff';
import { FakeClock, FakeUpstream, RecordingTelemetry } from 'agent-bff/testing';
import { createWebHandler } from 'agent-bff/web';
import { describe, expect, it } from 'vitest';
import { examine } from '../../src/composition/cli/doctor.js';
import { resolveConfig } from '../../src/composition/config/resolve-config.js';
import { revealed } from '../../src/domain/shared/setting.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { lineOf } from './examined-agent.js';

const folder = temporaryFolder('secret-files');
let files = 0;
const AGENT: ServerConfig = { a2aUrl: 'https://agent.example/a2a', conversations: 'open' };

function fileWith(text: string): string {
  const path = join(folder, `secret-${String((files += 1))}`);
  writeFileSync(path, text);
  return path;
}

/** A site that sends its credential to an agent, and a clock that the test moves. */
function site(config: ServerConfig, status = 200) {
  const clock = new FakeClock(1_800_000_000_000);
  const telemetry = new RecordingTelemetry();
  const upstream = new FakeUpstream(({ headers }) => ({ status, headers: {}, body: JSON.stringify(headers) }));
  const toolkit = createToolkit({ ...AGENT, ...config }, { clock, telemetry, upstream });
  const chat = createWebHandler({ toolkit });
  const ask = async (): Promise<string> => {
    const body = '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{}}}';
    const headers = { 'content-type': 'application/json' };
    return (await chat(new Request('https://site.example/api/a2a', { method: 'POST', headers, body }))).text();
  };
  const sent = async (): Promise<unknown> => {
    await ask();
    const { 'x-api-key': key, authorization } = upstream.requests.at(-1)?.headers ?? {};
    return key ?? authorization;
  };
  return { clock, telemetry, ask, sent };
}

describe('a secret in a file', () => {
  const TEXTS: readonly (readonly [string, (config: ReturnType<typeof resolveConfig>) => unknown])[] = [
    ['SERVICE_API_KEY', ({ serviceApiKey }) => serviceApiKey?.reveal()],
    ['SERVICE_TOKEN', ({ serviceToken }) => serviceToken?.reveal()],
    ['IDP_A_CLIENT_SECRET', ({ idpA }) => revealed(idpA.clientSecret)],
    ['IDP_A_SERVICE_USER_PASSWORD', ({ idpAServiceUser }) => revealed(idpAServiceUser.password)],
    ['IDP_B_CLIENT_SECRET', ({ idpBService }) => revealed(idpBService.clientSecret)],
  ];
  it.each(TEXTS)('%s_FILE is read without its last line break', (variable, read) => {
    const env = (path: string) => configFromEnv({ [`${variable}_FILE`]: path, SERVICE_AUTH_STRATEGY: 'static_token' });
    for (const end of ['', '\n', '\r\n']) expect(read(resolveConfig(env(fileWith(`hunter2${end}`))))).toBe('hunter2');
    expect(inspect(resolveConfig(env(fileWith('hunter2'))), { depth: 6 })).not.toContain('hunter2');
  });

  it('can be one of an exchange, and a token with its scheme', () => {
    const path = fileWith('Bearer hunter2-token\n');
    const { onBehalfOf, serviceToken } = resolveConfig({
      onBehalfOf: { clientSecret: { path } },
      serviceToken: { path },
    });
    expect([revealed(onBehalfOf.clientSecret), serviceToken?.reveal()]).toEqual([
      'Bearer hunter2-token',
      'hunter2-token',
    ]);
  });

  it('may hold the address of the store, or its keys', () => {
    const key = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
    const CACHE_URL_FILE = fileWith('redis://:hunter2@cache.example:6379\n');
    const CACHE_KEYS_FILE = fileWith(`${key}\n${key.replace('AAE', 'BBE')}, \n`);
    const { cacheAddress, cacheKeys } = resolveConfig(configFromEnv({ CACHE_URL_FILE, CACHE_KEYS_FILE }));
    expect(cacheAddress?.url.reveal()).toBe('redis://:hunter2@cache.example:6379');
    expect(cacheKeys).toHaveLength(2);
  });

  it.each([
    ['cacheStore', 'CACHE_URL_FILE'],
    ['cacheKeys', 'CACHE_KEYS_FILE'],
  ])('stops the start when it is that of %s and is missing or empty', (field, variable) => {
    const path = join(folder, 'nowhere');
    const message = `The file of "${field}" cannot be read: ${path} (ENOENT).`;
    expect(() => createToolkit({ [field]: { path } })).toThrow(message);
    expect(() => createToolkit(configFromEnv({ [variable]: path }))).toThrow(`In the environment: ${variable}.`);
    expect(() => createToolkit(configFromEnv({ [variable]: fileWith('\n') }))).toThrow('(empty). Set it to the path');
  });

  it('is refused beside the value itself, where the toolkit is made', () => {
    for (const [first, second] of [
      ['SERVICE_API_KEY', 'SERVICE_API_KEY_FILE'],
      ['SERVICE_API_KEY_FILE', 'SERVICE_API_KEY'],
    ] as const) {
      const config = configFromEnv({ [first]: 'x', [second]: 'x' });
      expect(() => createToolkit(config)).toThrow(
        'SERVICE_API_KEY and SERVICE_API_KEY_FILE are both set. Remove one of them.',
      );
      expect(() => createToolkit({ ...config, serviceApiKey: 'key' })).not.toThrow();
    }
    const PEM = { SERVICE_ACCOUNT_PRIVATE_KEY_FILE: '/x' };
    const telemetry = new RecordingTelemetry();
    createToolkit({ ...configFromEnv(PEM), telemetry });
    expect(telemetry.of('warning')[0]?.detail).toContain('Did you mean SERVICE_ACCOUNT_PRIVATE_KEY_PATH?');
  });

  it('is refused in a field that is no secret', () => {
    expect(() => createToolkit({ a2aUrl: { path: '/x' } as never })).toThrow('"a2aUrl"');
    expect(() => createToolkit({ serviceApiKey: { path: '/x', mode: 1 } as never })).toThrow('"serviceApiKey"');
  });

  it.each<[string, (path: string) => ServerConfig, string]>([
    ['an API key', (path) => ({ serviceApiKey: { path } }), ''],
    ['a fixed token', (path) => ({ serviceAuthStrategy: 'static_token', serviceToken: { path } }), 'Bearer '],
  ])('%s is replaced within 30 seconds, and hidden in the log', async (_what, config, scheme) => {
    const path = fileWith('hunter2-first');
    const { clock, telemetry, sent } = site(config(path), 401);
    expect(await sent()).toBe(`${scheme}hunter2-first`);
    writeFileSync(path, 'hunter2-second\n');
    // The refusal makes the next message read the file.
    expect(await sent()).toBe(`${scheme}hunter2-second`);
    writeFileSync(path, 'hunter2-third\n');
    clock.advance(30_000);
    expect(await sent()).toBe(`${scheme}hunter2-third`);
    expect(JSON.stringify(telemetry.events)).toContain('[redacted]');
    expect(JSON.stringify(telemetry.events)).not.toContain('hunter2');
  });

  it('stays in use for five minutes after its file is gone', async () => {
    const path = fileWith('hunter2-first');
    const { clock, telemetry, sent, ask } = site({ serviceApiKey: { path } });
    expect(await sent()).toBe('hunter2-first');
    rmSync(path);
    for (const wait of [30_000, 299_000]) {
      clock.advance(wait);
      expect(await sent()).toBe('hunter2-first');
    }
    expect(telemetry.of('warning').map(({ detail }) => detail)).toEqual([
      `"serviceApiKey" in "configureServer": ENOENT: ${path}`,
    ]);
    clock.advance(30_000);
    const response = await ask();
    expect(response).toContain('The server has no credential for the platform.');
    expect(response).not.toContain(folder);
    writeFileSync(path, 'hunter2-again');
    clock.advance(30_000);
    expect(await sent()).toBe('hunter2-again');
  });

  it.each<[string, () => string, string]>([
    ['missing', () => join(folder, 'nowhere'), 'ENOENT'],
    ['empty', () => fileWith('\n'), 'no usable value'],
    ['too large', () => fileWith('x'.repeat(65_537)), 'EFBIG'],
    ['of several lines', () => fileWith('hunter2\nhunter2'), 'no usable value'],
    [
      'a folder',
      () => {
        mkdirSync(join(folder, 'folder'));
        return join(folder, 'folder');
      },
      'EISDIR',
    ],
  ])('is the usual 401 when its file is %s, and the log and doctor name the path', async (_what, make, fault) => {
    const path = make();
    const { telemetry, ask } = site({ serviceAuthStrategy: 'static_token', serviceToken: { path } });
    const response = await ask();
    expect(response).toContain('Set \\"serviceToken\\" in configureServer.');
    expect(response).not.toContain(folder);
    const [{ code, detail } = { code: '', detail: '' }] = telemetry.of('warning');
    expect(code).toBe('secret_file_unusable');
    expect(detail).toMatch(new RegExp(`^"serviceToken" in "configureServer": ${fault}: ${path}$`));
    const found = await examine(
      { ...AGENT, serviceAuthStrategy: 'static_token', serviceToken: { path } },
      {
        upstream: new FakeUpstream(() => ({ status: 401, headers: {}, body: null })),
      },
    );
    const lines = found.map(lineOf).filter((line) => line.includes(path));
    expect(lines).toEqual([`failed secret file: ${detail} | Check "serviceToken" in configureServer.`]);
  });

  it('is proof of an identity, so that a new one is tried at once', async () => {
    const path = fileWith('hunter2-first');
    const clock = new FakeClock(1_800_000_000_000);
    const forms: string[] = [];
    const toolkit = createToolkit(
      {
        authProvider: 'idp_a',
        serviceAuthStrategy: 'client_credentials',
        idpA: { domain: 'idp.example', clientId: 'c', clientSecret: { path } },
      },
      {
        clock,
        identityFetch: (_url, { method, body } = {}) => {
          if (method === 'POST') forms.push(String(body));
          const token = { access_token: 'token', token_type: 'Bearer', expires_in: 60 };
          if (method !== 'POST')
            return Promise.resolve(
              Response.json({ issuer: 'https://idp.example/', token_endpoint: 'https://idp.example/token' }),
            );
          return Promise.resolve(
            String(body).includes('second')
              ? Response.json(token)
              : Response.json({ error: 'invalid_client' }, { status: 401 }),
          );
        },
      },
    );
    const refusal = await toolkit.authHeaders().catch((error: AgentBffError) => error);
    expect(refusal).toMatchObject({ fields: ['clientId', 'clientSecret'] });
    writeFileSync(path, 'hunter2-second');
    clock.advance(30_000);
    expect(await toolkit.authHeaders()).toEqual({ authorization: 'Bearer token' });
    expect(forms).toHaveLength(2);
  });
});
