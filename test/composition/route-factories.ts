import { expect } from 'vitest';
import { FakeUpstream } from '../../src/adapters/fakes/fakes.js';
import * as express from '../../src/composition/express.js';
import * as root from '../../src/composition/index.js';
import * as koa from '../../src/composition/koa.js';
import * as next from '../../src/composition/next.js';
import { createNodeHandler } from '../../src/composition/node.js';
import { createWebHandler } from '../../src/composition/web.js';
import type { AgentBffError } from '../../src/domain/shared/errors.js';
import type { HttpHandler } from '../../src/ports/http.js';

type Options = Readonly<Record<string, unknown>>;

/** Handlers and routers created so far. */
let made = 0;

const handler: HttpHandler = () => Promise.resolve({ status: 200, headers: {}, body: null });
function make(): HttpHandler {
  made += 1;
  return handler;
}
function Router(): object {
  made += 1;
  return { use: () => undefined, all: () => undefined };
}

export const CONFIG = {
  a2aUrl: 'https://agent.example/a2a',
  serviceApiUrl: 'https://api.example',
  serviceApiKey: 'site-key',
};
export const site = root.createToolkit(CONFIG, { upstream: new FakeUpstream() });
export const toolkit: root.Toolkit = {
  ...site,
  handlers: {
    facts: site.handlers.facts,
    credentials: site.handlers.credentials,
    chat: make,
    surfaces: make,
    conversations: make,
    cardFacts: () => Promise.resolve({ address: '', interfaces: [] }),
  },
};
export const framework = { Router } as never;
const request = new Request('https://site.example/api/a2a/config');
export const session = (visit: { readonly user?: string }): string => visit.user ?? 'ada-token';

/** An invalid value for each option. */
export const INVALID: Readonly<Record<string, readonly unknown[]>> = {
  strategy: ['marker-strategy', 7, null, ['service_account']],
  apiKey: ['marker two words', 'marker\r\nx-injected: 1', 7, null],
  audience: [7, null, ['marker']],
  exchange: ['obo', true, null],
  requireSession: ['true', 1, null],
  getSessionToken: ['marker', null, {}, 7],
  auth: ['marker', null, {}, { api: { getAccessToken: () => 'marker' } }],
  idp: ['marker', null, { getToken: () => 'marker', encode: () => 'marker' }],
  authClient: ['marker', null, {}],
  getHeaders: ['marker', null, { authorization: 'marker' }],
  configGetHeaders: ['marker', null, {}],
  cacheStore: [7, {}, 'http://marker.example'],
  cacheMs: ['marker', 0, -1],
  connectMs: ['marker', -1],
  memoryBytes: ['marker', -1, 0.5],
  headers: ['marker', null, { 'x-tenant': 'marker' }],
  conversations: ['marker', null, true],
  visitorMaxAge: ['marker', null, -1, 0.5],
  metadata: ['marker', null, ['marker']],
  visitorMetadata: ['marker', null, { marker: true }],
  ownsContext: ['marker', null, {}],
  tenant: [7, null, ['marker']],
  forward: ['marker', null, ['x-marker']],
  toolkit: ['marker', null, {}, { handlers: {} }],
  cache: [true, 'marker', null, []],
  basePath: ['api', 7, null],
  a2a: ['marker', null, []],
  surfaces: [true, null],
  service: ['marker', () => 'marker'],
  graceMs: ['10', null],
  clock: [{}, null, 1_700_000_000_000],
  upstream: [{}, { send: () => undefined }],
  telemetry: [{}, null],
  identityProviders: ['marker', { okta: {} }, { okta: null }],
  tokenExchange: [{}, { exchange: () => undefined }],
  identityFetch: ['marker', {}],
  shared: ['marker', {}, { close: () => Promise.resolve() }],
  random: [0.5, null],
  visitor: ['marker', null],
  deadlineMs: [0, -1, Number.NaN, Number.POSITIVE_INFINITY, '50', null],
  sessionCookies: ['marker', [7], null],
  sessionInCookie: ['yes', null],
  accessToken: ['marker', null],
  subject: ['marker', null],
  name: [7, null],
  useAccountCookie: ['yes', null],
  secret: [7, null],
  cookieName: [7, null],
  secureCookie: ['yes', null],
  providerId: [7, null],
  behindAppService: [false, 'true', null],
  sessionName: [7, null],
  client: ['marker', {}, null],
  account: ['marker', null],
  scopes: ['marker', [7], null],
  url: [7, null],
  policy: ['chats', 7, {}, null],
  bindings: ['JSONRPC', [7], null],
  agentOrigin: [7, null],
  platformOrigin: [7, null],
};

export interface Factory {
  readonly maker: string;
  readonly make: (options: never) => unknown;
  /** Every option it takes. */
  readonly names: readonly string[];
  /** The required options. */
  readonly fewest?: Options;
  /** Options that contradict each other, and those the error names. */
  readonly conflicts?: readonly (readonly [Options, readonly string[]])[];
}

