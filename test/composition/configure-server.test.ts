import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { inspect } from 'node:util';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { generateKeyPair } from '../../src/adapters/keys/pem.js';
import { AUTH_PROVIDERS, EXCHANGES } from '../../src/composition/config/providers.js';
import type { ServerConfig } from '../../src/composition/config/server-config.js';
import { createGetHeadersForSession, createGetHeadersWithServiceAuth } from '../../src/composition/get-headers.js';
import {
  configureServer,
  getAuthHeaders,
  getCachedServiceToken,
  resolveServiceBrand,
  resolveServiceProjectId,
} from '../../src/composition/server.js';
import { routeHandler, ROUTES } from '../../src/composition/routes/site-routes.js';
import { createToolkit } from '../../src/composition/toolkit/toolkit.js';
import type { Toolkit } from '../../src/composition/toolkit/toolkit-type.js';
import type { HttpHandler } from '../../src/ports/http.js';
import { FakeCacheStore, FakeIdentityProvider } from '../../src/adapters/fakes/fakes.js';
import { systemClock } from '../../src/adapters/system/system.js';
import { browserRequest, bytes } from '../adapters/web/browser-request.js';
import { textOf } from '../contracts/http-upstream.contract.js';
import { listening } from '../support/listening.mjs';

const STATE = Symbol.for('agent-bff/state@1');
const holder = globalThis as { [STATE]?: unknown };

let pem: string;
beforeAll(async () => {
  pem = (await generateKeyPair()).privateKeyPem.reveal();
});
beforeEach(() => {
  delete holder[STATE];
});

const account = (serviceAccountId: string): ServerConfig => ({
  serviceApiUrl: 'https://platform.example',
  serviceAccount: { serviceAccountId, keyId: 'key-1', privateKeyPem: pem },
});

async function answerOf(handler: HttpHandler): Promise<string> {
  const response = await handler(browserRequest({ body: bytes('{"jsonrpc":"2.0","id":1,"method":"tasks/list"}') }));
  return `${String(response.status)} ${response.body as string}`;
}

describe('a route made before configureServer', () => {
  it('throws until configureServer is called, then follows every later configuration', async () => {
    const handler = routeHandler(ROUTES.a2a, 'createA2ARouter', {});
    expect(await answerOf(handler)).toContain('Call configureServer when the server starts.');
    configureServer({});
    expect(await answerOf(handler)).toMatch(/^200 .*-32004/);
    configureServer({ a2aMethods: 'all' });
    expect(await answerOf(handler)).toMatch(/^401 .*a2aUrl/);
    configureServer({ a2aMethods: 'chat' });
    expect(await answerOf(handler)).toMatch(/^200 .*-32004/);
  });

  it('accepts strategies of this package and fields that a configuration may reject later', async () => {
    const options = { strategy: 'none', forward: { request: ['prefer'] } } as const;
    const handler = routeHandler(ROUTES.a2a, 'createA2ARouter', options);
    expect(await answerOf(handler)).toContain('Call configureServer when the server starts.');
    expect(() => routeHandler(ROUTES.a2a, 'createA2ARouter', { strategy: 'okta' as never })).toThrow('"strategy"');
  });

  it('builds its handler once per configuration', async () => {
    let made = 0;
    const make: typeof ROUTES.a2a.make = (site, options) => {
      made += 1;
      return site.chat(options);
    };
    const handler = routeHandler({ ...ROUTES.a2a, make }, 'createA2ARouter', {});
    configureServer({});
    await answerOf(handler);
    await answerOf(handler);
    configureServer({});
    await answerOf(handler);
    expect(made).toBe(2);
  });

  it('keeps using the toolkit it was given', async () => {
    const toolkit = createToolkit({ a2aMethods: 'all' });
    const handler = routeHandler(ROUTES.a2a, 'createA2ARouter', { toolkit });
    configureServer({ a2aMethods: 'chat' });
    expect(await answerOf(handler)).toMatch(/^401 .*a2aUrl/);
  });
});

