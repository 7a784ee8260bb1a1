import { inspect } from 'node:util';
import { configureServer, getAuthHeaders, getCachedServiceToken, type ServerConfig } from 'agent-bff';
import { describe, expect, it } from 'vitest';
import { FakeClock, FakeUpstream, FakeVisitorLimit, RecordingTelemetry } from '../../src/adapters/fakes/fakes.js';
import { buildToolkit, createToolkit } from '../../src/composition/toolkit/toolkit.js';
import { browserRequest, bytes } from '../adapters/web/browser-request.js';
import { textOf } from '../contracts/http-upstream.contract.js';
import { chatRoute, serviceSurfaceRoute, surfaceRoute } from '../support/toolkit-routes.js';

// Agents that need no credential (`none`), and agents that accept one fixed token (`static_token`).

const TOKEN = 'hunter2-token-of-the-site';
const KEY = 'hunter2-key-of-the-site';
const SITE: ServerConfig = {
  a2aUrl: 'https://agent.example/a2a',
  serviceApiUrl: 'https://platform.example/api',
  serviceApiKey: KEY,
  bindings: ['HTTP+JSON'],
};
const CARD = {
  name: 'Agent',
  url: SITE.a2aUrl,
  protocolVersion: '1.0',
  supportedInterfaces: [{ url: SITE.a2aUrl, protocolBinding: 'HTTP+JSON' }],
};
const JSON_TYPE = { 'content-type': 'application/json' };
const CONFIG = { method: 'GET', path: '/config', body: null };
const RENDER = { path: '/poll/render', body: null };

class World {
  readonly telemetry = new RecordingTelemetry();
  readonly upstream = new FakeUpstream(() => ({ status: 200, headers: JSON_TYPE, body: JSON.stringify(CARD) }));
  readonly ports = { upstream: this.upstream, telemetry: this.telemetry, clock: new FakeClock(Date.now()) };

  /** The headers with a credential that each called host got. */
  credentials(): Readonly<Record<string, readonly string[]>> {
    const found: Record<string, readonly string[]> = {};
    for (const { origin, headers } of this.upstream.requests) {
      const sent = ['authorization', 'x-api-key'].flatMap((name) =>
        headers[name] === undefined ? [] : [`${name}: ${String(headers[name])}`],
      );
      found[origin] = [...new Set([...(found[origin] ?? []), ...sent])];
    }
    return found;
  }
}

const ROUTES = [
  ['a message', chatRoute, {}],
  ['a message over HTTP+JSON', chatRoute, { path: '/message:send', headers: { ...JSON_TYPE, 'a2a-version': '1.0' } }],
  ['the configuration', chatRoute, CONFIG],
  ['a widget', serviceSurfaceRoute, RENDER],
  ['a widget of a router', surfaceRoute, RENDER],
] as const;

