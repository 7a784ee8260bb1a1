import { describe, expect, it } from 'vitest';
import { FakeSessionTokenSource, FakeUpstream } from '../../../src/adapters/fakes/fakes.js';
import { sha256 } from '../../../src/adapters/system/system.js';
import { type ConfigRoute, configRoute } from '../../../src/adapters/web/config-route.js';
import { ChatConfig } from '../../../src/domain/chat/chat-config.js';
import { MethodPolicy } from '../../../src/domain/chat/method-policy.js';
import type { RouteAuth } from '../../../src/domain/credentials/route-auth.js';
import type { HeaderFields, HttpHandler, HttpResponse } from '../../../src/ports/http.js';
import type { LimitVerdict } from '../../../src/ports/visitor-limit.js';
import { BrokerWorld, SERVICE } from '../../domain/credentials/broker-fixture.js';
import { FakeDeadlines } from '../../domain/upstream/fake-deadlines.js';
import { browserRequest, site } from './browser-request.js';
import { memoryOf } from '../../support/memory.js';

const CARD = { name: 'Agent', url: 'https://agent.internal/a2a', capabilities: { streaming: true } };

class RouteWorld extends BrokerWorld {
  readonly upstream: FakeUpstream = new FakeUpstream(() => card());
  readonly settings: ReturnType<typeof site> = site();
  readonly deadlines: FakeDeadlines = new FakeDeadlines();
  readonly handle: HttpHandler;
  readonly config: ChatConfig;
  brand: string | null = ':root{}';

  constructor(changes: Partial<ConfigRoute> = {}, what: Parameters<typeof configRoute>[1] = 'record') {
    super();
    this.config = new ChatConfig({
      clock: this.clock,
      call: this.callThrough(this.upstream),
      agent: { origin: 'https://agent.internal', path: '/a2a' },
      cardAddress: undefined,
      mediaOrigins: [],
      telemetry: this.settings.telemetry,
      directory: {
        project: () => Promise.resolve({ value: 'proj-1' }),
        brand: () => Promise.resolve({ value: this.brand }),
      },
      hash: sha256,
      timeouts: { headersMs: 1, bodyIdleMs: 1 },
      lookupMs: 1,
      deadline: this.deadlines.start,
      memory: memoryOf(this.clock),
    });
    const route: ConfigRoute = {
      site: this.settings,
      chatConfig: this.config,
      auth: SERVICE,
      policy: new MethodPolicy('chat'),
      bindings: ['JSONRPC'],
      publicUrl: '',
      hash: sha256,
      ...changes,
    };
    this.handle = configRoute(route, what);
  }

  get(headers: HeaderFields = {}, changes: Parameters<typeof browserRequest>[0] = {}): Promise<HttpResponse> {
    return this.handle(browserRequest({ method: 'GET', path: '/config', body: null, headers, ...changes }));
  }
}

function card(fields: object = {}): HttpResponse {
  return { status: 200, headers: {}, body: JSON.stringify({ ...CARD, ...fields }) };
}

function session(): RouteAuth {
  const source = new FakeSessionTokenSource({ kind: 'token', accessToken: 'ada', subject: 'ada' });
  const nameOf = (): readonly string[] => ['subject', 'ada'];
  return { kind: 'session', source, nameOf, audience: '', exchange: undefined, apiKey: undefined, required: true };
}

const never = (): never => {
  throw new Error('a search is no reading');
};
const textOf = ({ body }: HttpResponse): string =>
  typeof body === 'string' ? body : new TextDecoder().decode(body as Uint8Array);
const record = (response: HttpResponse) =>
  JSON.parse(textOf(response)) as { agentCard: { url: string }; a2aEndpoint: string };

describe('the chat configuration', () => {
  it('is JSON with everything the browser needs', async () => {
    const response = await new RouteWorld().get();
    expect(response.status).toBe(200);
    expect(response.headers['content-type']).toBe('application/json');
    expect(response.headers['x-content-type-options']).toBe('nosniff');
    expect(record(response)).toMatchObject({
      serviceProjectId: 'proj-1',
      brandCss: ':root{}',
      a2aEndpoint: '/api/a2a',
    });
  });

  it('is reported as a request of its own route', async () => {
    const world = new RouteWorld();
    await world.get();
    expect(world.settings.telemetry.events).toEqual([
      { type: 'request', requestId: 'req-1', route: 'config', method: 'GET', status: 200, durationMs: 0 },
    ]);
  });

  it.each([
    ['a service', SERVICE, 'private, max-age=60', ''],
    ['a user', session(), 'private, max-age=0, must-revalidate', ''],
    [
      'a service with a field of the visitor',
      { ...SERVICE, fields: { request: ['x-tenant'], response: [] } },
      'private, max-age=0, must-revalidate',
      ', x-tenant',
    ],
  ])('has the cache lifetime of its credential: %s', async (_who, auth, control, varied) => {
    const { headers } = await new RouteWorld({ auth }).get();
    expect([headers['cache-control'], headers['vary']]).toEqual([control, `A2A-Version, Cookie${varied}`]);
  });

  it('is requested in the version of the field, the query, or none', async () => {
    const world = new RouteWorld();
    await world.get({ 'a2a-version': '1.0' });
    await world.get({}, { query: '?x=1&A2A-Version=0.3' });
    await world.get({}, { query: '?A2A-Version=1%0d%0aX: y' });
    const asked = world.upstream.requests.filter(({ path }) => path === '/a2a/.well-known/agent-card.json');
    expect(asked.map(({ headers }) => headers['a2a-version'])).toEqual(['1.0', '0.3', undefined]);
  });
});