describe('a configuration parsed from JSON', () => {
  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('rejects the field "%s"', (name) => {
    const parsed = JSON.parse(`{ "${name}": { "a2aUrl": "https://agent.example" } }`) as ServerConfig;
    const inside = { idpA: parsed, timeouts: parsed, upstream: parsed } as object;
    expect(() => configureServer(parsed)).toThrow(`Unknown field "${name}" in configureServer.`);
    for (const [block, value] of Object.entries(inside)) {
      expect(() => configureServer({ [block]: value as object })).toThrow(name);
    }
    expect(() => createToolkit(parsed)).toThrow(`Unknown field "${name}" in createToolkit.`);
  });

  it('accepts a provider named "__proto__"', async () => {
    const provider = new FakeIdentityProvider('own', 'own');
    const named = Object.defineProperty({}, '__proto__', { value: provider, enumerable: true });
    configureServer({ identityProviders: named, authProvider: '__proto__' as never });
    expect(await getAuthHeaders()).toEqual({ authorization: 'Bearer own-token-1' });
  });
});

describe('the toolkit of configureServer', () => {
  const chat = (): HttpHandler => routeHandler(ROUTES.a2a, 'createA2ARouter', {});

  it('is the same after every call, and shows what is current', async () => {
    const first = configureServer({ serviceApiKey: 'first' });
    expect(configureServer({ serviceApiKey: 'second' })).toBe(first);
    expect(await first.authHeaders()).toEqual({ 'x-api-key': 'second' });
  });

  it('as option of a route stands for the current configuration', async () => {
    const handler = routeHandler(ROUTES.a2a, 'createA2ARouter', { toolkit: configureServer({ a2aMethods: 'all' }) });
    expect(await answerOf(handler)).toMatch(/^401 .*a2aUrl/);
    configureServer({ a2aMethods: 'chat' });
    expect(await answerOf(handler)).toMatch(/^200 .*-32004/);
  });

  it('closes the current configuration, also from the first result', async () => {
    const first = configureServer({ serviceApiKey: 'first' });
    configureServer({ serviceApiKey: 'second' });
    await first.close();
    expect(await answerOf(chat())).toMatch(/^503 /);
    expect((await first.health()).status).toBe('closing');
  });

  it('stays closed until a call sets a field after close() has settled', async () => {
    const toolkit = configureServer({ serviceApiKey: 'key' });
    const handler = chat();
    const closing = toolkit.close();
    configureServer({ a2aMethods: 'all' });
    expect(await answerOf(handler)).toMatch(/^503 /);
    await closing;
    for (const nothing of [{}, { a2aUrl: undefined }]) configureServer(nothing);
    expect(await answerOf(handler)).toMatch(/^503 /);
    configureServer({ serviceApiKey: 'key' });
    // With the field set while it closed.
    expect(await answerOf(handler)).toMatch(/^401 .*a2aUrl/);
    expect((await toolkit.health()).status).toBe('degraded');
    await toolkit.close();
    expect(await answerOf(handler)).toMatch(/^503 /);
  });

  it('checks a configuration that it does not open', async () => {
    await configureServer({ serviceApiKey: 'key' }).close();
    expect(() => configureServer({ a2aUlr: undefined } as never)).not.toThrow();
    const closing = configureServer({ serviceApiKey: 'key' }).close();
    expect(() => configureServer({ a2aUrl: 'nonsense' })).toThrow('"a2aUrl"');
    await closing;
    expect(() => configureServer(undefined as never)).toThrow('Pass an object to configureServer.');
  });

  it('has the version of the package', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as Toolkit;
    expect(configureServer({}).version).toBe(version);
  });

  it('of another version in the process is named on standard error', async () => {
    const lines = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    configureServer({});
    const { toolkit } = holder[STATE] as { toolkit: object };
    Object.assign(toolkit, { version: '0.0.9' });
    expect(await answerOf(chat())).toMatch(/^500 /);
    expect(String(lines.mock.calls)).toContain('of this version of agent-bff');
  });
});

