import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  FakeCacheStore,
  FakeClock,
  FakeIdentityProvider,
  FakeUpstream,
  FakeVisitorLimit,
  RecordingTelemetry,
} from '../../src/adapters/fakes/fakes.js';
import type { ServerConfig } from '../../src/composition/config/server-config.js';
import type { Toolkit, ToolkitPorts } from '../../src/composition/toolkit/toolkit-type.js';
import type { HttpHandler } from '../../src/ports/http.js';
import { buildToolkit, createToolkit } from '../../src/composition/toolkit/toolkit.js';
import { browserRequest, bytes } from '../adapters/web/browser-request.js';
import { textOf } from '../contracts/http-upstream.contract.js';
import {
  chatRoute,
  recordRoute,
  serviceSurfaceRoute,
  sessionSurfaceRoute,
  surfaceRoute,
} from '../support/toolkit-routes.js';

const CONFIG: ServerConfig = {
  a2aUrl: 'https://agent.example/a2a',
  serviceAuthStrategy: 'okta',
  serviceApiKey: 'site-key',
};
const KEY = randomBytes(32).toString('hex');
const LIST = bytes('{"jsonrpc":"2.0","id":1,"method":"tasks/list"}');

interface Ports extends ToolkitPorts {
  readonly clock: FakeClock;
  readonly upstream: FakeUpstream;
  readonly telemetry: RecordingTelemetry;
  readonly identityProviders: { readonly okta: FakeIdentityProvider; readonly ping: FakeIdentityProvider };
}

function fakes(): Ports {
  const identityProviders = {
    okta: new FakeIdentityProvider('okta', 'okta'),
    ping: new FakeIdentityProvider('ping', 'ping'),
  };
  return {
    clock: new FakeClock(),
    upstream: new FakeUpstream(),
    telemetry: new RecordingTelemetry(),
    random: () => 0,
    identityProviders,
  };
}

describe('a toolkit', () => {
  it('returns the project and the brand of the platform', async () => {
    const ports = fakes();
    const toolkit = createToolkit({ ...CONFIG, serviceApiUrl: 'https://platform.example/api' }, ports);
    ports.upstream.willAnswer(({ path }) =>
      path.endsWith('.css')
        ? { status: 200, headers: { 'content-type': 'text/css' }, body: ':root{}' }
        : { status: 200, headers: { 'content-type': 'application/json' }, body: '{"id":"proj-7"}' },
    );
    expect([await toolkit.projectId(), await toolkit.brandCss()]).toEqual(['proj-7', ':root{}']);
    expect(ports.upstream.requests.map(({ path }) => path)).toEqual(['/api/project', '/api/brand.css']);
  });

  it("returns headers for the site's own calls from the token cache", async () => {
    const ports = fakes();
    const toolkit = createToolkit(CONFIG, ports);
    expect(toolkit.cachedServiceToken()).toBeUndefined();
    expect(await toolkit.authHeaders()).toEqual({ authorization: 'Bearer okta-token-1', 'x-api-key': 'site-key' });
    expect(await toolkit.authHeaders({ strategy: 'ping', apiKey: 'other' })).toEqual({
      authorization: 'Bearer ping-token-1',
      'x-api-key': 'other',
    });
    await chatRoute(toolkit)(browserRequest());
    expect(ports.identityProviders.okta.issued).toBe(1);
    expect(toolkit.cachedServiceToken()).toBe('okta-token-1');
  });

  it('looks up project and brand with the strategy of the route', async () => {
    const ports = fakes();
    const toolkit = createToolkit({ serviceApiUrl: 'https://platform.example/api' }, ports);
    await toolkit.projectId({ strategy: 'ping' });
    await toolkit.brandCss({ strategy: 'ping', apiKey: 'other' });
    expect(ports.upstream.requests.map(({ path, headers }) => [path, headers['authorization'], headers['x-api-key']]))
      // prettier-ignore
      .toEqual([
        ['/api/project', 'Bearer ping-token-1', undefined],
        ['/api/brand.css', 'Bearer ping-token-1', 'other'],
      ]);
    expect(toolkit.cachedServiceToken({ strategy: 'ping' })).toBe('ping-token-1');
    expect(toolkit.cachedServiceToken()).toBeUndefined();
    await expect(toolkit.projectId({ strategy: 'pin' as never })).rejects.toThrow('Did you mean "ping"?');
  });

  it('names the missing strategy when a look-up has no credential', async () => {
    const ports = fakes();
    const toolkit = createToolkit({ serviceApiUrl: 'https://platform.example/api' }, ports);
    expect([await toolkit.projectId(), await toolkit.brandCss()]).toEqual([null, '']);
    expect(ports.telemetry.of('warning').map(({ code, detail }) => `${code}: ${detail}`)).toEqual(
      ['project_unavailable', 'brand_unavailable'].map(
        (code) =>
          `${code}: The server has no credential for the platform. Set "serviceAuthStrategy" or "authProvider" in configureServer, or "strategy" in the options, and fill in the configuration block of that strategy; or set "serviceApiKey". For an agent without authentication, the strategy is "none"; for a fixed token, "static_token" with "serviceToken".`,
      ),
    );
    expect(ports.upstream.requests).toEqual([]);
  });

  it('returns a new copy of its headers each time', async () => {
    const toolkit = createToolkit(CONFIG, fakes());
    const headers = await toolkit.authHeaders();
    headers['authorization'] = 'changed';
    expect(await toolkit.authHeaders()).toMatchObject({ authorization: 'Bearer okta-token-1' });
  });

  it('shares no token with another toolkit', async () => {
    const ports = fakes();
    const [first, second] = [createToolkit(CONFIG, ports), createToolkit(CONFIG, ports)];
    await first.authHeaders();
    expect(second.cachedServiceToken()).toBeUndefined();
    expect(await second.authHeaders()).toMatchObject({ authorization: 'Bearer okta-token-2' });
  });
});