describe('the method of a request for the configuration', () => {
  it('HEAD returns the fields of GET without the body', async () => {
    const world = new RouteWorld();
    const { headers } = await world.get();
    expect(await world.get({}, { method: 'HEAD' })).toEqual({ status: 200, headers, body: null });
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'get'])('%s returns 405 without calling the agent', async (method) => {
    const world = new RouteWorld();
    const response = await world.get({}, { method });
    expect([response.status, response.headers['allow']]).toEqual([405, 'GET, HEAD']);
    expect(JSON.parse(textOf(response))).not.toHaveProperty('hint');
    expect(world.upstream.requests).toEqual([]);
  });
});

describe('a page that requests the configuration', () => {
  const warningsFor = async (headers: HeaderFields, method = 'GET'): Promise<readonly string[]> => {
    const world = new RouteWorld();
    await world.get({ host: 'site.example', ...headers }, { method });
    const warnings = world.settings.telemetry.of('warning');
    return warnings.map(({ code, detail }) => `${code} ${detail}`);
  };

  it.each(['GET', 'OPTIONS'])('of an origin that is not listed is named to operators: %s', async (method) => {
    const [warning] = await warningsFor({ origin: 'https://shop.example', 'sec-fetch-site': 'cross-site' }, method);
    expect(warning).toContain('origin_unlisted The request comes from a page of another site.');
    expect(warning).toContain('Its origin is https://shop.example.');
    expect(warning).toContain('"allowedOrigins"');
    expect(warning).toContain('the CORS middleware of your framework before the routes');
  });

  it('without Sec-Fetch-Site, as over plain http, is named too', async () => {
    expect(await warningsFor({ origin: 'http://shop.example' })).toHaveLength(1);
  });

  it.each<[string, HeaderFields]>([
    ["the site's own", { 'sec-fetch-site': 'same-origin' }],
    ["the site's own, with its origin", { origin: 'https://site.example', 'sec-fetch-site': 'same-origin' }],
    ["the site's own over plain http", { origin: 'http://site.example' }],
    ['the address bar', { 'sec-fetch-site': 'none' }],
    ['a link on another site', { 'sec-fetch-site': 'cross-site' }],
  ])('is not reported: %s', async (_what, headers) => {
    expect(await warningsFor(headers)).toEqual([]);
  });
});

describe('a conditional request for the configuration', () => {
  it.each(['%s', 'W/%s', '"x", %s', '*'])('with the tag %s returns 304', async (field) => {
    const world = new RouteWorld();
    const { headers } = await world.get();
    const again = await world.get({ 'if-none-match': field.replace('%s', String(headers['etag'])) });
    expect([again.status, again.body]).toEqual([304, null]);
    expect(again.headers).toMatchObject({
      etag: headers['etag'],
      vary: headers['vary'],
      'cache-control': headers['cache-control'],
    });
  });

  it('returns the new configuration after a change', async () => {
    const world = new RouteWorld();
    const { headers } = await world.get();
    expect(headers['etag']).toMatch(/^"[^"]+"$/);
    world.brand = ':root{--x:1}';
    expect((await world.get({ 'if-none-match': String(headers['etag']) })).status).toBe(200);
  });
});

describe('the address of the chat', () => {
  it.each([
    ['as the browser used it', '', 'https://site.example/api/a2a', 'https://site.example/api/a2a'],
    ['of a route of its own', '', 'https://site.example/api/a2a/config', 'https://site.example/api/a2a'],
    ['with a slash', '', 'https://site.example/api/a2a/config/', 'https://site.example/api/a2a'],
    ['behind a TLS terminator', 'https://shop.example', 'http://10.0.0.7:3000/api/a2a', 'https://shop.example/api/a2a'],
    [
      'below a prefix the proxy cuts off',
      'https://shop.example/eu',
      'http://10.0.0.7/api/a2a',
      'https://shop.example/eu/api/a2a',
    ],
    [
      'below a prefix the host knows',
      'https://shop.example/eu',
      'http://10.0.0.7/eu/api/a2a',
      'https://shop.example/eu/api/a2a',
    ],
    ['at the very prefix', 'https://shop.example/eu', 'http://10.0.0.7/eu', 'https://shop.example/eu'],
    [
      'below what only looks like the prefix',
      'https://shop.example/eu',
      'http://10.0.0.7/europe',
      'https://shop.example/eu/europe',
    ],
    ['at the root', '', 'https://site.example', 'https://site.example'],
    ['at the root of another address', 'https://shop.example', 'http://10.0.0.7', 'https://shop.example'],
    ['below a name that begins like it', '', 'https://site.example/configs/a2a', 'https://site.example/configs/a2a'],
  ])('is in the card and in the record: %s', async (_where, configured, requested, expected) => {
    const world = new RouteWorld({ publicUrl: configured });
    const { agentCard, a2aEndpoint } = record(await world.get({}, { publicUrl: requested }));
    expect(agentCard.url).toBe(expected);
    expect(a2aEndpoint).toBe(new URL(expected).pathname);
  });
});