describe('custom identity providers', () => {
  const okta = new FakeIdentityProvider('okta', 'okta');
  const ping = new FakeIdentityProvider('ping', 'ping');

  it('can be used as strategies and as authProvider', async () => {
    configureServer({ identityProviders: { okta }, serviceAuthStrategy: 'okta' });
    expect(await getAuthHeaders()).toEqual({ authorization: 'Bearer okta-token-1' });
    configureServer({ serviceAuthStrategy: '', authProvider: 'okta' });
    expect(await getAuthHeaders()).toEqual({ authorization: 'Bearer okta-token-1' });
    expect(await getAuthHeaders({ strategy: 'client_credentials' })).toEqual({ authorization: 'Bearer okta-token-1' });
  });

  it('are merged and replaced by name', async () => {
    configureServer({ identityProviders: { okta }, authProvider: 'okta' });
    configureServer({ identityProviders: { ping } });
    expect(await getAuthHeaders({ strategy: 'ping' })).toEqual({ authorization: 'Bearer ping-token-1' });
    expect(await getAuthHeaders()).toMatchObject({ authorization: expect.stringContaining('okta-token') as string });
    configureServer({ identityProviders: { okta: ping } });
    expect(await getAuthHeaders()).toMatchObject({ authorization: expect.stringContaining('ping-token') as string });
  });

  it('are validated, and an unknown name is rejected with the known ones', () => {
    expect(() => configureServer({ identityProviders: { ping, okta: {} as never } })).toThrow(
      'Invalid value for "identityProviders" in configureServer. Set it to an object of providers, each with identity and issue.',
    );
    configureServer({ identityProviders: { okta } });
    expect(() => configureServer({ authProvider: 'okto' as never })).toThrow(
      `Invalid value for "authProvider" in configureServer. Did you mean "okta"? Known values: ${AUTH_PROVIDERS.join(', ')}, okta.`,
    );
    expect(() => configureServer({ onBehalfOf: { provider: 'okta' } })).toThrow(
      `Invalid value for "provider" in the "onBehalfOf" configuration block. Known values: ${EXCHANGES.join(', ')}.`,
    );
  });

  it('in the ports of a toolkit are added to the configured ones', async () => {
    const toolkit = createToolkit({ identityProviders: { okta } }, { identityProviders: { ping } });
    expect([...toolkit.handlers.facts.customProviders]).toEqual(['okta', 'ping']);
    for (const strategy of ['okta', 'ping'] as const) {
      expect(await toolkit.authHeaders({ strategy })).toMatchObject({
        authorization: expect.stringContaining(strategy) as string,
      });
    }
  });
});

describe('a later configuration', () => {
  it('is merged into the earlier one', async () => {
    configureServer({ serviceApiKey: 'first' });
    configureServer({ publicUrl: 'https://site.example', serviceApiKey: undefined });
    expect(await getAuthHeaders()).toEqual({ 'x-api-key': 'first' });
    configureServer({ serviceApiKey: 'second' });
    expect(await getAuthHeaders()).toEqual({ 'x-api-key': 'second' });
    configureServer({ serviceApiKey: '' });
    await expect(getAuthHeaders()).rejects.toMatchObject({
      fields: ['serviceAuthStrategy', 'authProvider', 'serviceApiKey', 'serviceToken'],
    });
  });

  it('leaves the configuration unchanged when it is invalid', async () => {
    const before = configureServer({ serviceApiKey: 'first' });
    expect(() => configureServer({ serviceApiKey: 'second', a2aUrl: 'nonsense' })).toThrow('"a2aUrl"');
    expect(await getAuthHeaders()).toEqual({ 'x-api-key': 'first' });
    const after = configureServer({});
    expect(after).toBe(before);
    expect(await after.authHeaders()).toEqual({ 'x-api-key': 'first' });
  });

  it('keeps a cached token of the same identity and fetches one for another', async () => {
    configureServer(account('sa-1'));
    const first = (await getAuthHeaders())['authorization'];
    configureServer({ publicUrl: 'https://site.example', keepAliveMs: 0 });
    await expect.poll(() => `Bearer ${getCachedServiceToken() ?? ''}`).toBe(first);
    expect((await getAuthHeaders())['authorization']).toBe(first);
    configureServer({ serviceAccount: { serviceAccountId: 'sa-2' } });
    const second = (await getAuthHeaders())['authorization'];
    expect(second).not.toBe(first);
    configureServer({ serviceAccount: { serviceAccountId: 'sa-1' } });
    expect((await getAuthHeaders())['authorization']).toBe(first);
  });

  it('stores tokens in its own cache store', async () => {
    const stores = [new FakeCacheStore(systemClock), new FakeCacheStore(systemClock)] as const;
    configureServer({ ...account('sa-1'), cacheStore: stores[0], cacheKeys: [randomBytes(32).toString('hex')] });
    await getAuthHeaders();
    configureServer({ cacheStore: stores[1], serviceAccount: { serviceAccountId: 'sa-2' } });
    await getAuthHeaders();
    await expect.poll(() => stores.map(({ calls }) => calls.set)).toEqual([1, 1]);
  });

  it('keeps the connections to the agent', async () => {
    let connections = 0;
    const agent = createServer((request, response) => {
      request.resume();
      response.setHeader('content-type', 'application/json').end('{"jsonrpc":"2.0","id":1,"result":{"id":"t-1"}}');
    }).on('connection', () => (connections += 1));
    const handler = routeHandler(ROUTES.a2a, 'createA2ARouter', {});
    const body = bytes('{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"t-1"}}');
    configureServer({ a2aUrl: await listening(agent), serviceApiKey: 'first' });
    const first = await textOf((await handler(browserRequest({ body }))).body);
    configureServer({ serviceApiKey: 'second' });
    const second = await textOf((await handler(browserRequest({ body }))).body);
    expect([first, second]).toEqual(Array(2).fill(expect.stringContaining('"t-1"')));
    expect(connections).toBe(1);
    agent.close().closeAllConnections();
  });

  it('applies to every copy of this package in the process', () => {
    configureServer({ serviceApiKey: 'first' });
    expect(Object.getOwnPropertySymbols(globalThis)).toContain(Symbol.for('agent-bff/state@1'));
  });
});

