import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { type IncomingMessage } from 'node:http';
import { createNodeHandler } from 'agent-bff/node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeClock, FakeIdentityProvider, FakeUpstream, RecordingTelemetry } from '../../src/adapters/fakes/fakes.js';
import { resolveConfig } from '../../src/composition/config/resolve-config.js';
import type { ServerConfig } from '../../src/composition/config/server-config.js';
import { providerContext, providerLoader } from '../../src/composition/toolkit/identity-module.js';
import { buildToolkit, createToolkit } from '../../src/composition/toolkit/toolkit.js';
import type { Toolkit, ToolkitPorts } from '../../src/composition/toolkit/toolkit-type.js';
import type { HttpHandler, HttpResponse } from '../../src/ports/http.js';
import type { TelemetryEvent } from '../../src/ports/telemetry.js';
import { browserRequest, bytes } from '../adapters/web/browser-request.js';
import { textOf } from '../contracts/http-upstream.contract.js';
import { RecordingUpstream } from '../support/recording-upstream.js';
import { newServiceAccountKey } from '../support/service-account.js';
import { startVisit } from '../support/visitor.js';
import { chatRoute, recordRoute, sessionSurfaceRoute } from '../support/toolkit-routes.js';
import { listeningSite } from '../site/frameworks/listening-site.js';

const CONFIG: ServerConfig = {
  a2aUrl: 'https://agent.example/a2a',
  serviceApiUrl: 'https://platform.example/api',
  serviceApiKey: 'key-of-this-site',
};

/** All contents of the store. */
class SharedStore {
  readonly entries = new Map<string, string>();
  get = (key: string): Promise<string | undefined> => Promise.resolve(this.entries.get(key));
  set = (key: string, value: string): Promise<void> => Promise.resolve(void this.entries.set(key, value));
  delete = (key: string): Promise<void> => Promise.resolve(void this.entries.delete(key));
}

describe('anonymous visitors under a chat limit', () => {
  const MESSAGE = { method: 'POST', path: '/message:send', headers: { 'content-type': 'application/json' } };
  const CARD = { protocolVersion: '1.0', supportedInterfaces: [{ url: CONFIG.a2aUrl, protocolBinding: 'HTTP+JSON' }] };

  function site(points: number) {
    let left = points;
    const upstream = new FakeUpstream(() => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(CARD),
    }));
    const chatLimit: ServerConfig['chatLimit'] = {
      admit: () => {
        left -= 1;
        return Promise.resolve(left >= 0 ? { kind: 'admitted' } : { kind: 'refused', retryAfterMs: 5_000 });
      },
    };
    const config: ServerConfig = { ...CONFIG, bindings: ['HTTP+JSON'], chatLimit };
    return { upstream, toolkit: createToolkit(config, { upstream, telemetry: new RecordingTelemetry() }) };
  }

  it.each([
    ['over JSON-RPC', {}],
    ['over HTTP+JSON', MESSAGE],
    ['over HTTP+JSON 0.3', { ...MESSAGE, path: '/v1/message:send' }],
  ])('get 429 after their last message, %s', async (_binding, changes) => {
    const { toolkit, upstream } = site(1);
    const handler = chatRoute(toolkit);
    await handler(browserRequest(changes));
    const sent = upstream.requests.length;
    const response = await handler(browserRequest(changes));
    expect([response.status, response.headers['retry-after']]).toEqual([429, '5']);
    expect(upstream.requests).toHaveLength(sent);
  });

  it.each([
    ['over JSON-RPC', {}],
    ['over HTTP+JSON', MESSAGE],
  ])('are counted apart from signed-in users, %s', async (_binding, changes) => {
    const { toolkit, upstream } = site(0);
    const response = await chatRoute(toolkit, { getSessionToken: (_request: unknown) => 'of-ada' })(
      browserRequest(changes),
    );
    expect(response.status).not.toBe(429);
    expect(upstream.requests.length).toBeGreaterThan(0);
  });

  const rpc = (method: string) => ({ body: bytes(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: {} })) });
  it.each<readonly [string, Parameters<typeof browserRequest>[0]]>([
    ...['tasks/get', 'tasks/resubscribe', 'tasks/cancel', 'GetTask', 'SubscribeToTask', 'CancelTask'].map(
      (method) => [method, rpc(method)] as const,
    ),
    ['GET /tasks/1', { method: 'GET', path: '/tasks/1', body: null }],
    ['POST /v1/tasks/1:cancel', { path: '/v1/tasks/1:cancel', body: null }],
    ['GET /tasks/1:subscribe', { method: 'GET', path: '/tasks/1:subscribe', body: null }],
  ])('over the limit can still call %s 600 times a minute', async (_what, changes) => {
    const { toolkit } = site(0);
    const handler = chatRoute(toolkit);
    const request = () => handler(browserRequest({ ...changes, native: { request: { ip: '192.0.2.1' } } }));
    const statuses: number[] = [];
    for (let count = 0; count < 601; count++) statuses.push((await request()).status);
    expect([statuses.indexOf(429), statuses.lastIndexOf(429)]).toEqual([600, 600]);
    expect(await textOf((await request()).body)).toContain('Too many requests in a short time.');
  });

  it('over the limit cannot disguise a message as a task request', async () => {
    const { toolkit, upstream } = site(0);
    const twice = '{"jsonrpc":"2.0","id":1,"method":"tasks/get","method":"message/send","params":{}}';
    const response = await chatRoute(toolkit)(browserRequest({ body: bytes(twice) }));
    expect([response.status, upstream.requests.length]).toEqual([429, 0]);
  });
});