describe('the strategy "none"', () => {
  it.each(ROUTES)('sends the API key to the platform only: %s', async (_title, route, request) => {
    const world = new World();
    const toolkit = createToolkit({ ...SITE, serviceAuthStrategy: 'none' }, world.ports);
    expect((await route(toolkit)(browserRequest(request))).status).toBe(200);
    const { 'https://agent.example': agent = [], 'https://platform.example': platform } = world.credentials();
    expect(agent).toEqual([]);
    if (platform !== undefined) expect(platform).toEqual([`x-api-key: ${KEY}`]);
  });

  it.each([
    ['of the chat route', { strategy: 'none', apiKey: 'key-of-the-route' }],
    ['of the configuration', {}],
  ] as const)('keeps an API key %s from the agent', async (_title, options) => {
    const world = new World();
    const toolkit = createToolkit({ ...SITE, serviceAuthStrategy: 'none' }, world.ports);
    const chat = chatRoute(toolkit, options);
    await chat(browserRequest());
    await chat(browserRequest(CONFIG));
    expect(world.credentials()['https://agent.example']).toEqual([]);
    expect(world.credentials()['https://platform.example']).toHaveLength(1);
  });

  it('sends fields that the site itself adds', async () => {
    const world = new World();
    const toolkit = createToolkit({ ...SITE, serviceAuthStrategy: 'none' }, world.ports);
    await chatRoute(toolkit, { headers: () => ({ 'x-tenant': 'acme' }) })(browserRequest());
    expect(world.upstream.requests[0]?.headers['x-tenant']).toBe('acme');
  });

  it('stays a service route: other methods are denied, and visitors are counted', async () => {
    const world = new World();
    const chatLimit = new FakeVisitorLimit();
    const chat = chatRoute(createToolkit({ ...SITE, serviceAuthStrategy: 'none', chatLimit }, world.ports));
    const listing = bytes('{"jsonrpc":"2.0","id":1,"method":"tasks/list","params":{}}');
    expect(await textOf((await chat(browserRequest({ body: listing }))).body)).toContain('-32004');
    expect(world.upstream.requests).toEqual([]);
    expect((await chat(browserRequest())).status).toBe(200);
    chatLimit.verdict = { kind: 'refused', retryAfterMs: 1_000 };
    expect((await chat(browserRequest())).status).toBe(429);
    expect(chatLimit.requests).toHaveLength(3);
  });

  it('caches renders for all visitors', async () => {
    const world = new World();
    const route = serviceSurfaceRoute(createToolkit({ ...SITE, serviceAuthStrategy: 'none' }, world.ports), {
      cache: { enabled: true },
    });
    await route(browserRequest(RENDER));
    expect((await route(browserRequest(RENDER))).headers['x-cache']).toBe('HIT');
  });

  it.each([
    ['401', JSON_TYPE, '{"error":"no"}', 401],
    ['403', JSON_TYPE, '{"error":"no"}', 403],
  ])('reports that the agent requires a credential when it responds with %s', async (_title, headers, body, status) => {
    const world = new World();
    world.upstream.willAnswer(() => ({ status, headers, body }));
    const toolkit = createToolkit({ ...SITE, serviceAuthStrategy: 'none' }, world.ports);
    for (const request of [{}, CONFIG]) {
      const response = await chatRoute(toolkit)(browserRequest(request));
      const text = await textOf(response.body);
      expect([response.status, text]).toEqual([status, expect.stringContaining('The agent requires a credential')]);
      expect(text).toMatch(/Set \\?"serviceAuthStrategy\\?" in configureServer to a strategy it accepts/);
    }
  });

  it('logs the same when the agent refuses in JSON-RPC', async () => {
    const world = new World();
    world.upstream.willAnswer(() => ({
      status: 401,
      headers: JSON_TYPE,
      body: '{"jsonrpc":"2.0","id":"1","error":{"code":-32000,"message":"who?"}}',
    }));
    await chatRoute(createToolkit({ ...SITE, serviceAuthStrategy: 'none', conversations: 'open' }, world.ports))(
      browserRequest(),
    );
    expect(world.telemetry.of('warning')).toEqual([
      expect.objectContaining({
        code: 'credential_refused',
        fields: ['serviceAuthStrategy', 'serviceToken'],
        summary: expect.stringContaining('The agent requires a credential') as string,
      }),
    ]);
  });

  it('needs no API key', async () => {
    const world = new World();
    const toolkit = createToolkit({ a2aUrl: SITE.a2aUrl, serviceAuthStrategy: 'none' }, world.ports);
    expect((await chatRoute(toolkit)(browserRequest())).status).toBe(200);
    expect(await toolkit.authHeaders()).toEqual({});
    expect((await toolkit.health()).status).toBe('ready');
  });
});

