import { gzipSync } from 'node:zlib';
import { authJsSession, createToolkit, fromFunction, type RequestContext, type SessionTokenSource } from 'agent-bff';
import * as next from 'agent-bff/next';
import { FakeIdentityProvider, FakeTokenExchange, FakeUpstream } from 'agent-bff/testing';
import { describe, expect, it, vi } from 'vitest';
import { nextRoute } from '../../src/adapters/next/next-route.js';
import { MESSAGE } from '../support/visitor.js';

const SITE = 'https://site.example';
const RENDER = '/api/service-surfaces/poll/render';

const post = (path: string, headers: Record<string, string> = {}): Request =>
  new Request(SITE + path, {
    method: 'POST',
    body: MESSAGE,
    headers: { 'content-type': 'application/json', ...headers },
  });

const ADA = fromFunction(() => 'ada-token');

/** A toolkit with a platform that responds to everything. */
function world(config: Parameters<typeof createToolkit>[0] = {}) {
  const upstream = new FakeUpstream();
  const identityProviders = { demo: new FakeIdentityProvider('demo') };
  const toolkit = createToolkit(
    {
      a2aUrl: 'https://agent.example/a2a',
      serviceApiUrl: 'https://platform.example/api',
      serviceApiKey: 'the-key',
      serviceAuthStrategy: 'demo',
      ...config,
    },
    { upstream, identityProviders, tokenExchange: new FakeTokenExchange() },
  );
  return {
    upstream,
    toolkit,
    sent: () => upstream.requests.map(({ path, headers }) => [path, headers['authorization']]),
  };
}

it('a Next route fails on a decompression bomb and not on a large body', async () => {
  const answering = (body: Uint8Array) =>
    nextRoute(() => Promise.resolve({ status: 200, headers: { 'content-encoding': 'gzip' }, body }), {
      usual: '/api/a2a',
    })(post('/api/a2a'));
  const large = gzipSync(Buffer.alloc(8_388_608));
  expect((await (await answering(large)).arrayBuffer()).byteLength).toBe(8_388_608);
  const bomb = gzipSync(Buffer.alloc(134_217_728));
  const reader = (await answering(bomb)).body?.getReader();
  let size = 0;
  const readAll = async (): Promise<void> => {
    for (let step = await reader?.read(); step?.done === false; step = await reader?.read()) size += step.value.length;
  };
  await expect(readAll()).rejects.toThrow('expanded excessively');
  expect(size).toBeLessThan(33_554_432);
});