describe('a shared store', () => {
  const RENDER = '<p>the balance of Ada</p>';
  const body = JSON.stringify({ html: RENDER });

  async function keep(config: ServerConfig) {
    const store = new SharedStore();
    const upstream = new FakeUpstream(() => ({ status: 200, headers: { 'content-type': 'application/json' }, body }));
    const toolkit = createToolkit({ ...CONFIG, ...config, cacheStore: store }, { upstream });
    const handler = sessionSurfaceRoute(toolkit, { cache: { enabled: true } });
    const render = (): Promise<HttpResponse> =>
      handler(browserRequest({ path: '/balance/render', body: bytes('{"account":"of-ada"}') }));
    const outcomes = [await render(), await render()].map(({ headers }) => headers['x-cache']);
    expect(outcomes).toEqual(['MISS', 'HIT']);
    return JSON.stringify([...store.entries]);
  }

  it('contains neither renders nor inputs in plain text with cacheKeys', async () => {
    const kept = await keep({ cacheKeys: [randomBytes(32).toString('base64')] });
    for (const word of ['balance', 'of-ada', 'key-of-this-site']) expect(kept).not.toContain(word);
  });

  it('contains no plain render after cacheKeys are configured', async () => {
    const store = new SharedStore();
    const upstream = new FakeUpstream(() => ({ status: 200, headers: { 'content-type': 'application/json' }, body }));
    const open = buildToolkit({ ...CONFIG, cacheStore: store }, { upstream }, undefined);
    const cacheKeys = [randomBytes(32).toString('base64')];
    const sealed = buildToolkit({ ...CONFIG, cacheStore: store, cacheKeys }, { upstream }, open);
    await sessionSurfaceRoute(sealed, { cache: { enabled: true } })(browserRequest({ path: '/balance/render' }));
    expect(store.entries.size).toBeGreaterThan(0);
    expect(JSON.stringify([...store.entries])).not.toContain('balance');
  });

  it('contains plain renders without cacheKeys', async () => {
    expect(await keep({})).toContain('the balance of Ada');
  });
});

describe('a service token', () => {
  async function keep(config: ServerConfig) {
    const store = new SharedStore();
    const ports: ToolkitPorts = {
      upstream: new FakeUpstream(),
      identityProviders: { own: new FakeIdentityProvider('own', 'own') },
    };
    const toolkit = createToolkit({ ...CONFIG, ...config, serviceAuthStrategy: 'own', cacheStore: store }, ports);
    expect(await toolkit.authHeaders()).toMatchObject({ authorization: 'Bearer own-token-1' });
    return [...store.entries];
  }

  it('stays in the process without cacheKeys', async () => {
    expect(await keep({})).toEqual([]);
  });

  it('is encrypted in a shared store with cacheKeys', async () => {
    const kept = await keep({ cacheKeys: [randomBytes(32).toString('base64')] });
    expect(kept).not.toEqual([]);
    expect(JSON.stringify(kept)).not.toContain('own-token');
  });
});

describe("another site's page", () => {
  const user = (_request: unknown): string => 'of-ada';

  it.each<[string, (toolkit: Toolkit) => HttpHandler, object]>([
    ['a task through HTTP+JSON', (toolkit) => chatRoute(toolkit, { getSessionToken: user }), { path: '/tasks/t-1' }],
    ['a record', (toolkit) => recordRoute(toolkit, { auth: user }), { path: '/records/r-1' }],
    ['a record to change', (toolkit) => recordRoute(toolkit, { auth: user }), { path: '/r-1', method: 'PUT' }],
    ['a theme', (toolkit) => sessionSurfaceRoute(toolkit, { auth: user }), { path: '/s-1/theme.css' }],
    ['the configuration', (toolkit) => chatRoute(toolkit, { getSessionToken: user }), { path: '/config' }],
  ])("gets 403 for a signed-in user's data: %s", async (_what, handlerOf, changes) => {
    const upstream = new FakeUpstream();
    const handler = handlerOf(createToolkit({ ...CONFIG, bindings: ['HTTP+JSON'] }, { upstream }));
    const request = { method: 'GET', body: null, ...changes };
    const ask = (site: string): Promise<HttpResponse> =>
      handler(browserRequest({ ...request, headers: { host: 'site.example', 'sec-fetch-site': site } }));
    expect((await ask('cross-site')).status).toBe(403);
    expect(upstream.requests).toEqual([]);
    expect((await ask('same-origin')).status).not.toBe(403);
    expect(upstream.requests).not.toEqual([]);
  });
});

