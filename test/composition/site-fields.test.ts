import { runInNewContext } from 'node:vm';
import { createToolkit, type ServerConfig, SessionError, type ToolkitPorts, type SiteFieldOptions } from 'agent-bff';
import { FakeClock, FakeIdentityProvider, FakeUpstream, RecordingTelemetry } from 'agent-bff/testing';
import { describe, expect, it, vi } from 'vitest';
import { headerFields } from '../../src/composition/routes/route-credentials.js';
import type { HttpHandler, HttpRequest, HttpResponse, UpstreamRequest } from '../../src/ports/http.js';
import { browserRequest } from '../adapters/web/browser-request.js';
import { textOf } from '../contracts/http-upstream.contract.js';
import {
  chatRoute,
  recordRoute,
  serviceSurfaceRoute,
  sessionSurfaceRoute,
  surfaceRoute,
} from '../support/toolkit-routes.js';

const CARD = { name: 'Agent', url: 'https://agent.example/a2a', skills: [], capabilities: {} };

/** A platform that names the tenant in every body. */
function answer({ path, headers }: UpstreamRequest): HttpResponse {
  const fields = { 'x-agent-trace': String(headers['x-run'] ?? 'none'), 'x-internal': 'one' };
  if (path.includes('theme') || path.includes('brand')) {
    return { status: 200, headers: { 'content-type': 'text/css', ...fields }, body: '/* */' };
  }
  const who = [headers['x-tenant'], headers['prefer']].flat().join(' ');
  const known = { ...CARD, name: who, id: who, surface: { id: 's-1', name: 'board' }, who };
  return { status: 200, headers: { 'content-type': 'application/json', ...fields }, body: JSON.stringify(known) };
}

function site(config: ServerConfig = {}, ports: ToolkitPorts = {}) {
  const telemetry = new RecordingTelemetry();
  const upstream = new FakeUpstream(answer);
  const clock = new FakeClock();
  const settings = {
    a2aUrl: 'https://agent.example/a2a',
    serviceApiUrl: 'https://api.example',
    serviceApiKey: 'site-key',
    conversations: 'open' as const,
  };
  const toolkit = createToolkit({ ...settings, ...config }, { upstream, telemetry, clock, ...ports });
  return { toolkit, upstream, telemetry, clock };
}

interface Ask {
  readonly headers?: Record<string, string>;
  readonly request?: unknown;
}

const asks =
  (changes: Partial<HttpRequest>) =>
  (handler: HttpHandler, { headers = {}, request }: Ask = {}): Promise<HttpResponse> =>
    handler(browserRequest({ ...changes, headers: { host: 'site.example', ...headers }, native: { request } }));
const config = asks({ method: 'GET', path: '/config', body: null });
const render = asks({ path: '/s-1/render', body: null });
const act = asks({ path: '/s-1/actions/save', body: null });
const theme = asks({ method: 'GET', path: '/s-1/theme.css', body: null });
const chat = (handler: HttpHandler): Promise<HttpResponse> => handler(browserRequest());
const said = async (response: HttpResponse) =>
  JSON.parse(await textOf(response.body)) as Record<string, unknown> & { error: { message: string } };