describe('a failing configuration', () => {
  it('returns 502 without a card, in a problem document without the host', async () => {
    const world = new RouteWorld();
    world.upstream.willAnswer(() => ({
      kind: 'failure',
      reason: 'unreachable',
      log: 'ECONNREFUSED agent.internal',
    }));
    const response = await world.get();
    expect([response.status, response.headers['content-type']]).toEqual([502, 'application/problem+json']);
    expect(textOf(response)).not.toContain('agent.internal');
    expect(response.headers['etag']).toBeUndefined();
    expect(world.settings.telemetry.of('request')).toMatchObject([{ status: 502 }]);
  });
});

describe('the agent card alone', () => {
  const cards = (changes: Partial<ConfigRoute> = {}) => new RouteWorld(changes, 'agentCard');

  it('is private to a user like the chat', async () => {
    const world = cards({ auth: session() });
    expect((await world.get()).headers['cache-control']).toBe('private, max-age=0, must-revalidate');
    expect((await world.get({ 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    const auth = { ...session(), source: new FakeSessionTokenSource() } as RouteAuth;
    expect((await cards({ auth }).get()).status).toBe(401);
  });
});

describe.each([
  ['the record', 'record'],
  ['the card alone', 'agentCard'],
] as const)('the limit of visitors and %s', (_name, what) => {
  const limited = (auth: RouteAuth, admit: () => LimitVerdict) => {
    const limit = { admit: async () => admit(), admitReading: never };
    return new RouteWorld({ auth, site: site({ chatLimit: limit, userLimit: limit }) }, what);
  };

  it('counts a configuration that must be fetched, not a cached one', async () => {
    let left = 1;
    const world = limited(SERVICE, () => {
      left -= 1;
      return left < 0 ? { kind: 'refused', retryAfterMs: 7_000 } : { kind: 'admitted' };
    });
    const statuses: number[] = [];
    for (const version of ['1.0', '1.0', '0.3', '1.0']) {
      statuses.push((await world.get({ 'a2a-version': version })).status);
    }
    expect(statuses).toEqual([200, 200, 429, 200]);
    expect(new Set(world.upstream.requests.map(({ headers }) => headers['a2a-version']))).toEqual(new Set(['1.0']));
  });

  it('does not count signed-in users', async () => {
    const world = limited(session(), () => ({ kind: 'refused', retryAfterMs: 7_000 }));
    expect((await world.get()).status).toBe(200);
  });
});

describe('a thousand visitors', () => {
  it('share the bytes of one record until it changes', async () => {
    const world = new RouteWorld();
    const bodies = async (changes: Parameters<typeof browserRequest>[0] = {}): Promise<ReadonlySet<unknown>> =>
      new Set((await Promise.all(Array.from({ length: 1_000 }, () => world.get({}, changes)))).map(({ body }) => body));
    const [first] = await bodies();
    expect(first).toBeInstanceOf(Uint8Array);
    expect([...(await bodies())]).toEqual([first]);
    expect((await bodies()).has(first)).toBe(true);

    world.brand = ':root{--a:1}';
    const [second] = await bodies();
    expect(textOf({ body: second } as HttpResponse)).toContain('--a:1');
    const elsewhere = await bodies({ publicUrl: 'https://other.example/api/a2a/config' });
    expect(elsewhere.size).toBe(1);
    expect(elsewhere.has(second)).toBe(false);
    expect((await bodies()).has(second)).toBe(true);

    world.clock.advance(60_000);
    world.upstream.willAnswer(() => card({ name: 'Renamed' }));
    const renewed = await bodies();
    expect([renewed.size, textOf({ body: [...renewed][0] } as HttpResponse)]).toEqual([
      1,
      expect.stringContaining('Renamed'),
    ]);
  });

  it('receive what their own policy allows from a shared card', async () => {
    const world = new RouteWorld();
    const closed = new RouteWorld({ chatConfig: world.config, policy: new MethodPolicy(['SendMessage']) });
    expect(record(await world.get())).toMatchObject({ supportsStreaming: true });
    expect(record(await closed.get())).toMatchObject({ supportsStreaming: false });
  });
});