describe('the settings of a toolkit', () => {
  async function statusOf(
    config: ServerConfig,
    headers: Readonly<Record<string, string>>,
    body = LIST,
  ): Promise<number> {
    const toolkit = createToolkit({ ...CONFIG, a2aMethods: 'all', ...config }, fakes());
    const request = browserRequest({
      headers: { 'content-type': 'application/json', host: '10.0.0.7', ...headers },
      body,
    });
    return (await chatRoute(toolkit)(request)).status;
  }

  it.each([
    ['https://www.site.example', 'https://www.site.example', 200],
    ['https://WWW.site.example:443/shop', 'https://www.site.example', 200],
    ['https://www.site.example', 'https://evil.example', 403],
    ['', 'http://10.0.0.7', 200],
    ['', 'https://www.site.example', 403],
  ])('with "publicUrl" set to "%s" give a page at %s the status %i', async (publicUrl, origin, status) => {
    expect(await statusOf({ publicUrl }, { origin })).toBe(status);
  });

  it.each<[string, (toolkit: Toolkit) => HttpHandler, string]>([
    ['chat', (toolkit) => chatRoute(toolkit), 'chat'],
    ['surfaces', (toolkit) => surfaceRoute(toolkit), 'surface'],
    ['surfaces for users', (toolkit) => sessionSurfaceRoute(toolkit), 'surface'],
    ['surfaces for the service', (toolkit) => serviceSurfaceRoute(toolkit), 'surface'],
    ['records', (toolkit) => recordRoute(toolkit, { auth: () => 'ada-token' }), 'conversation'],
  ])('apply "allowedHosts" to every path and method of a route: %s', async (name, make, route) => {
    const ports = fakes();
    const toolkit = createToolkit({ ...CONFIG, bindings: ['HTTP+JSON'], allowedHosts: ['site.example'] }, ports);
    const handler = make(toolkit);
    for (const path of ['', '/config', '/.well-known/agent-card.json', '/message:send', '/x/render', '/nowhere']) {
      for (const method of ['GET', 'POST', 'OPTIONS', 'TRACE']) {
        const response = await handler(browserRequest({ method, path, headers: { host: 'evil.example' } }));
        expect([path, method, response.status]).toEqual([path, method, 421]);
        const isChat = name === 'chat' && method === 'POST' && path === '';
        expect(JSON.parse(response.body as string)).toMatchObject(
          isChat
            ? { jsonrpc: '2.0', id: null, error: { code: -32603, data: [{ reason: 'HOST_REFUSED' }] } }
            : { status: 421, code: 'host_refused', fields: ['publicUrl', 'allowedHosts'] },
        );
      }
    }
    expect(new Set(ports.telemetry.of('error').map((event) => event.route))).toEqual(new Set([route]));
    expect(ports.upstream.requests).toEqual([]);
  });

  it('apply the timeouts to the agent and the platform', async () => {
    const ports = fakes();
    const timeouts = { headersMs: 7, bodyIdleMs: 8, bodyMs: 9, streamIdleMs: 10 };
    const toolkit = createToolkit({ ...CONFIG, serviceApiUrl: 'https://platform.example/api', timeouts }, ports);
    await chatRoute(toolkit)(browserRequest());
    await surfaceRoute(toolkit)(browserRequest({ path: '/s-1/render' }));
    await recordRoute(toolkit, { auth: () => 'ada-token' })(browserRequest({ path: '/records/1' }));
    await toolkit.projectId();
    const lookup = { headersMs: 7, bodyIdleMs: 8 };
    // Records have any size.
    expect(ports.upstream.requests).toMatchObject([timeouts, timeouts, { ...timeouts, bodyMs: 0 }, lookup]);
  });

  it('let a theme load from "mediaOrigins" and from the site itself, and name those origins to the page', async () => {
    const ports = fakes();
    const origins = ['https://cdn.example', 'https://site.example', 'https://other.example'];
    const css = `a{background:${origins.map((origin) => `url(${origin}/a.png)`).join()}}`;
    ports.upstream.willAnswer(() => ({ status: 200, headers: { 'content-type': 'text/css' }, body: css }));
    const mediaOrigins = ['https://cdn.example'];
    const settings = {
      serviceApiUrl: 'https://platform.example',
      publicUrl: 'https://site.example/shop',
      mediaOrigins,
    };
    const toolkit = createToolkit({ ...CONFIG, ...settings }, ports);
    const get = { method: 'GET', body: null };
    const theme = await textOf((await surfaceRoute(toolkit)(browserRequest({ ...get, path: '/s-1/theme.css' }))).body);
    expect(origins.filter((origin) => theme.includes(origin))).toEqual(origins.slice(0, 2));
    const record = await textOf((await chatRoute(toolkit)(browserRequest({ ...get, path: '/config' }))).body);
    expect(JSON.parse(record)).toMatchObject({ mediaOrigins });
  });

  it('apply "userLimit" to signed-in users, and "chatLimit" to all others', async () => {
    const [chatLimit, userLimit] = [new FakeVisitorLimit(), new FakeVisitorLimit()];
    userLimit.verdict = { kind: 'refused', retryAfterMs: 1_000 };
    const toolkit = createToolkit({ ...CONFIG, chatLimit, userLimit }, fakes());
    const auth = (_request: unknown) => ({ kind: 'token', accessToken: 'token', subject: 'ada' }) as const;
    const statuses = [{ auth }, {}].map(
      async (options) => (await chatRoute(toolkit, options)(browserRequest())).status,
    );
    expect(await Promise.all(statuses)).toEqual([429, 200]);
    expect([chatLimit.requests.length, userLimit.requests.length]).toEqual([1, 1]);
  });

  it.each([
    [true, [['SendMessage', expect.stringMatching(/^[0-9a-f]{16}$/)]]],
    [false, []],
  ])('emit an event for each chat message if a listener asks for them: %s', async (chatEvents, events) => {
    const telemetry = Object.assign(new RecordingTelemetry(), { chatEvents });
    const { telemetry: _unused, ...others } = fakes();
    const body = bytes(
      '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"role":"user","contextId":"c-1"}}}',
    );
    const response = await chatRoute(createToolkit({ ...CONFIG, telemetry }, others))(browserRequest({ body }));
    await textOf(response.body);
    expect(telemetry.of('chat').map(({ method, context }) => [method, context])).toEqual(events);
  });

  it.each<[string, object, readonly string[]]>([
    ['a store without keys', { cacheStore: new FakeCacheStore(new FakeClock()) }, ['cache_keys_missing']],
    ['a store with keys', { cacheStore: new FakeCacheStore(new FakeClock()), cacheKeys: [KEY] }, []],
    ['no store', {}, []],
  ])('that share a store cause a warning without keys: %s', (_what, config, codes) => {
    const ports = fakes();
    createToolkit({ ...CONFIG, ...config }, ports);
    expect(ports.telemetry.of('warning').map(({ code }) => code)).toEqual(codes);
  });

  it('pass on to the port of the platform that a visitor leaves', async () => {
    const ports = fakes();
    const leaving = new AbortController();
    const seen: unknown[] = [];
    ports.upstream.willAnswer(({ signal }) => {
      seen.push(signal.aborted);
      leaving.abort(new Error('left'));
      seen.push(signal.aborted, signal.reason);
      return { status: 200, headers: {}, body: null };
    });
    await chatRoute(createToolkit(CONFIG, ports))(browserRequest({ signal: leaving.signal })).catch(() => undefined);
    expect(seen).toEqual([false, true, new Error('left')]);
  });

  it.each([
    ['JSON-RPC', '', '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"role":"user"}}}'],
    ['HTTP+JSON', '/message:send', '{"message":{"role":"ROLE_USER"}}'],
  ])(
    'apply "conversations" to messages over %s: the first one gets the cookie of a visitor',
    async (_name, path, body) => {
      const card = {
        name: 'Agent',
        supportedInterfaces: [
          { url: 'https://agent.example/a2a', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
        ],
      };
      const upstream = new FakeUpstream(({ method }) => ({
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(method === 'GET' ? card : {}),
      }));
      const toolkit = createToolkit(
        {
          a2aUrl: 'https://agent.example/a2a',
          serviceAuthStrategy: 'none',
          conversations: 'visitor',
          bindings: ['HTTP+JSON'],
        },
        { upstream },
      );
      const response = await chatRoute(toolkit)(browserRequest({ path, body: bytes(body) }));
      expect([response.status, response.headers['set-cookie']]).toEqual([
        200,
        expect.stringMatching(/; Max-Age=2592000; HttpOnly/),
      ]);
    },
  );

  it('apply "authUnavailableStatus" to an outage of the identity provider', async () => {
    const ports = fakes();
    ports.identityProviders.okta.answer = () => {
      throw new Error('down');
    };
    const response = await chatRoute(createToolkit({ ...CONFIG, authUnavailableStatus: 503 }, ports))(browserRequest());
    expect(response.status).toBe(503);
  });

  it('use the configured listener unless a port replaces it', async () => {
    const [configured, port] = [new RecordingTelemetry(), new RecordingTelemetry()];
    const { telemetry: _unused, ...others } = fakes();
    await chatRoute(createToolkit({ ...CONFIG, telemetry: configured }, others))(browserRequest());
    expect(configured.of('request')).toHaveLength(1);
    await chatRoute(createToolkit({ ...CONFIG, telemetry: configured }, { ...others, telemetry: port }))(
      browserRequest(),
    );
    expect([configured.of('request').length, port.of('request').length]).toEqual([1, 1]);
  });
});

describe('a toolkit that replaces another', () => {
  it('never stores a token of the old identity under the new one', async () => {
    const ports = fakes();
    const first = buildToolkit(CONFIG, ports, undefined);
    let answer: (() => void) | undefined;
    const { clock } = ports;
    ports.identityProviders.okta.answer = () =>
      new Promise((resolve) => {
        answer = () => {
          resolve({ kind: 'token', token: { value: 'of-before', expiresAt: clock.now() + 300_000 } });
        };
      });
    const before = first.authHeaders();
    await new Promise(setImmediate);
    ports.identityProviders.okta.name = 'rotated';
    ports.identityProviders.okta.answer = undefined;
    const after = await buildToolkit(CONFIG, ports, first).authHeaders();
    answer?.();
    expect([(await before)['authorization'], after['authorization']]).toEqual([
      'Bearer of-before',
      'Bearer rotated-token-2',
    ]);
    expect(await buildToolkit(CONFIG, ports, first).authHeaders()).toMatchObject({
      authorization: 'Bearer rotated-token-2',
    });
  });
});