const USER = ['audience', 'apiKey', 'exchange'];
const FIELDS = ['headers', 'forward'];
const WHOSE = ['conversations', 'visitor', 'visitorMaxAge', 'ownsContext', 'tenant', 'metadata', 'visitorMetadata'];
const getHeaders = (): object => ({});
export const SERVICE = 'service_account';
const noSource = (name: string): NonNullable<Factory['conflicts']> => [
  [{ exchange: 'on_behalf_of' }, [name, 'exchange']],
  [{ audience: 'https://api.example' }, [name, 'audience']],
];
const chat: Omit<Factory, 'maker' | 'make'> = {
  names: ['strategy', 'auth', 'getSessionToken', 'configGetHeaders', ...WHOSE, ...USER, ...FIELDS],
  conflicts: [
    [{ strategy: SERVICE, getSessionToken: session }, ['strategy', 'getSessionToken']],
    [{ strategy: SERVICE, auth: session }, ['strategy', 'auth']],
    [{ auth: session, getSessionToken: session }, ['auth', 'getSessionToken']],
    ...noSource('auth'),
  ],
};
const surfaces: Omit<Factory, 'maker' | 'make'> = {
  names: ['auth', 'requireSession', 'cache', ...USER, ...FIELDS],
  conflicts: noSource('auth'),
};
const surfaceRouter: Omit<Factory, 'maker' | 'make'> = {
  names: ['getHeaders', 'strategy', ...surfaces.names],
  conflicts: [
    ...noSource('auth'),
    [{ getHeaders, auth: session }, ['getHeaders', 'auth']],
    [{ strategy: SERVICE, auth: session }, ['strategy', 'auth']],
    [{ getHeaders, strategy: SERVICE }, ['getHeaders', 'strategy']],
    [{ getHeaders, requireSession: true }, ['getHeaders', 'requireSession']],
    [{ strategy: SERVICE, requireSession: true }, ['strategy', 'requireSession']],
  ],
};
const serviceSurfaces = { names: ['apiKey', 'cache', 'strategy', ...FIELDS] };
const proxy = { names: ['auth', ...USER, ...FIELDS], fewest: { auth: session } };
const sessionHeaders: Pick<Factory, 'names' | 'fewest' | 'conflicts'> = {
  names: ['auth', 'authClient', ...USER],
  fewest: { auth: session },
  conflicts: [[{ authClient: session }, ['auth', 'authClient']]],
};
const withToolkit = <Some extends { readonly names: readonly string[] }>(some: Some): Some => ({
  ...some,
  names: ['toolkit', ...some.names],
});
const sessionSource = { names: ['name', 'sessionCookies', 'sessionInCookie'] };
const storedToken = { names: ['accessToken', 'subject', ...sessionSource.names] };
const allRoutes = withToolkit({ names: ['a2a', 'surfaces', 'service'] });
const wholeSite = { names: ['basePath', ...allRoutes.names] };

const read = (): Promise<never> => Promise.reject(new Error('not called'));
const client = { getAccessToken: read };

