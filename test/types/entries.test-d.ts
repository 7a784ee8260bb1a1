import { createServer } from 'node:http';
import {
  configFromEnv,
  configureServer,
  createToolkit,
  getAuthHeaders,
  getCachedServiceToken,
  isAgentBffError,
  type ChatHandlerOptions,
  createGetHeadersForSession,
  createGetHeadersWithServiceAuth,
  type ServerConfig,
  type SessionTokenFunction,
  type Toolkit,
} from 'agent-bff';
import { createA2ARouter, createServiceProxyRouter, createServiceSurfaceRouter } from 'agent-bff/express';
import { createNodeHandler } from 'agent-bff/node';
import { FakeUpstream } from 'agent-bff/testing';
import { createWebHandler } from 'agent-bff/web';
import express from 'express';
import express4 from 'express4';
import { describe, expectTypeOf, it } from 'vitest';

describe('the Express entry', () => {
  it('returns the router type of the given framework', () => {
    const router: express.Router = createA2ARouter(express, { strategy: 'service_account' });
    expectTypeOf(router).toEqualTypeOf<express.Router>();
    express().use('/api/a2a', router);
  });

  it('accepts functions with the site’s own request type', () => {
    createA2ARouter(express, {
      getSessionToken: (request: express.Request & { session?: { token: string } }) => request.session?.token ?? null,
    });
  });

  it('types the request of a session function by the framework, with the fields of session libraries', () => {
    createA2ARouter(express4, {
      auth: (request) => {
        expectTypeOf(request.get('authorization')).toEqualTypeOf<string | undefined>();
        return (request.user as { token?: string }).token;
      },
    });
    createWebHandler({ service: { auth: (request) => request.headers.get('authorization') } });
    createNodeHandler({ a2a: { auth: (request) => request.headers.authorization } });
    // @ts-expect-error misspelt
    createServiceProxyRouter(express, { auth: (request) => request.haeders.authorization });
    // @ts-expect-error Express has no such method
    createWebHandler({ surfaces: { auth: (request) => request.get('authorization') } });
  });

  it('accepts a headers function that returns header fields in any standard form', () => {
    createA2ARouter(express, { headers: (request: express.Request) => ({ 'x-tenant': request.get('x-shop') }) });
    createA2ARouter(express, { headers: async () => Promise.resolve(new Headers()) });
    createA2ARouter(express, { headers: () => [['x-tenant', 'acme']] });
    createA2ARouter(express, { headers: (): HeadersInit => ({ 'x-tenant': 'acme' }) });
    createServiceSurfaceRouter(express, { headers: () => undefined });
    // @ts-expect-error a value is a promise
    createA2ARouter(express, { headers: () => ({ 'x-tenant': Promise.resolve('acme') }) });
    // @ts-expect-error an object is not a function
    createA2ARouter(express, { headers: { 'x-tenant': 'acme' } });
  });

  it('accepts names of further fields to forward, by direction', () => {
    const forward = { request: ['prefer'], response: ['x-agent-trace'] } as const;
    createA2ARouter(express, { forward });
    createServiceProxyRouter(express, { auth: () => null, forward });
    createNodeHandler({ a2a: { forward }, surfaces: { forward: { request: ['prefer'] } } });
    // @ts-expect-error misspelt
    createA2ARouter(express, { forward: { requests: ['prefer'] } });
    // @ts-expect-error one name is not a list
    createA2ARouter(express, { forward: { response: 'x-agent-trace' } });
  });

  it('accepts the built-in strategies and the name of a custom one', () => {
    createA2ARouter(express, { strategy: 'client_credentials' });
    createA2ARouter(express, { strategy: 'okta' });
  });

  it('rejects unknown options', () => {
    // @ts-expect-error misspelt
    createA2ARouter(express, { strategie: 'service_account' });
  });
});