describe('the return value of "headers"', () => {
  it.each([
    ['an object', { 'X-Tenant': 'acme', 'x-none': undefined, 'x-null': null }],
    ['a Headers object', new Headers({ 'X-Tenant': 'acme' })],
    ['a list of pairs', [['X-Tenant', 'acme']]],
    ['a Map', new Map([['X-Tenant', 'acme']]) as never],
    [
      'an object without a prototype, as in Node',
      Object.assign(Object.create(null) as object, { 'x-tenant': ['acme'] }),
    ],
    ['an object of another realm', runInNewContext("({ 'X-Tenant': 'acme' })")],
    [
      'an instance of a class with fields',
      new (class {
        'X-Tenant' = 'acme';
      })() as never,
    ],
  ])('can be %s', (_words, made) => {
    expect(headerFields(made as never)).toEqual({ 'x-tenant': 'acme' });
  });

  it('can contain a field twice, which is sent as one list (RFC 9110 §5.3)', () => {
    expect(
      headerFields([
        ['x-a', '1'],
        ['X-A', '2'],
      ]),
    ).toEqual({ 'x-a': '1, 2' });
    expect(headerFields({ 'x-a': ['1', '2'] })).toEqual({ 'x-a': '1, 2' });
    expect(headerFields({ 'x-a': [1, true] as never })).toEqual({ 'x-a': '1, true' });
  });

  it('can be empty', () => {
    for (const made of [undefined, null, {}, []]) expect(headerFields(made)).toEqual({});
  });

  it.each([
    ['an unawaited promise as a value', { 'x-tenant': Promise.resolve('secret') }],
    ['an object as a value', { 'x-tenant': { id: 'secret' } }],
    ['a string', 'secret'],
    ['a flat list of names and values', ['x-tenant', 'secret']],
    ['a pair without a value', [['secret']]],
    ['a request', new Request('https://site.example', { headers: { 'x-tenant': 'secret' } })],
    ['a response', new Response('secret')],
    ['bytes', Buffer.from('secret')],
    ['a function', () => ({ 'x-tenant': 'secret' })],
    ['a line break in a value', { 'x-tenant': 'se\r\ncret' }],
    ['a control character in a value', { 'x-tenant': 'se\x1bcret' }],
    ['a letter beyond Latin-1 in a value', { 'x-tenant': 'sečcret' }],
    ['an invalid field name', { 'x tenant': 'secret' }],
  ])('is rejected without quoting it when it is %s', (_words, made) => {
    expect(() => headerFields(made as never)).toThrow(/^it returned /);
    expect(() => headerFields(made as never)).not.toThrow(/cret/);
  });
});

describe('a failing "headers" function', () => {
  const failures: readonly (readonly [string, NonNullable<SiteFieldOptions['headers']>, RegExp])[] = [
    [
      'throws',
      () => {
        throw new TypeError('no tenant secret-7');
      },
      /it threw TypeError at .*site-fields\.test\.ts/,
    ],
    ['rejects', () => Promise.reject(new Error('no tenant secret-7')), /it threw Error at .*site-fields\.test\.ts/],
    [
      'throws something other than an Error',
      () => {
        // oxlint-disable-next-line typescript/only-throw-error
        throw 'secret-7';
      },
      /it threw string\./,
    ], // oxlint-disable-line typescript/only-throw-error
    ['quotes a value in its own error', () => new Headers({ 'x-tenant': 'secret-7\n7' }), /it threw TypeError/],
    [
      'returns a value that is not text',
      () => ({ 'x-tenant': { id: 'secret-7' } }) as never,
      /it returned a value that is not text/,
    ],
    [
      'returns a value with a control character',
      () => ({ 'x-tenant': 'secret-7\x1b' }),
      /it returned a name or a value that is not valid in a header field/,
    ],
    ['returns a forbidden field', () => ({ Cookie: 'secret-7' }), /it returned "cookie", which no option may set/],
    ['returns an API key', () => ({ 'X-API-Key': 'secret-7' }), /it returned "x-api-key", which no option may set/],
    ['never settles', () => new Promise(() => undefined), /it did not respond within 20 ms/],
  ];

  it.each(failures)('that %s causes a 500 that names it, without a request upstream', async (_words, headers, log) => {
    const settings = { timeouts: { sessionMs: 20 } };
    const { toolkit, upstream, telemetry } = site(settings);
    const response = await render(sessionSurfaceRoute(toolkit, { headers }));
    expect(response.status).toBe(500);
    expect(await said(response)).toMatchObject({
      code: 'internal_error',
      hint: 'Check the function in "headers"; the server log has the cause.',
      block: 'headers',
    });
    const [event] = telemetry.of('error');
    expect(event).toMatchObject({ status: 500, block: 'headers', route: 'surface' });
    expect(event?.detail).toMatch(/^The function in "headers" failed: /);
    expect(event?.detail).toMatch(log);
    expect(JSON.stringify(telemetry)).not.toContain('secret-7');
    expect(upstream.requests).toEqual([]);
  });

  it('passes on an error of this package', async () => {
    const { toolkit } = site();
    const headers = (): never => {
      throw new SessionError('session_required', { detail: 'No tenant.' });
    };
    expect((await render(sessionSurfaceRoute(toolkit, { headers }))).status).toBe(401);
  });
});