describe('the handlers for Next', () => {
  it('send chat messages with the service credential', async () => {
    const { toolkit, sent } = world();
    await next.createA2AProxyHandlerWithServiceAuth({ toolkit }).POST(post('/api/a2a'));
    await next.createA2AProxyHandlerWithServiceAuth({ toolkit, strategy: 'demo' })(post('/api/a2a'));
    await next.handleA2AWebPOST(post('/api/anything'), { toolkit });
    expect(sent()).toEqual([1, 2, 3].map(() => ['/a2a', 'Bearer demo-token-1']));
  });

  it('send chat messages with the user’s token or its exchange', async () => {
    const { toolkit, sent } = world();
    await next.createA2AProxyHandler({ idp: ADA, toolkit })(post('/api/a2a'));
    await next.createA2AProxyHandler({ auth: ADA, exchange: 'on_behalf_of', toolkit })(post('/api/a2a'));
    const [[, own], [, exchanged]] = sent() as [[string, string], [string, string]];
    expect(own).toBe('Bearer ada-token');
    expect(exchanged).not.toBe(own);
    expect(exchanged).toContain('ada-token');
  });

  it('return the configuration and the card with the headers of getHeaders', async () => {
    const { toolkit, upstream } = world({ serviceProjectId: 'project-1' });
    const card = JSON.stringify({ name: 'Agent', url: 'https://agent.example/a2a' });
    upstream.willAnswer(() => ({ status: 200, headers: { 'content-type': 'application/json' }, body: card }));
    const getHeaders = (request: Request) => ({ authorization: `Custom ${request.headers.get('x-user') ?? ''}` });
    const request = new Request(`${SITE}/api/a2a/config`, { headers: { 'x-user': 'ada' } });
    const alone = await next.handleA2AConfigWebGET(request, { getHeaders, toolkit });
    const route = next.createA2AProxyHandlerWithServiceAuth({ toolkit, configGetHeaders: getHeaders });
    const below = await route.GET(request, { params: Promise.resolve({ path: ['config'] }) });
    for (const answer of [alone, below]) {
      expect(await answer.json()).toMatchObject({ serviceProjectId: 'project-1', a2aEndpoint: '/api/a2a' });
    }
    const path = '/api/a2a/.well-known/agent-card.json';
    for (const context of [undefined, { params: Promise.resolve({ path: path.split('/').slice(3) }) }]) {
      const found = await route.GET(new Request(SITE + path, { headers: { 'x-user': 'ada' } }), context);
      expect(await found.json()).toMatchObject({ name: 'Agent', url: `${SITE}/api/a2a` });
    }
    expect(upstream.requests.length).toBeGreaterThan(0);
    for (const { headers } of upstream.requests) expect(headers['authorization']).toBe('Custom ada');
  });

  it('render widgets with the credential of their options', async () => {
    const { toolkit, sent } = world();
    await next.createSurfaceHandlerWithServiceAuth({ toolkit })(post(RENDER));
    await next.createSurfaceHandler({ toolkit })(post(RENDER));
    await next.createSurfaceHandler({ auth: ADA, requireSession: true, toolkit })(post(RENDER));
    const path = '/api/surfaces/poll/render';
    expect(sent()).toEqual([
      [path, 'Bearer demo-token-1'],
      [path, undefined],
      [path, 'Bearer ada-token'],
    ]);
  });

  it('forward records with the user’s token', async () => {
    const { toolkit, sent } = world();
    const route = next.createServiceProxyHandler({ auth: ADA, toolkit });
    await route.GET(new Request(`${SITE}/api/service/conversations/7?x=1`));
    expect(sent()).toEqual([['/api/conversations/7?x=1', 'Bearer ada-token']]);
  });

  it('name configureServer when it was not called', async () => {
    // The handlers keep their last configuration, perhaps from another file.
    vi.resetModules();
    const fresh = await import('agent-bff/next');
    const answers = [
      await fresh.handleA2AWebPOST(post('/api/a2a')),
      await fresh.handleA2AConfigWebGET(new Request(`${SITE}/api/a2a/config`)),
      await fresh.createSurfaceHandler()(post(RENDER)),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(401);
      expect(await answer.text()).toContain('Call configureServer when the server starts');
    }
  });
});

describe('a session that is refreshed under Next', () => {
  /** A library that writes the new session on a Node response, as Auth0's does. */
  function refreshing(): SessionTokenSource & { calls: number } {
    const auth0 = {
      calls: 0,
      getAccessToken: (
        request: { headers: Record<string, string> },
        response: { appendHeader(n: string, v: string): void },
      ) => {
        auth0.calls += 1;
        expect(request.headers['cookie']).toBe('__session=old');
        response.appendHeader('set-cookie', '__session__0=new; Path=/; Expires=Wed, 21 Oct 2099 07:28:00 GMT');
        response.appendHeader('set-cookie', '__session__1=er; Path=/');
        return Promise.resolve({ token: 'ada-token', expiresAt: 4_000_000_000 });
      },
    };
    return auth0 as never;
  }

  it('is sent with every response that shared the refresh, one field per cookie', async () => {
    const { toolkit } = world();
    const library = refreshing();
    const route = next.createA2AProxyHandler({ idp: library, toolkit });
    const answers = await Promise.all([1, 2, 3].map(() => route(post('/api/a2a', { cookie: '__session=old' }))));
    expect(library.calls).toBe(1);
    for (const { status, headers } of answers) {
      expect(status).toBe(200);
      expect(headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0])).toEqual([
        '__session__0=new',
        '__session__1=er',
      ]);
    }
  });

  it('is read by auth() of Auth.js from the header fields', async () => {
    const { toolkit, sent } = world();
    const calls: unknown[][] = [];
    const auth = (...parameters: unknown[]): Promise<object> => {
      calls.push(parameters);
      return Promise.resolve({ accessToken: 'bob-token' });
    };
    await next.createA2AProxyHandler({ idp: authJsSession(auth), toolkit })(
      post('/api/a2a', { cookie: 'authjs.session-token=x' }),
    );
    expect(sent()).toEqual([['/a2a', 'Bearer bob-token']]);
    const [request] = calls[0] as [RequestContext];
    expect(request).not.toBeInstanceOf(Request);
    expect(request.headers).toMatchObject({ cookie: 'authjs.session-token=x' });
  });
});
