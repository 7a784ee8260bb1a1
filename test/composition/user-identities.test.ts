import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  FakeCacheStore,
  FakeClock,
  FakeSessionTokenSource,
  FakeTokenExchange,
  FakeUpstream,
  RecordingTelemetry,
} from '../../src/adapters/fakes/fakes.js';
import type { ServerConfig } from '../../src/composition/config/server-config.js';
import type { SurfaceHandlerOptions } from '../../src/composition/routes/route-options.js';
import { createToolkit } from '../../src/composition/toolkit/toolkit.js';
import type { Toolkit } from '../../src/composition/toolkit/toolkit-type.js';
import type { HttpHandler } from '../../src/ports/http.js';
import type { SessionToken } from '../../src/ports/session-token-source.js';
import { browserRequest } from '../adapters/web/browser-request.js';
import { chatRoute, recordRoute, sessionSurfaceRoute, surfaceRoute } from '../support/toolkit-routes.js';

const CONFIG: ServerConfig = {
  a2aUrl: 'https://agent.example/a2a',
  serviceApiUrl: 'https://platform.example/api',
  serviceApiKey: 'an-api-key',
};
const CARD = {
  name: 'Helper',
  url: 'https://agent.example/a2a',
  protocolVersion: '0.3.0',
  capabilities: {},
  skills: [],
};

type Token = Extract<SessionToken, { kind: 'token' }>;

/** A session library with user 1 signed in. */
function sourceOf(token: Partial<Token> = {}, name?: string): FakeSessionTokenSource {
  const source = new FakeSessionTokenSource({ kind: 'token', accessToken: 'token', subject: '1', ...token });
  return name === undefined ? source : Object.assign(source, { name });
}

/** One process of a site, with the requests its platform received. */
class Process {
  readonly upstream = new FakeUpstream(({ path }) => {
    const isStyle = path.endsWith('.css');
    const body = path.includes('.well-known') ? CARD : path.endsWith('/project') ? { id: 'p' } : {};
    return {
      status: 200,
      headers: { 'content-type': isStyle ? 'text/css' : 'application/json' },
      body: isStyle ? ':root{}' : JSON.stringify(body),
    };
  });
  readonly telemetry = new RecordingTelemetry();
  readonly exchange = new FakeTokenExchange();
  readonly toolkit: Toolkit;

  constructor({ config = {}, clock = new FakeClock() }: { config?: ServerConfig; clock?: FakeClock } = {}) {
    const { upstream, telemetry, exchange: tokenExchange } = this;
    this.toolkit = createToolkit({ ...CONFIG, ...config }, { clock, upstream, telemetry, tokenExchange });
  }

  surfaces(auth: SurfaceHandlerOptions['auth'], options: object = {}): HttpHandler {
    return sessionSurfaceRoute(this.toolkit, { auth, cache: { enabled: true }, ...options });
  }

  get warnings(): readonly string[] {
    return this.telemetry.of('warning').map(({ code }) => code);
  }

  /** The paths requested by one call of the config route. */
  async configured(handler: HttpHandler): Promise<readonly string[]> {
    const before = this.upstream.requests.length;
    const response = await handler(browserRequest({ method: 'GET', path: '/config', body: null }));
    expect(response.status).toBe(200);
    return (
      this.upstream.requests
        .slice(before)
        .map(({ path }) => path.replace('/api', ''))
        // The first search for the card tries more addresses.
        .filter((path) => LOOKED_UP.includes(path))
        .sort()
    );
  }
}

async function rendered(handler: HttpHandler): Promise<unknown> {
  const response = await handler(browserRequest({ path: '/counter/render', body: null }));
  return response.status === 200 ? response.headers['x-cache'] : response.status;
}

async function act(handler: HttpHandler): Promise<void> {
  const response = await handler(browserRequest({ path: '/counter/actions/add', body: null }));
  expect(response.status).toBe(200);
}

const LOOKED_UP = ['/a2a/.well-known/agent-card.json', '/brand.css', '/project'];