describe('a field set by both "upstream.headers" and "headers"', () => {
  const upstreamNames = { headers: { apiKey: 'X-Platform-Key', projectId: 'X-Tenant' } };
  const headers = () => ({ 'x-tenant': 'acme', 'x-platform-key': 'of-the-function' });

  it('has the configured value, with one warning', async () => {
    const { toolkit, upstream, telemetry } = site({ upstream: upstreamNames, serviceProjectId: 'p-1' });
    const [widgets, records] = [sessionSurfaceRoute(toolkit, { headers }), chatRoute(toolkit, { headers })];
    expect([(await render(widgets)).status, (await theme(widgets)).status, (await config(records)).status]).toEqual([
      200, 200, 200,
    ]);
    const sent = upstream.requests.filter(({ origin }) => origin === 'https://api.example');
    expect(sent.map((request) => [request.headers['x-tenant'], request.headers['x-platform-key']])).toEqual(
      sent.map(() => ['p-1', 'site-key']),
    );
    expect(sent.length).toBeGreaterThan(2);
    const details = telemetry
      .of('warning')
      .map(({ code, detail }) => [code, /the field that carries (\S+)\./.exec(detail)?.[1]]);
    // Once for each route.
    expect(details).toEqual([
      ['field_replaced', '"serviceApiKey"'],
      ['field_replaced', '"serviceProjectId"'],
      ['field_replaced', '"serviceApiKey"'],
      ['field_replaced', '"serviceProjectId"'],
    ]);
    expect(JSON.stringify(telemetry)).not.toMatch(/site-key|of-the-function|acme/);
  });

  it('has the value of the function when nothing is configured', async () => {
    const { toolkit, upstream, telemetry } = site({ upstream: upstreamNames });
    expect((await render(sessionSurfaceRoute(toolkit, { headers }))).status).toBe(200);
    expect(upstream.requests[0]?.headers).toMatchObject({ 'x-tenant': 'acme', 'x-platform-key': 'site-key' });
    expect(telemetry.of('warning')).toHaveLength(1);
    const keyless = site({ upstream: upstreamNames, serviceApiKey: '', serviceAuthStrategy: 'none' });
    expect((await render(serviceSurfaceRoute(keyless.toolkit, { headers }))).status).toBe(200);
    expect(keyless.upstream.requests[0]?.headers).toMatchObject({ 'x-platform-key': 'of-the-function' });
    expect(keyless.telemetry.of('warning')).toEqual([]);
  });

  it('causes no warning when the function returns other fields only', async () => {
    const { toolkit, telemetry } = site({ serviceProjectId: 'p-1' });
    expect((await render(sessionSurfaceRoute(toolkit, { headers: () => ({ 'x-tenant': 'acme' }) }))).status).toBe(200);
    expect(telemetry.of('warning')).toEqual([]);
  });
});

it('the function in "headers" gets the request, the user, the route and the message', async () => {
  const headers = vi.fn(() => ({}));
  const auth = (_request: unknown) => ({ kind: 'token', accessToken: 'token', subject: 'ada' }) as const;
  const { toolkit } = site();
  const native = { request: { ip: '192.0.2.1' } };
  const visit = (route: HttpHandler, path = '') => route(browserRequest({ path, native }));
  await visit(chatRoute(toolkit, { auth, headers }));
  await visit(sessionSurfaceRoute(toolkit, { auth, headers }), '/s-1/render');
  await visit(surfaceRoute(toolkit, { headers }), '/s-1/render');
  await visit(recordRoute(toolkit, { auth, headers }), '/records/1');
  const session = { subject: 'ada' };
  const message = { method: 'SendMessage', contextId: undefined, taskId: undefined };
  expect(headers.mock.calls).toEqual([
    [native.request, { session, route: 'chat', message }],
    [native.request, { session, route: 'surface', message: undefined }],
    [native.request, { session: null, route: 'surface', message: undefined }],
    [native.request, { session, route: 'conversation', message: undefined }],
  ]);
});

