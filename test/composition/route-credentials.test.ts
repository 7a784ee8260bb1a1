import { describe, expect, it } from 'vitest';
import {
  FakeIdentityProvider,
  FakeSessionTokenSource,
  FakeTokenExchange,
  FakeUpstream,
  RecordingTelemetry,
} from '../../src/adapters/fakes/fakes.js';
import type { ServerConfig } from '../../src/composition/config/server-config.js';
import { createToolkit } from '../../src/composition/toolkit/toolkit.js';
import type { Toolkit } from '../../src/composition/toolkit/toolkit-type.js';
import type { HttpHandler } from '../../src/ports/http.js';
import { browserRequest } from '../adapters/web/browser-request.js';
import { textOf } from '../contracts/http-upstream.contract.js';
import {
  chatRoute,
  recordRoute,
  serviceSurfaceRoute,
  sessionSurfaceRoute,
  surfaceRoute,
} from '../support/toolkit-routes.js';

function startSite(config: ServerConfig = {}) {
  const upstream = new FakeUpstream();
  const identityProviders = { okta: new FakeIdentityProvider('okta'), ping: new FakeIdentityProvider('ping') };
  const ports = {
    upstream,
    identityProviders,
    tokenExchange: new FakeTokenExchange(),
    telemetry: new RecordingTelemetry(),
  };
  const addresses = { a2aUrl: 'https://agent.example/a2a', serviceApiUrl: 'https://platform.example' };
  const credentials = { serviceAuthStrategy: 'okta' as const, serviceApiKey: 'site-key' };
  return { upstream, toolkit: createToolkit({ ...addresses, ...credentials, ...config }, ports) };
}
/** The token and API key that the upstream receives, or the status of the response. */
async function sent(make: (toolkit: Toolkit) => HttpHandler, path: string, config?: ServerConfig) {
  const { upstream, toolkit } = startSite(config);
  const { status } = await make(toolkit)(browserRequest({ path }));
  const { authorization, 'x-api-key': key } = upstream.requests.at(-1)?.headers ?? {};
  return status === 200 ? [authorization, key] : status;
}
const ada = (): string => 'ada';
const nobody = (): null => null;
const OKTA = 'Bearer okta-token-1';
const PING = 'Bearer ping-token-1';
const ADA = 'Bearer ada';