describe('functions of the site', () => {
  it('get the request of the framework, and may return its header fields', () => {
    createA2ARouter(express, {
      configGetHeaders: (request) => request.headers,
      getSessionToken: (request) => request.get('authorization'),
      headers: async (request) => Promise.resolve({ ...request.headers, 'x-tenant': undefined }),
    });
    createServiceSurfaceRouter(express, { getHeaders: (request) => Object.entries(request.cookies as object) });
    createA2ARouter(express4, { headers: ({ headers }) => ({ prefer: headers['prefer'] }) });
    createNodeHandler({
      a2a: { configGetHeaders: (request) => request.headers },
      surfaces: { getHeaders: ({ headers }) => [['authorization', String(headers.authorization)]] },
      service: { auth: (request) => request.headers.authorization },
    });
    createWebHandler({
      a2a: { configGetHeaders: (request) => request.headers },
      surfaces: { getHeaders: (request) => new Headers(request.headers) },
      service: { auth: (request) => request.headers.get('authorization') },
    });
  });

  it('can declare a more specific request type, but not an incompatible one', () => {
    type SignedIn = express.Request & { readonly user: { readonly token: string } };
    createServiceProxyRouter(express, { auth: (request: SignedIn) => request.user.token });
    createServiceSurfaceRouter(express, { getHeaders: (request: SignedIn) => ({ authorization: request.user.token }) });
    // @ts-expect-error Express has no Web request
    createServiceSurfaceRouter(express, { getHeaders: (request: Request) => request.headers });
  });

  it('in a separate file fit every entry', () => {
    const auth: SessionTokenFunction = (request) => request.headers.authorization;
    const options: ChatHandlerOptions = { getSessionToken: auth, headers: (request) => request.headers };
    createA2ARouter(express, options);
    createWebHandler({ a2a: options });
    createNodeHandler({ a2a: options });
    createGetHeadersForSession({ authClient: (request) => request.headers.authorization });
  });
});

describe('names of strategies and providers', () => {
  it('are those of this package and those a site declares in OwnProviders, in every place that takes one', () => {
    configureServer({ serviceAuthStrategy: 'service_account', authProvider: 'idp_a' });
    configureServer({ serviceAuthStrategy: 'okta', authProvider: 'okta', onBehalfOf: { provider: 'okta' } });
    configureServer({ ...configFromEnv(process.env), authProvider: '' });
    createA2ARouter(express, { strategy: 'okta' });
    createServiceSurfaceRouter(express, { strategy: 'client_credentials' });
    createGetHeadersWithServiceAuth({ strategy: 'okta' });
  });

  it('do not compile when they are misspelt', () => {
    // @ts-expect-error two letters
    configureServer({ serviceAuthStrategy: 'service_acount' });
    // @ts-expect-error a hyphen
    configureServer({ authProvider: 'idp-a' });
    // @ts-expect-error not declared
    configureServer({ onBehalfOf: { provider: 'octa' } });
    // @ts-expect-error of a route
    createA2ARouter(express, { strategy: 'service_acount' });
    // @ts-expect-error of another route
    createServiceSurfaceRouter(express, { strategy: 'service_acount' });
    // @ts-expect-error of a call
    createGetHeadersWithServiceAuth({ strategy: 'service_acount' });
    // @ts-expect-error variables are read by configFromEnv
    configureServer({ authProvider: process.env['AUTH_PROVIDER'] });
  });
});

describe('the node entry', () => {
  it('returns a listener for node:http', () => {
    createServer(createNodeHandler({ basePath: '/api' }));
  });
});

describe('the root entry', () => {
  it('accepts the field names of the spec', () => {
    expectTypeOf(configureServer).parameter(0).toEqualTypeOf<ServerConfig>();
    expectTypeOf(configureServer({ a2aUrl: 'https://agent.example' })).toEqualTypeOf<Toolkit>();
    // @ts-expect-error misspelt
    configureServer({ a2aURL: 'https://agent.example' });
  });

  it('accepts environment variables that may be undefined', () => {
    const { A2A_URL } = process.env;
    configureServer({ a2aUrl: A2A_URL, serviceAccount: { privateKeyPem: process.env['KEY'] } });
  });

  it('returns headers for fetch, and a token that may be undefined', () => {
    expectTypeOf(getAuthHeaders({ strategy: 'service_account' })).resolves.toEqualTypeOf<Record<string, string>>();
    expectTypeOf(getCachedServiceToken()).toEqualTypeOf<string | undefined>();
    const headers: HeadersInit = {} as Awaited<ReturnType<typeof getAuthHeaders>>;
    expectTypeOf(headers).not.toBeAny();
  });

  it('narrows an unknown error', () => {
    const error: unknown = undefined;
    if (isAgentBffError(error)) expectTypeOf(error.fields).toEqualTypeOf<readonly string[]>();
  });

  it('accepts the fakes of the testing entry as ports', () => {
    createToolkit({}, { upstream: new FakeUpstream() });
  });
});