const FACTORIES: readonly Factory[] = [
  ...[express, koa as unknown as typeof express].flatMap((entry): Factory[] => [
    { maker: 'createA2ARouter', make: (options) => entry.createA2ARouter(framework, options), ...withToolkit(chat) },
    {
      maker: 'createServiceSurfaceRouter',
      make: (options) => entry.createServiceSurfaceRouter(framework, options),
      ...withToolkit(surfaceRouter),
    },
    {
      maker: 'createServiceProxyRouter',
      make: (options) => entry.createServiceProxyRouter(framework, options),
      ...withToolkit(proxy),
    },
    { maker: 'createHandlers', make: (options) => entry.createHandlers(framework, options), ...allRoutes },
  ]),
  {
    maker: 'createA2AProxyHandlerWithServiceAuth',
    make: next.createA2AProxyHandlerWithServiceAuth,
    ...withToolkit({ names: ['apiKey', 'strategy', 'configGetHeaders', ...WHOSE, ...FIELDS] }),
  },
  {
    maker: 'createA2AProxyHandler',
    make: next.createA2AProxyHandler,
    ...withToolkit({
      names: ['auth', 'idp', 'configGetHeaders', ...WHOSE, ...USER, ...FIELDS],
      fewest: { auth: session },
      conflicts: [[{ idp: session }, ['auth', 'idp']]],
    }),
  },
  {
    maker: 'handleA2AWebPOST',
    make: (options) => next.handleA2AWebPOST(request, options),
    ...withToolkit({ names: ['params', ...FIELDS] }),
  },
  {
    maker: 'handleA2AConfigWebGET',
    make: (options) => next.handleA2AConfigWebGET(request, options),
    ...withToolkit({ names: ['getHeaders', 'params', ...FIELDS] }),
  },
  {
    maker: 'createSurfaceHandlerWithServiceAuth',
    make: next.createSurfaceHandlerWithServiceAuth,
    ...withToolkit(serviceSurfaces),
  },
  { maker: 'createSurfaceHandler', make: next.createSurfaceHandler, ...withToolkit(surfaces) },
  { maker: 'createServiceProxyHandler', make: next.createServiceProxyHandler, ...withToolkit(proxy) },
  {
    maker: 'createGetHeadersWithServiceAuth',
    make: next.createGetHeadersWithServiceAuth,
    ...withToolkit({ names: ['apiKey', 'strategy'] }),
  },
  {
    maker: 'createGetHeadersForSession',
    make: next.createGetHeadersForSession,
    ...withToolkit(sessionHeaders),
  },
  { maker: 'createHandlers', make: next.createHandlers, ...allRoutes },
  { maker: 'createNodeHandler', make: createNodeHandler, ...wholeSite },
  { maker: 'createWebHandler', make: createWebHandler, ...wholeSite },
  { maker: 'getAuthHeaders', make: root.getAuthHeaders, names: ['apiKey', 'strategy'] },
  { maker: 'toolkit.projectId', make: site.projectId, names: ['apiKey', 'strategy'] },
  { maker: 'toolkit.brandCss', make: site.brandCss, names: ['apiKey', 'strategy'] },
  { maker: 'toolkit.cachedServiceToken', make: site.cachedServiceToken, names: ['apiKey', 'strategy'] },
  { maker: 'toolkit.authHeaders', make: site.authHeaders, names: ['apiKey', 'strategy'] },
  { maker: 'toolkit.sessionHeaders', make: (options) => site.sessionHeaders(options, {}), ...sessionHeaders },
  { maker: 'toolkit.close', make: (options) => root.createToolkit({}).close(options), names: ['graceMs'] },
  {
    maker: 'createToolkit',
    make: (ports) => root.createToolkit({}, ports),
    names: [
      'clock',
      'upstream',
      'telemetry',
      'identityProviders',
      'tokenExchange',
      'identityFetch',
      'random',
      'shared',
    ],
  },
  {
    maker: 'createShared',
    make: root.createShared,
    names: ['cacheStore', 'cacheMs', 'connectMs', 'memoryBytes', 'telemetry'],
  },
  {
    maker: 'rateLimiter',
    make: (options) => root.rateLimiter({ consume: () => Promise.resolve() }, options),
    names: ['visitor', 'deadlineMs'],
  },
  { maker: 'fromFunction', make: (options) => root.fromFunction(session, options), ...sessionSource },
  { maker: 'auth0Session', make: (options) => root.auth0Session(client, options), ...sessionSource },
  { maker: 'authJsSession', make: (options) => root.authJsSession(read, options), ...storedToken },
  {
    maker: 'nextAuthSession',
    make: (options) => root.nextAuthSession(read, options),
    names: ['secret', 'cookieName', 'secureCookie', ...storedToken.names],
  },
  {
    maker: 'betterAuthSession',
    make: (options) => root.betterAuthSession({ api: { ...client, listUserAccounts: read } }, options),
    names: ['providerId', 'useAccountCookie', ...sessionSource.names],
    fewest: { providerId: 'microsoft' },
  },
  {
    maker: 'easyAuthSession',
    make: root.easyAuthSession,
    names: ['behindAppService'],
    fewest: { behindAppService: true },
  },
  { maker: 'expressOpenidConnectSession', make: root.expressOpenidConnectSession, names: ['sessionName'] },
  { maker: 'expressSession', make: root.expressSession, ...storedToken },
  { maker: 'passportSession', make: root.passportSession, ...storedToken },
  { maker: 'ironSession', make: (options) => root.ironSession(read, options), ...storedToken },
  {
    maker: 'msalSession',
    make: root.msalSession,
    names: ['client', 'account', 'scopes', ...sessionSource.names],
    fewest: { client: () => undefined, account: () => null, scopes: ['api://platform/.default'] },
  },
  {
    maker: 'rewriteAgentCard',
    make: (rewrite) =>
      root.rewriteAgentCard({ name: 'Agent', url: 'https://agent.example/a2a', skills: [], capabilities: {} }, rewrite),
    names: ['url', 'policy', 'bindings', 'agentOrigin', 'platformOrigin'],
    fewest: { url: 'https://site.example/api/a2a' },
  },
];

export const everyFactory = FACTORIES.map((factory) => ({ ...factory, fewest: factory.fewest ?? {} }));

/** The error of a call, thrown or rejected. No handler may exist by then. */
export async function refusal({ make: call }: Factory, options: unknown): Promise<AgentBffError> {
  made = 0;
  try {
    await (call as (options: unknown) => unknown)(options);
  } catch (error) {
    expect(made).toBe(0);
    expect(error).toMatchObject({ name: 'ConfigurationError', code: 'configuration_invalid' });
    return error as AgentBffError;
  }
  throw new Error('accepted');
}