describe('the fields returned by "headers"', () => {
  const tenantOf = (request: { tenant: string }) => ({ 'x-tenant': request.tenant });

  it('are sent with every look-up of the config route except to another host', async () => {
    const { toolkit, upstream } = site({ agentCardUrl: 'https://cards.example/card.json' });
    const handler = chatRoute(toolkit, { headers: tenantOf, forward: { request: ['prefer'] } });
    await config(handler, { headers: { prefer: 'wait=1' }, request: { tenant: 'acme' } });
    const sent = upstream.requests.map(({ origin, path, headers }) => [
      origin + path,
      headers['x-tenant'],
      headers['prefer'],
    ]);
    expect(sent).toEqual([
      ['https://cards.example/card.json', undefined, undefined],
      ['https://api.example/project', 'acme', 'wait=1'],
      ['https://api.example/brand.css', 'acme', 'wait=1'],
    ]);
  });

  it('override the browser and yield to the credential', async () => {
    const { toolkit, upstream } = site();
    const getHeaders = () => ({ 'x-tenant': 'of the credential' });
    const forward = { request: ['x-tenant', 'x-user'] };
    const headers = () => ({ 'x-tenant': 'of the site', 'x-user': 'of the site', 'accept-language': 'fr' });
    await render(surfaceRoute(toolkit, { getHeaders, headers, forward }), {
      headers: { 'x-user': 'of the browser', 'accept-language': 'de' },
    });
    expect(upstream.requests[0]?.headers).toMatchObject({
      'x-tenant': 'of the credential',
      'x-user': 'of the site',
      'accept-language': 'fr',
    });
  });

  it('are sent again after a rejected credential is renewed', async () => {
    const demo = new FakeIdentityProvider('demo');
    const { toolkit, upstream } = site({ serviceAuthStrategy: 'demo' }, { identityProviders: { demo } });
    upstream.willAnswer((request) =>
      request.headers['authorization'] === 'Bearer demo-token-1'
        ? { status: 401, headers: {}, body: null }
        : answer(request),
    );
    const response = await render(serviceSurfaceRoute(toolkit, { headers: tenantOf }), {
      request: { tenant: 'acme' },
    });
    expect(response.status).toBe(200);
    expect(upstream.requests.map(({ headers }) => headers['x-tenant'])).toEqual(['acme', 'acme']);
  });

  it('for responses are sent with error responses too', async () => {
    const { toolkit, upstream } = site();
    const forward = { response: ['X-Agent-Trace'] };
    const html = { 'content-type': 'text/html', 'x-agent-trace': 't-1', 'x-internal': 'one' };
    upstream.willAnswer(() => ({ status: 503, headers: html, body: '<h1>' }));
    const failed = await render(sessionSurfaceRoute(toolkit, { forward }));
    expect([failed.status, failed.headers['x-agent-trace'], failed.headers['x-internal']]).toEqual([
      503,
      't-1',
      undefined,
    ]);
    upstream.willAnswer(() => ({ status: 422, headers: { ...html, 'content-type': 'application/json' }, body: '{}' }));
    expect((await render(sessionSurfaceRoute(toolkit, { forward }))).headers['x-agent-trace']).toBe('t-1');
  });

  it('are computed once per request', async () => {
    const { toolkit } = site();
    let calls = 0;
    const headers = () => ({ 'x-tenant': String((calls += 1)) });
    await config(chatRoute(toolkit, { headers }));
    expect(calls).toBe(1);
  });
});