describe('a user of one session source', () => {
  it.each<[string, Partial<Token>, string | undefined]>([
    ['named by the source', {}, 'staff'],
    ['named by the issuer', { issuer: 'https://idp.example' }, undefined],
    ['identified by subject alone', {}, undefined],
  ])('finds earlier renders on every route with that source: %s', async (_how, token, name) => {
    const site = new Process();
    const source = sourceOf({ tenant: 'acme', ...token }, name);
    const routes = Array.from({ length: 5 }, () => site.surfaces(source));
    expect(await Promise.all(routes.slice(0, 1).map(rendered))).toEqual(['MISS']);
    for (const route of routes.slice(1)) expect(await rendered(route)).toBe('HIT');
    expect(site.warnings).toEqual([]);
  });

  it.each<[string, Partial<Token>, object]>([
    ['another subject', { subject: '2' }, {}],
    ['another audience', {}, { audience: 'https://other.example' }],
    ['another API key', {}, { apiKey: 'another-key' }],
    ['a token exchange', {}, { exchange: 'on_behalf_of' }],
  ])('shares nothing with the same user under %s', async (_what, token, options) => {
    const site = new Process();
    const source = sourceOf({ tenant: 'acme', issuer: 'https://idp.example' });
    const [one, other] = [site.surfaces(source), site.surfaces(source, options)];
    expect(await rendered(one)).toBe('MISS');
    source.session = { ...(source.session as Token), ...token };
    expect(await rendered(other)).toBe('MISS');
  });

  it('shares renders with another proof of the exchange, and none with another principal', async () => {
    const site = new Process();
    const handler = site.surfaces(sourceOf({ tenant: 'acme' }), { exchange: 'on_behalf_of' });
    expect(await rendered(handler)).toBe('MISS');
    site.exchange.proof = 'rotated';
    expect(await rendered(handler)).toBe('HIT');
    expect(site.exchange.requests).toHaveLength(2);
    site.exchange.name = 'another client';
    expect(await rendered(handler)).toBe('MISS');
  });
});

it.each([
  [true, 2],
  [false, 1],
])(
  'with "configPerUser" set to %s, two users of one chat route cause %i look-ups of the project',
  async (configPerUser, times) => {
    const site = new Process({ config: { configPerUser } });
    const source = sourceOf({ tenant: 'acme' }, 'staff');
    const [route, other] = [chatRoute(site.toolkit, { auth: source }), chatRoute(site.toolkit, { auth: source })];
    await site.configured(route);
    source.session = { ...(source.session as Token), subject: '2', accessToken: 'token-2' };
    await site.configured(route);
    const projects = (): number => site.upstream.requests.filter(({ path }) => path === '/api/project').length;
    expect(projects()).toBe(times);
    // Users of another route may be others.
    await site.configured(other);
    expect(projects()).toBe(2);
  },
);