describe('the strategy "static_token"', () => {
  const fixed = { ...SITE, serviceAuthStrategy: 'static_token', serviceToken: TOKEN } satisfies ServerConfig;

  it.each(ROUTES.slice(0, 4))('sends the token everywhere: %s', async (_title, route, request) => {
    const world = new World();
    await route(createToolkit(fixed, world.ports))(browserRequest(request));
    for (const sent of Object.values(world.credentials())) {
      expect(sent).toEqual([`authorization: Bearer ${TOKEN}`, `x-api-key: ${KEY}`]);
    }
    expect(world.upstream.requests).not.toEqual([]);
  });

  it('accepts a token that was copied with its scheme', async () => {
    const world = new World();
    const toolkit = createToolkit({ ...fixed, serviceToken: `Bearer ${TOKEN}` }, world.ports);
    expect((await toolkit.authHeaders())['authorization']).toBe(`Bearer ${TOKEN}`);
  });

  it('names the missing field without a call', async () => {
    const world = new World();
    const response = await chatRoute(createToolkit({ ...fixed, serviceToken: '' }, world.ports))(browserRequest());
    expect([response.status, await textOf(response.body)]).toEqual([
      401,
      expect.stringContaining('Set \\"serviceToken\\" in configureServer.'),
    ]);
    expect(world.upstream.requests).toEqual([]);
  });

  it('names the token when the agent refuses it', async () => {
    const world = new World();
    world.upstream.willAnswer(() => ({ status: 401, headers: JSON_TYPE, body: `{"error":"unknown ${TOKEN}"}` }));
    const response = await chatRoute(createToolkit(fixed, world.ports))(browserRequest());
    const text = await textOf(response.body);
    expect([response.status, text]).toEqual([401, expect.stringContaining('serviceToken')]);
    expect(text + JSON.stringify(world.telemetry.events)).not.toContain('hunter2');
    expect(JSON.stringify(world.telemetry.events)).toContain('[redacted]');
    // Nothing can renew it.
    expect(world.upstream.requests).toHaveLength(1);
  });

  it('never shows the token: not in an error, in a print, or in a cache key', async () => {
    const keys: string[] = [];
    const cacheStore = {
      get: () => Promise.resolve(undefined),
      set: (key: string, value: string) => Promise.resolve(void keys.push(key, value)),
      delete: () => Promise.resolve(),
    };
    const world = new World();
    const toolkit = createToolkit({ ...fixed, cacheStore }, world.ports);
    await serviceSurfaceRoute(toolkit, { cache: { enabled: true } })(browserRequest(RENDER));
    await new Promise(setImmediate);
    expect(keys).not.toEqual([]);
    expect(inspect(toolkit, { depth: 9, showHidden: true }) + JSON.stringify(toolkit) + keys.join()).not.toContain(
      'hunter2',
    );
    expect(() => createToolkit({ ...fixed, serviceToken: `${TOKEN} two` })).toThrow(/"serviceToken"/);
    expect(() => createToolkit({ ...fixed, serviceToken: `${TOKEN} two` })).not.toThrow(/hunter2/);
  });

  it('is replaced by a later configuration', async () => {
    const world = new World();
    const first = buildToolkit(fixed, world.ports);
    const next = buildToolkit({ ...fixed, serviceToken: 'hunter2-next' }, world.ports, first);
    await chatRoute(next)(browserRequest());
    expect(world.credentials()['https://agent.example']).toContain('authorization: Bearer hunter2-next');
  });

  it('is what getAuthHeaders and getCachedServiceToken return', async () => {
    configureServer({ ...fixed, telemetry: 'silent' });
    expect(await getAuthHeaders()).toEqual({ authorization: `Bearer ${TOKEN}`, 'x-api-key': KEY });
    expect(getCachedServiceToken()).toBe(TOKEN);
  });
});

it('the 401 of a site without a credential names both strategies', async () => {
  const response = await chatRoute(createToolkit({ a2aUrl: SITE.a2aUrl }, new World().ports))(browserRequest());
  const text = await textOf(response.body);
  expect(response.status).toBe(401);
  for (const name of ['"none"', '"static_token"', '"serviceToken"', '"serviceApiKey"'])
    expect(text).toContain(name.replaceAll('"', '\\"'));
});