describe('the cache of a route with its own fields', () => {
  const cache = { enabled: true, freshMs: 60_000 };
  const forward = { request: ['prefer', 'baggage'] };

  it.each<[string, (tenant: string) => Ask]>([
    ['that the site adds', (tenant) => ({ request: { tenant } })],
    ['that the browser sends and the site forwards', (tenant) => ({ headers: { prefer: tenant } })],
  ])('is separate for tenants that differ in a field %s', async (_words, ask) => {
    const { toolkit, upstream } = site();
    const headers = (request?: { tenant: string }) => ({ 'x-tenant': request?.tenant });
    const [widgets, agent] = [
      sessionSurfaceRoute(toolkit, { cache, headers, forward }),
      chatRoute(toolkit, { headers, forward }),
    ];
    for (const tenant of ['acme', 'globex', 'acme', 'globex']) {
      const [widget, record] = [await said(await render(widgets, ask(tenant))), await config(agent, ask(tenant))];
      const { agentCard, serviceProjectId } = await said(record);
      const seen = [widget['who'], (agentCard as typeof CARD).name, serviceProjectId].map((text) =>
        String(text).trim(),
      );
      expect(seen).toEqual([tenant, tenant, tenant]);
    }
    // Proves that these came from the cache.
    expect(upstream.requests.filter(({ path }) => path.endsWith('/render'))).toHaveLength(2);
  });

  it('makes one call for concurrent callers with equal fields', async () => {
    const { toolkit, upstream } = site();
    const handler = sessionSurfaceRoute(toolkit, { cache, forward });
    const answers = await Promise.all(
      ['x', 'y', 'x', 'y', 'x'].map((prefer) => render(handler, { headers: { prefer } })),
    );
    expect((await Promise.all(answers.map(said))).map(({ who }) => who)).toEqual([' x', ' y', ' x', ' y', ' x']);
    expect(upstream.requests).toHaveLength(2);
  });

  it('is cleared by an action with other fields', async () => {
    const { toolkit } = site();
    const handler = sessionSurfaceRoute(toolkit, { cache, forward });
    const status = async (prefer: string) => (await render(handler, { headers: { prefer } })).headers['x-cache'];
    expect([await status('x'), await status('x')]).toEqual(['MISS', 'HIT']);
    await act(handler, { headers: { prefer: 'y' } });
    expect(await status('x')).toBe('MISS');
  });

  it('does not return response fields that only another route forwards', async () => {
    const { toolkit } = site();
    const open = sessionSurfaceRoute(toolkit, { cache, forward: { response: ['x-internal'] } });
    const closed = sessionSurfaceRoute(toolkit, { cache, forward: { response: ['x-agent-trace'] } });
    expect((await render(open)).headers['x-internal']).toBe('one');
    expect((await render(closed)).headers).not.toHaveProperty('x-internal');
    expect((await render(open)).headers).toMatchObject({ 'x-internal': 'one', 'x-cache': 'HIT' });
  });

  it.each<[string, (value: string) => Ask]>([
    ['forwarded', (value) => ({ headers: { prefer: value } })],
    ['added', (value) => ({ request: value })],
  ])(
    'keeps its look-ups when a visitor sends many made-up %s values',
    async (_words, ask) => {
      const { toolkit, upstream } = site();
      const headers = (request?: string) => ({ 'x-tenant': request });
      const handler = chatRoute(toolkit, { headers, forward });
      await config(handler);
      for (let value = 0; value < 1_050; value += 1) await config(handler, ask(String(value)));
      const before = upstream.requests.length;
      await config(handler);
      expect(upstream.requests.length).toBe(before);
    },
    20_000,
  );
});

describe('a browser cache', () => {
  const forward = { request: ['prefer', 'baggage'] };

  it('varies by the forwarded fields and revalidates each time', async () => {
    const { toolkit } = site();
    expect((await config(chatRoute(toolkit, { forward }))).headers).toMatchObject({
      vary: 'A2A-Version, Cookie, prefer',
      'cache-control': 'private, max-age=0, must-revalidate',
    });
    expect((await theme(sessionSurfaceRoute(toolkit, { forward }))).headers).toMatchObject({ vary: 'prefer' });
  });

  it('revalidates each time when the site adds fields to the request', async () => {
    const { toolkit } = site();
    const headers = () => ({ 'x-tenant': 'acme' });
    const cacheControl = async (options: SiteFieldOptions) =>
      (await config(chatRoute(toolkit, options))).headers['cache-control'];
    expect(await cacheControl({ headers })).toBe('private, max-age=0, must-revalidate');
    expect(await cacheControl({ forward: { response: ['x-agent-trace'] } })).toBe('private, max-age=60');
    expect(await cacheControl({})).toBe('private, max-age=60');
  });

  it("cannot serve another site's page a response that depends on such fields", async () => {
    const { toolkit } = site();
    const crossSite = { headers: { 'sec-fetch-site': 'cross-site' } };
    const status = async (options: SiteFieldOptions) =>
      (await theme(sessionSurfaceRoute(toolkit, options), crossSite)).status;
    expect([await status({ headers: () => ({}) }), await status({ forward }), await status({})]).toEqual([
      403, 200, 200,
    ]);
  });
});

describe('a route without fields of its own', () => {
  it('sends and caches the same as one with empty options', async () => {
    const visits = async (options: SiteFieldOptions) => {
      const { toolkit, upstream } = site();
      const widgets = sessionSurfaceRoute(toolkit, { cache: { enabled: true }, ...options });
      const agent = chatRoute(toolkit, options);
      const visitor = { headers: { prefer: 'x', baggage: 'a=1', 'x-tenant': 'b', traceparent: 't' } };
      const answers = [
        await render(widgets, visitor),
        await theme(widgets, visitor),
        await config(agent, visitor),
        await chat(agent),
      ];
      return [upstream.requests.map(({ headers }) => headers), answers.map(({ headers }) => headers)];
    };
    const [before, empty] = [await visits({}), await visits({ forward: { request: [], response: [] } })];
    expect(empty).toEqual(before);
    expect(JSON.stringify(before)).not.toMatch(/prefer|baggage|x-tenant|x-agent-trace/);
  });
});