describe("the site's own calls", () => {
  it('are rejected with a hint before configureServer', async () => {
    await expect(getAuthHeaders()).rejects.toMatchObject({
      name: 'ServiceAuthError',
      code: 'service_auth_failed',
      hint: 'Call configureServer when the server starts.',
    });
    expect(getCachedServiceToken()).toBeUndefined();
  });

  it.each([
    [
      'a server of Next',
      { NEXT_RUNTIME: 'nodejs' },
      /^Call configureServer .* in register\(\) of instrumentation\.ts\.$/,
    ],
    ['a build of Next', { NEXT_PHASE: 'phase-production-build' }, /does not run instrumentation\.ts .*connection\(\)/],
  ])('name instrumentation.ts in %s', async (_place, environment, hint) => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    try {
      await expect(getAuthHeaders()).rejects.toMatchObject({ hint: expect.stringMatching(hint) as string });
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('return the token that requests are sent with', async () => {
    configureServer(account('sa-1'));
    expect(getCachedServiceToken()).toBeUndefined();
    const { authorization } = await getAuthHeaders({ strategy: 'service_account' });
    expect(authorization).toMatch(/^Bearer ey/);
    expect(`Bearer ${getCachedServiceToken() ?? ''}`).toBe(authorization);
  });
});

describe.each<[string, () => Promise<unknown>, unknown]>([
  ['getAuthHeaders', () => getAuthHeaders(), { 'x-api-key': 'key' }],
  ['createGetHeadersWithServiceAuth', createGetHeadersWithServiceAuth(), { 'x-api-key': 'key' }],
  [
    'createGetHeadersForSession',
    createGetHeadersForSession({ auth: (_request: unknown) => 'of-ada' }),
    { authorization: 'Bearer of-ada', 'x-api-key': 'key' },
  ],
  ['resolveServiceProjectId', () => resolveServiceProjectId(), 'project-7'],
  ['resolveServiceBrand', () => resolveServiceBrand(), ''],
])('%s', (_name, call, result) => {
  it('rejects before configureServer, and then uses its toolkit', async () => {
    await expect(call()).rejects.toMatchObject({
      code: 'service_auth_failed',
      detail: 'The server is not configured.',
    });
    configureServer({ serviceApiKey: 'key', serviceProjectId: 'project-7' });
    expect(await call()).toEqual(result);
  });
});

describe('the global state', () => {
  it('never prints a secret', async () => {
    const toolkit = configureServer({
      ...account('sa-1'),
      serviceApiKey: 'marker-1',
      idpA: { clientSecret: 'marker-2' },
      idpAServiceUser: { password: 'marker-3' },
      idpBService: { clientSecret: 'marker-4' },
    });
    const { authorization = '' } = await getAuthHeaders();
    const state = holder[STATE];
    expect(state).toBeDefined();
    const shown = [state, toolkit]
      .flatMap((value) => [inspect(value, { depth: 12, showHidden: true, getters: true }), JSON.stringify(value)])
      .join('\n');
    for (const hidden of ['marker', authorization.slice(7), pem.split('\n')[1] ?? '-'])
      expect(shown).not.toContain(hidden);
  });
});