describe('a secret configured later', () => {
  const respondWith = (text: string): FakeUpstream =>
    new FakeUpstream(() => ({ status: 500, headers: { 'content-type': 'text/plain' }, body: text }));

  it.each(['the first secret', 'the second secret'])(
    'is redacted from events, as is the earlier one: %s',
    async (secret) => {
      const telemetry = new RecordingTelemetry();
      const ports: ToolkitPorts = { upstream: respondWith(`refused key ${secret}`), telemetry };
      // As in `configureServer`.
      const before = buildToolkit({ ...CONFIG, serviceAuthStrategy: '' }, ports, undefined);
      const first = { ...CONFIG, idpA: { clientSecret: 'the first secret' } };
      const second = { ...CONFIG, idpA: { clientSecret: 'the second secret' } };
      const toolkit = buildToolkit(second, ports, buildToolkit(first, ports, before));
      await chatRoute(toolkit)(browserRequest());
      const told = JSON.stringify(telemetry.events);
      expect(told).toContain('refused key [redacted]');
      expect(told).not.toContain(secret);
    },
  );
});

describe('an identity provider that failed to load', () => {
  it('is loaded again on the next call', async () => {
    const { privateKey } = await newServiceAccountKey();
    const serviceAccount = { serviceAccountId: 'sa', keyId: 'k', privateKeyPem: privateKey, privateKeyPath: '/k.pem' };
    const config = resolveConfig({ ...CONFIG, serviceAccount });
    let times = 0;
    const telemetry = {
      emit: () => {
        times += 1;
        if (times === 1) throw new Error('loading fails');
      },
    };
    const parts = { fetch: undefined, proofKey: new Uint8Array(32), telemetry, clock: new FakeClock() };
    const load = providerLoader(config, providerContext(config, parts));
    await expect(load('service_account')).rejects.toThrow('loading fails');
    const provider = await load('service_account');
    expect(provider?.block).toBe('serviceAccount');
    expect(await load('service_account')).toBe(provider);
    expect(times).toBe(2);
  });
});

describe('an identity provider that rejected the credential', () => {
  it('is called again at once after configureServer', async () => {
    const own = new FakeIdentityProvider('own', 'own');
    own.answer = () => ({
      kind: 'failure',
      reason: 'refused',
      block: 'own',
      fields: [],
      advice: 'Check it.',
      log: 'refused',
    });
    const ports: ToolkitPorts = { upstream: new FakeUpstream(), identityProviders: { own }, clock: new FakeClock() };
    const config: ServerConfig = { ...CONFIG, serviceAuthStrategy: 'own' };
    const toolkit = buildToolkit(config, ports, undefined);
    const ask = async (handler: HttpHandler): Promise<number> => (await handler(browserRequest())).status;
    expect([await ask(chatRoute(toolkit)), await ask(chatRoute(toolkit))]).toEqual([401, 401]);
    expect(own.issued).toBe(1);
    own.answer = undefined;
    expect(await ask(chatRoute(toolkit))).toBe(401);
    expect(await ask(chatRoute(buildToolkit(config, ports, toolkit)))).toBe(200);
  });
});

describe('a visitor who disconnects while the session is read', () => {
  it('causes no request to the agent', async () => {
    const agent = await RecordingUpstream.start();
    const happened = new EventEmitter();
    const over = once(happened, 'request');
    const left = once(happened, 'left');
    const telemetry = { emit: ({ type }: TelemetryEvent) => happened.emit(type === 'error' ? 'told' : type) };
    const toolkit = createToolkit({ a2aUrl: agent.origin, telemetry });
    const getSessionToken = async (request: IncomingMessage): Promise<string> => {
      visit.leave();
      await left;
      expect(request.socket.destroyed).toBe(true);
      return 'of-ada';
    };
    const handler = createNodeHandler({ toolkit, a2a: { getSessionToken } });
    const { url, close } = await listeningSite((request, response) => {
      response.once('close', () => happened.emit('left'));
      handler(request, response);
    });
    onTestFinished(async () => {
      await Promise.all([close(), agent.close()]);
    });
    const visit = startVisit(url);
    await over;
    expect(agent.requests).toEqual([]);
  });
});

describe('the events of a request', () => {
  it('have the unique request id of its error response', async () => {
    const telemetry = new RecordingTelemetry();
    const upstream = new FakeUpstream(() => ({ status: 500, headers: {}, body: null }));
    const handler = chatRoute(createToolkit(CONFIG, { upstream, telemetry }));
    const names = [];
    for (let count = 0; count < 2; count += 1) {
      const before = telemetry.events.length;
      const { body } = await handler(browserRequest());
      const events = telemetry.events.slice(before);
      expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['upstream', 'error', 'request']));
      const found = new Set(events.map((event) => event.requestId));
      expect(found.size).toBe(1);
      const [name = ''] = found;
      expect(name).not.toBe('');
      expect(await textOf(body)).toContain(`"requestId":"${name}"`);
      names.push(name);
    }
    expect(new Set(names).size).toBe(2);
  });
});