describe('users of several session sources with the same subject', () => {
  it.each(['named', 'with issuers'])('share neither renders nor look-ups when the sources are %s', async (how) => {
    const site = new Process();
    const sources = ['staff', 'shop', 'press'].map((name) =>
      how === 'named' ? sourceOf({ tenant: 't' }, name) : sourceOf({ tenant: 't', issuer: name }),
    );
    for (const source of sources) {
      const [surfaces, chat] = [site.surfaces(source), chatRoute(site.toolkit, { getSessionToken: source })];
      expect([await rendered(surfaces), await rendered(surfaces)]).toEqual(['MISS', 'HIT']);
      expect([await site.configured(chat), await site.configured(chat)]).toEqual([LOOKED_UP, []]);
    }
    expect(site.warnings).toEqual([]);
  });

  it.each([2, 3])(
    'are not cached when %i sources are unnamed, and one warning names the missing option',
    async (count) => {
      const site = new Process();
      const sources = Array.from({ length: count }, (_, index) => sourceOf({ accessToken: `token-${String(index)}` }));
      const routes = sources.map((source) => [
        site.surfaces(source),
        chatRoute(site.toolkit, { getSessionToken: source }),
      ]);
      for (const [surfaces, chat] of routes as [HttpHandler, HttpHandler][]) {
        expect([await rendered(surfaces), await rendered(surfaces)]).toEqual(['BYPASS', 'BYPASS']);
        expect(await site.configured(chat)).toEqual(LOOKED_UP);
        // The card is cached for this token, which identifies user and tenant.
        expect(await site.configured(chat)).toEqual(LOOKED_UP.slice(1));
      }
      expect(site.warnings).toEqual(['session_source_unnamed']);
      expect(site.telemetry.of('warning')[0]?.detail).toContain('"name"');
    },
  );

  it('are no longer cached once a second source exists', async () => {
    const site = new Process();
    const [staff, shop] = [sourceOf({ tenant: 't' }), sourceOf({ tenant: 't' })];
    const first = site.surfaces(staff);
    expect([await rendered(first), await rendered(first)]).toEqual(['MISS', 'HIT']);
    const second = site.surfaces(shop);
    expect([await rendered(first), await rendered(second)]).toEqual(['BYPASS', 'BYPASS']);
  });

  it('do not share renders when one source has a name or an issuer', async () => {
    const site = new Process();
    const [bare, named, issued] = [
      sourceOf({ tenant: 't' }),
      sourceOf({ tenant: 't' }, 'shop'),
      sourceOf({ tenant: 't', issuer: 'https://idp.example' }),
    ].map((source) => site.surfaces(source)) as [HttpHandler, HttpHandler, HttpHandler];
    expect([await rendered(issued), await rendered(named), await rendered(bare)]).toEqual(['MISS', 'MISS', 'MISS']);
    expect([await rendered(issued), await rendered(named), await rendered(bare)]).toEqual(['HIT', 'HIT', 'HIT']);
    expect(site.warnings).toEqual([]);
  });

  it('share renders when both sources have the same name', async () => {
    const site = new Process();
    const [one, again] = [sourceOf({ tenant: 't' }, 'staff'), sourceOf({ tenant: 't' }, 'staff')];
    expect([await rendered(site.surfaces(one)), await rendered(site.surfaces(again))]).toEqual(['MISS', 'HIT']);
  });

  it('stay cached when another source is used for headers or records only', async () => {
    const site = new Process();
    const handler = site.surfaces(sourceOf({ tenant: 't' }));
    recordRoute(site.toolkit, { auth: sourceOf() });
    await site.toolkit.sessionHeaders({ authClient: sourceOf() });
    expect([await rendered(handler), await rendered(handler)]).toEqual(['MISS', 'HIT']);
    expect(site.warnings).toEqual([]);
  });
});

const jwt = (claims: object): string =>
  ['{"alg":"RS256"}', JSON.stringify(claims), randomBytes(64).toString('hex')]
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');

describe.each([
  ['a JWT', jwt({ sub: '1', org_id: 'acme' }), jwt({ sub: '1', org_id: 'other' })],
  ['an opaque token', 'opaque-of-acme', 'opaque-of-other'],
])('a user who switches organization (visible only in %s)', (_kind, before, after) => {
  it('does not get what was cached before', async () => {
    const site = new Process();
    const source = sourceOf({ accessToken: before }, 'staff');
    const [surfaces, chat] = [site.surfaces(source), chatRoute(site.toolkit, { getSessionToken: source })];
    expect([await rendered(surfaces), await rendered(surfaces)]).toEqual(['MISS', 'HIT']);
    expect([await site.configured(chat), await site.configured(chat)]).toEqual([LOOKED_UP, []]);
    source.session = { ...(source.session as Token), accessToken: after };
    expect([await rendered(surfaces), await rendered(surfaces)]).toEqual(['MISS', 'HIT']);
    expect([await site.configured(chat), await site.configured(chat)]).toEqual([LOOKED_UP, []]);
  });

  it('gets no render older than an action, with either token', async () => {
    const site = new Process();
    const source = sourceOf({ accessToken: before }, 'staff');
    const surfaces = site.surfaces(source);
    await rendered(surfaces);
    source.session = { ...(source.session as Token), accessToken: after };
    await act(surfaces);
    source.session = { ...(source.session as Token), accessToken: before };
    expect(await rendered(surfaces)).toBe('MISS');
  });

  it('gets no cached render that was fetched under the other token', async () => {
    const site = new Process();
    const source = sourceOf({ accessToken: before }, 'staff');
    // The platform rejects the old token after the session has switched.
    Object.assign(source, {
      getToken: (_request: unknown, { forceRefresh = false }) =>
        Promise.resolve({ ...source.session, ...(forceRefresh && { accessToken: after }) }),
      sessionCookies: ['session'],
    });
    let isRefusing = true;
    site.upstream.willAnswer(({ headers }) => {
      const isRefused = isRefusing && headers['authorization'] === `Bearer ${before}`;
      return { status: isRefused ? 401 : 200, headers: { 'content-type': 'application/json' }, body: '{}' };
    });
    const surfaces = site.surfaces(source);
    const visit = async (): Promise<unknown> => {
      const headers = { ...browserRequest().headers, cookie: 'session=1' };
      const response = await surfaces(browserRequest({ path: '/counter/render', body: null, headers }));
      return [response.status, response.headers['x-cache']];
    };
    expect(await visit()).toEqual([200, 'MISS']);
    isRefusing = false;
    expect(await visit()).toEqual([200, 'MISS']);
    expect(await visit()).toEqual([200, 'HIT']);
  });
});

