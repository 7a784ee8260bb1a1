import { createToolkit, type ServerConfig, type Toolkit } from 'agent-bff';
import { FakeIdentityProvider, FakeUpstream, RecordingTelemetry } from 'agent-bff/testing';
import { describe, expect, it } from 'vitest';
import type { HttpHandler, HttpResponse } from '../../src/ports/http.js';
import { browserRequest } from '../adapters/web/browser-request.js';
import { textOf } from '../contracts/http-upstream.contract.js';
import { chatRoute, serviceSurfaceRoute, sessionSurfaceRoute, surfaceRoute } from '../support/toolkit-routes.js';

const CONFIG: ServerConfig = {
  a2aUrl: 'https://agent.example/a2a',
  serviceApiUrl: 'https://platform.example/api',
  timeouts: { identityProviderMs: 30, sessionMs: 30 },
};
const never = <T>(): Promise<T> => new Promise(() => undefined);

interface Problem {
  readonly code: string;
  readonly block: string;
  readonly retryable: boolean;
}

async function problem(response: HttpResponse): Promise<Problem> {
  return JSON.parse(await textOf(response.body)) as Problem;
}

function site(ports: Parameters<typeof createToolkit>[1] = {}, config: ServerConfig = CONFIG) {
  const telemetry = new RecordingTelemetry();
  const upstream = new FakeUpstream();
  const toolkit: Toolkit = createToolkit(config, { upstream, telemetry, ...ports });
  return { toolkit, upstream, telemetry };
}

const render = (handler: HttpHandler, headers = {}): Promise<HttpResponse> =>
  handler(browserRequest({ path: '/s-1/render', headers: { 'content-type': 'application/json', ...headers } }));

describe('a promise of the site that never settles', () => {
  it('in a session library ends in 401 after the deadline', async () => {
    const { toolkit, upstream, telemetry } = site();
    const handler = sessionSurfaceRoute(toolkit, { auth: () => never<string>(), requireSession: true });
    const response = await render(handler);
    expect(response.status).toBe(401);
    expect(await problem(response)).toMatchObject({ code: 'identity_provider_unavailable', block: 'session' });
    expect(upstream.requests).toEqual([]);
    expect(telemetry.of('error')[0]?.detail).toContain('the session library did not respond within 30 ms');
  });

  it('in a session library fails every waiting request, and the next request calls the library again', async () => {
    const { toolkit } = site();
    let calls = 0;
    const auth = {
      sessionCookies: ['sid'],
      getToken: () =>
        (calls += 1) === 1 ? never<never>() : Promise.resolve({ kind: 'token', accessToken: 't' } as const),
    };
    const handler = sessionSurfaceRoute(toolkit, { auth, requireSession: true });
    const cookie = { cookie: 'sid=1' };
    const together = await Promise.all([render(handler, cookie), render(handler, cookie)]);
    expect(together.map(({ status }) => status)).toEqual([401, 401]);
    expect((await render(handler, cookie)).status).toBe(200);
    expect(calls).toBe(2);
  });

  it('in getHeaders ends in 401 after the deadline', async () => {
    const { toolkit, telemetry } = site();
    const response = await render(surfaceRoute(toolkit, { getHeaders: () => never() }));
    expect(response.status).toBe(401);
    expect(await problem(response)).toMatchObject({ code: 'service_auth_failed', block: 'getHeaders' });
    expect(telemetry.of('error')[0]?.detail).toContain('did not respond within 30 ms');
  });

  it('in configGetHeaders ends in 401 after the deadline', async () => {
    const { toolkit } = site();
    const handler = chatRoute(toolkit, { strategy: 'service_account', configGetHeaders: () => never() });
    const response = await handler(browserRequest({ method: 'GET', path: '/config', body: null }));
    expect(response.status).toBe(401);
    expect(await problem(response)).toMatchObject({ code: 'service_auth_failed', block: 'getHeaders' });
  });

  it.each(['issue', 'identity'] as const)(
    'in %s of an identity provider ends in 401 after the deadline',
    async (call) => {
      const provider = new FakeIdentityProvider('okta', 'okta');
      Object.assign(provider, { [call]: () => never() });
      const config = { ...CONFIG, serviceAuthStrategy: 'okta' as const };
      const { toolkit, upstream } = site({ identityProviders: { okta: provider } }, config);
      const responses = await Promise.all([1, 2, 3].map(() => render(serviceSurfaceRoute(toolkit))));
      expect(responses.map(({ status }) => status)).toEqual([401, 401, 401]);
      for (const response of responses) {
        expect(await problem(response)).toMatchObject({ code: 'identity_provider_unavailable', retryable: true });
      }
      expect(upstream.requests).toEqual([]);
    },
  );

  it.each(['exchange', 'identity'] as const)(
    'in %s of a token exchange ends in 401 after the deadline',
    async (call) => {
      const exchange = {
        identity: () => ({ principal: 'x', proof: '' }),
        exchange: () => never<never>(),
        [call]: () => never<never>(),
      };
      const { toolkit, upstream } = site({ tokenExchange: exchange });
      const auth = (): string => 'users-own-token';
      const response = await render(
        sessionSurfaceRoute(toolkit, { auth, requireSession: true, exchange: 'on_behalf_of' }),
      );
      expect(response.status).toBe(401);
      expect(await problem(response)).toMatchObject({ code: 'identity_provider_unavailable', block: 'onBehalfOf' });
      expect(upstream.requests).toEqual([]);
    },
  );

  it.each([
    ['written by the site', {}],
    ['that is a Keyv', { on: never, store: {} }],
  ])('in a cache store %s delays a request by the deadline only', async (_what, members) => {
    const cacheStore = { get: never, set: never, delete: never, ...members } as never;
    const config = { ...CONFIG, serviceApiKey: 'key', cacheStore, timeouts: { cacheMs: 30 } };
    const { toolkit, telemetry } = site({}, config);
    const response = await render(sessionSurfaceRoute(toolkit, { cache: { enabled: true } }));
    expect(response.status).toBe(200);
    expect(telemetry.of('cache_fault')[0]).toMatchObject({
      operation: 'get',
      detail: expect.stringMatching(/^Error TIMEOUT after \d+ ms$/),
    });
  });
});