describe('the credential sent by a route', () => {
  it.each<[string, Parameters<typeof chatRoute>[1], unknown]>([
    ['the configured strategy and key', {}, [OKTA, 'site-key']],
    ['both again when its options are empty', { strategy: '', apiKey: '' }, [OKTA, 'site-key']],
    ['its own strategy and key', { strategy: 'ping', apiKey: 'route-key' }, [PING, 'route-key']],
    ['the token of the user', { getSessionToken: ada, apiKey: 'route-key' }, [ADA, 'route-key']],
    ['the token of the user by the name `auth`', { auth: ada }, [ADA, 'site-key']],
    ['the exchanged token', { auth: ada, exchange: 'on_behalf_of' }, ['Bearer exchanged-ada-1', 'site-key']],
    ['401 without a session', { getSessionToken: nobody }, 401],
  ])('for a chat is %s', async (_what, options, expected) => {
    expect(await sent((toolkit) => chatRoute(toolkit, options), '')).toEqual(expected);
  });

  it.each<[string, Parameters<typeof surfaceRoute>[1], unknown]>([
    ['the configured key', {}, [undefined, 'site-key']],
    ['its own key', { apiKey: 'route-key' }, [undefined, 'route-key']],
    ['the token of its strategy', { strategy: 'ping' }, [PING, 'site-key']],
    ["the site's header field and the key", { getHeaders: () => ({ Authorization: 'own' }) }, ['own', 'site-key']],
    [
      'the key returned by getHeaders',
      { getHeaders: () => ({ 'X-API-Key': 'made' }), apiKey: 'other' },
      [undefined, 'made'],
    ],
    ['the key when getHeaders returns nothing', { getHeaders: nobody }, [undefined, 'site-key']],
    ['the token of the user', { auth: ada }, [ADA, 'site-key']],
    ['the key without a session', { auth: nobody }, [undefined, 'site-key']],
    ['401 when a session is required', { auth: nobody, requireSession: true }, 401],
  ])('for a surface router is %s', async (_what, options, expected) => {
    expect(await sent((toolkit) => surfaceRoute(toolkit, options), '/s-1/render')).toEqual(expected);
  });

  it('for a surface router is the token of the configured strategy when no key is configured', async () => {
    const config = { serviceApiKey: '' };
    expect(await sent((toolkit) => surfaceRoute(toolkit), '/s-1/render', config)).toEqual([OKTA, undefined]);
    const own = { getHeaders: () => ({ authorization: 'own' }) };
    expect(await sent((toolkit) => surfaceRoute(toolkit, own), '/s-1/render', config)).toEqual(['own', undefined]);
  });

  it('for a session surface handler is never the token of the configured strategy, even when no key is configured', async () => {
    expect(await sent((toolkit) => sessionSurfaceRoute(toolkit), '/s-1/render', { serviceApiKey: '' })).toBe(401);
  });

  it.each<[string, (toolkit: Toolkit) => HttpHandler, unknown]>([
    ['a session surface handler is the key', (toolkit) => sessionSurfaceRoute(toolkit), [undefined, 'site-key']],
    [
      "a session surface handler with a session is the user's token",
      (toolkit) => sessionSurfaceRoute(toolkit, { auth: ada }),
      [ADA, 'site-key'],
    ],
    [
      'a session surface handler without a session is the key',
      (toolkit) => sessionSurfaceRoute(toolkit, { auth: nobody }),
      [undefined, 'site-key'],
    ],
    [
      'a service surface handler is the token of the configured strategy',
      (toolkit) => serviceSurfaceRoute(toolkit),
      [OKTA, 'site-key'],
    ],
    [
      'a service surface handler with a strategy is the token of that strategy',
      (toolkit) => serviceSurfaceRoute(toolkit, { strategy: 'ping' }),
      [PING, 'site-key'],
    ],
    ['conversation records without a session is 401', (toolkit) => recordRoute(toolkit, { auth: nobody }), 401],
  ])('for %s', async (_what, make, expected) => {
    expect(await sent(make, '/s-1/render')).toEqual(expected);
  });

  it.each([
    [undefined, 'onBehalfOf', /^Set "provider" in the "onBehalfOf" configuration block, since .* Then: /],
    [{ provider: 'idp_b' }, 'idpBService', /^Fill in the "idpBService" configuration block: "tenantId"/],
  ] as const)('by an exchange configured as %j is 401 with what is missing', async (onBehalfOf, block, hint) => {
    const config = { serviceApiUrl: 'https://platform.example', authProvider: 'okta' as never, onBehalfOf };
    const identityProviders = { okta: new FakeIdentityProvider('okta') };
    const toolkit = createToolkit(config, {
      identityProviders,
      upstream: new FakeUpstream(),
      telemetry: new RecordingTelemetry(),
    });
    const route = recordRoute(toolkit, { auth: ada, exchange: 'on_behalf_of' });
    const { status, body } = await route(browserRequest({ path: '/records' }));
    expect(status).toBe(401);
    expect(JSON.parse(await textOf(body))).toMatchObject({ block, hint: expect.stringMatching(hint) as string });
  });

  it('is requested from the session for the audience of the route', async () => {
    const source = new FakeSessionTokenSource({ kind: 'token', accessToken: 'ada' });
    const audience = 'https://platform.example';
    await sent((toolkit) => chatRoute(toolkit, { getSessionToken: source, audience }), '');
    await sent((toolkit) => sessionSurfaceRoute(toolkit, { auth: source, audience }), '/s-1/render');
    await sent((toolkit) => chatRoute(toolkit, { getSessionToken: source }), '');
    const usual = { forceRefresh: false };
    expect(source.queries).toEqual([{ audience, ...usual }, { audience, ...usual }, usual]);
  });

  it('is requested once for concurrent requests of one session, whichever routes they visit', async () => {
    const source = Object.assign(new FakeSessionTokenSource({ kind: 'token', accessToken: 'ada' }), {
      sessionCookies: ['sid'],
    });
    const { toolkit } = startSite();
    const routes = [chatRoute(toolkit, { auth: source }), recordRoute(toolkit, { auth: source })];
    const headers = { cookie: 'sid=1', host: 'site.example', 'content-type': 'application/json' };
    await Promise.all(routes.map((route) => route(browserRequest({ headers }))));
    expect(source.queries).toHaveLength(1);
  });
});

describe('the render cache', () => {
  it.each([
    [undefined, ['BYPASS', 'BYPASS']],
    [{}, ['BYPASS', 'BYPASS']],
    [{ enabled: false, freshMs: 9_000 }, ['BYPASS', 'BYPASS']],
    [{ enabled: true }, ['MISS', 'HIT']],
  ])('set to %j results in %j', async (cache, expected) => {
    const handler = sessionSurfaceRoute(startSite().toolkit, { cache });
    const render = async () => (await handler(browserRequest({ path: '/s-1/render' }))).headers['x-cache'];
    expect([await render(), await render()]).toEqual(expected);
  });
});