describe('callers identified by getHeaders or an API key', () => {
  it('share renders only when the values are equal, and the store never contains the values', async () => {
    const clock = new FakeClock();
    const entries = new Map<string, string>();
    const store = new FakeCacheStore(clock);
    const cacheStore = {
      get: (key: string) => store.get(key),
      set: (key: string, value: string, expiresAt: number) => {
        entries.set(key, value);
        return store.set(key, value, expiresAt);
      },
      delete: (key: string) => store.delete(key),
    };
    const [one, other] = [
      new Process({ config: { cacheStore }, clock }),
      new Process({ config: { cacheStore }, clock }),
    ];
    const made = (site: Process, value: string): HttpHandler =>
      surfaceRoute(site.toolkit, { cache: { enabled: true }, getHeaders: () => ({ 'x-user': value }) });
    expect(await rendered(made(one, 'ada-of-acme'))).toBe('MISS');
    expect(await rendered(made(other, 'ada-of-acme'))).toBe('HIT');
    expect(await rendered(made(other, 'bob-of-acme'))).toBe('MISS');
    const keyed = (site: Process, apiKey: string): HttpHandler =>
      sessionSurfaceRoute(site.toolkit, { cache: { enabled: true }, apiKey });
    expect(await rendered(keyed(one, 'route-key'))).toBe('MISS');
    expect(await rendered(keyed(other, 'route-key'))).toBe('HIT');
    expect(await rendered(keyed(other, 'other-key'))).toBe('MISS');
    const stored = JSON.stringify([...entries]);
    expect(stored).not.toMatch(/of-acme|an-api-key|route-key|other-key/);
    expect([...entries.keys()].filter((key) => !key.startsWith('agent-bff:2:'))).toEqual([]);
  });
});

describe('two processes during a rotation of cacheKeys', () => {
  const [before, after] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')];

  it("share renders while the new key is last, and see each other's actions", async () => {
    const cacheKeys = [before, after];
    const clock = new FakeClock();
    const cacheStore = new FakeCacheStore(clock);
    const old = new Process({ config: { cacheStore, cacheKeys: [before] }, clock });
    const rotated = new Process({ config: { cacheStore, cacheKeys }, clock });
    const [one, other] = [old, rotated].map((site) =>
      sessionSurfaceRoute(site.toolkit, { cache: { enabled: true } }),
    ) as [HttpHandler, HttpHandler];
    for (const [first, second] of [
      [one, other],
      [other, one],
    ] as const) {
      expect([await rendered(first), await rendered(second)]).toEqual(['MISS', 'HIT']);
      await act(first);
      expect([await rendered(second), await rendered(first)]).toEqual(['MISS', 'HIT']);
      await act(second);
    }
    expect(old.telemetry.of('cache_fault')).toEqual([]);
  });
});
