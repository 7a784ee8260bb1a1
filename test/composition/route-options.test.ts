import { beforeAll, describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/adapters/fakes/fake-clock.js';
import { FakeIdentityProvider } from '../../src/adapters/fakes/fake-identity-provider.js';
import { FakeTokenExchange } from '../../src/adapters/fakes/fake-token-exchange.js';
import { FakeUpstream } from '../../src/adapters/fakes/fake-upstream.js';
import { RecordingTelemetry } from '../../src/adapters/fakes/recording-telemetry.js';
import * as express from '../../src/composition/express.js';
import * as root from '../../src/composition/index.js';
import * as koa from '../../src/composition/koa.js';
import * as next from '../../src/composition/next.js';
import { createNodeHandler } from '../../src/composition/node.js';
import { createWebHandler } from '../../src/composition/web.js';
import type { AgentBffError } from '../../src/domain/errors.js';
import type { HttpHandler } from '../../src/ports/http.js';
import { browserRequest } from '../adapters/web/browser-request.js';

type Options = Readonly<Record<string, unknown>>;

/** Handlers and routers that were made. */
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

const CONFIG = { a2aUrl: 'https://agent.example/a2a', serviceApiUrl: 'https://api.example', serviceApiKey: 'site-key' };
const site = root.createToolkit(CONFIG, { upstream: new FakeUpstream() });
const toolkit: root.Toolkit = {
  ...site,
  chatHandler: make,
  surfaceRouter: make,
  surfaceHandler: make,
  serviceSurfaceHandler: make,
  conversationHandler: make,
};
const framework = { Router } as never;
const request = new Request('https://site.example/api/a2a/config');
const session = (visit: { readonly user?: string }): string => visit.user ?? 'ada-token';

/** What no option of that name may be. */
const INVALID: Readonly<Record<string, readonly unknown[]>> = {
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
  headers: ['marker', null, { 'x-tenant': 'marker' }],
  forward: ['marker', null, ['x-marker']],
  toolkit: ['marker', null, {}, { chatHandler: () => undefined }],
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
  random: [0.5, null],
  visitor: ['marker', null],
  deadlineMs: [0, -1, Number.NaN, Number.POSITIVE_INFINITY, '50', null],
  sessionCookies: ['marker', [7], null],
  sessionInCookie: ['yes', null],
  accessToken: ['marker', null],
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
};

interface Factory {
  readonly maker: string;
  readonly make: (options: never) => unknown;
  /** Every option it takes. */
  readonly names: readonly string[];
  /** The fewest options it can be called with. */
  readonly fewest?: Options;
  /** Options that contradict each other, and those the error names. */
  readonly conflicts?: readonly (readonly [Options, readonly string[]])[];
}

const USER = ['audience', 'apiKey', 'exchange'];
const FIELDS = ['headers', 'forward'];
const getHeaders = (): object => ({});
const SERVICE = 'service_account';
const noSource = (name: string): NonNullable<Factory['conflicts']> => [
  [{ exchange: 'on_behalf_of' }, [name, 'exchange']],
  [{ audience: 'https://api.example' }, [name, 'audience']],
];
const chat: Omit<Factory, 'maker' | 'make'> = {
  names: ['strategy', 'getSessionToken', 'configGetHeaders', ...USER, ...FIELDS],
  conflicts: [
    [{ strategy: SERVICE, getSessionToken: session }, ['strategy', 'getSessionToken']],
    ...noSource('getSessionToken'),
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
const sessionHeaders = { names: ['authClient', ...USER], fewest: { authClient: session } };
const withToolkit = <Some extends { readonly names: readonly string[] }>(some: Some): Some => ({
  ...some,
  names: ['toolkit', ...some.names],
});
const sessionSource = { names: ['sessionCookies', 'sessionInCookie'] };
const storedToken = { names: ['accessToken', ...sessionSource.names] };
const wholeSite = withToolkit({ names: ['basePath', 'a2a', 'surfaces', 'service'] });

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
  ]),
  {
    maker: 'createA2AProxyHandlerWithServiceAuth',
    make: next.createA2AProxyHandlerWithServiceAuth,
    ...withToolkit({ names: ['apiKey', 'strategy', 'configGetHeaders', ...FIELDS] }),
  },
  {
    maker: 'createA2AProxyHandler',
    make: next.createA2AProxyHandler,
    ...withToolkit({ names: ['idp', 'configGetHeaders', ...USER, ...FIELDS], fewest: { idp: session } }),
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
  { maker: 'createNodeHandler', make: createNodeHandler, ...wholeSite },
  { maker: 'createWebHandler', make: createWebHandler, ...wholeSite },
  { maker: 'getAuthHeaders', make: root.getAuthHeaders, names: ['apiKey', 'strategy'] },
  { maker: 'toolkit.chatHandler', make: site.chatHandler, ...chat },
  { maker: 'toolkit.surfaceRouter', make: site.surfaceRouter, ...surfaceRouter },
  { maker: 'toolkit.surfaceHandler', make: site.surfaceHandler, ...surfaces },
  { maker: 'toolkit.serviceSurfaceHandler', make: site.serviceSurfaceHandler, ...serviceSurfaces },
  { maker: 'toolkit.conversationHandler', make: site.conversationHandler, ...proxy },
  { maker: 'toolkit.authHeaders', make: site.authHeaders, names: ['apiKey', 'strategy'] },
  { maker: 'toolkit.sessionHeaders', make: (options) => site.sessionHeaders(options, {}), ...sessionHeaders },
  { maker: 'toolkit.close', make: (options) => root.createToolkit({}).close(options), names: ['graceMs'] },
  {
    maker: 'createToolkit',
    make: (ports) => root.createToolkit({}, ports),
    names: ['clock', 'upstream', 'telemetry', 'identityProviders', 'tokenExchange', 'identityFetch', 'random'],
  },
  {
    maker: 'rateLimiter',
    make: (options) => root.rateLimiter({ consume: () => Promise.resolve() }, options),
    names: ['visitor', 'deadlineMs'],
  },
  { maker: 'fromFunction', make: (options) => root.fromFunction(session, options), ...sessionSource },
  { maker: 'auth0Session', make: (options) => root.auth0Session({} as never, options), ...sessionSource },
  { maker: 'authJsSession', make: (options) => root.authJsSession({} as never, options), ...storedToken },
  {
    maker: 'nextAuthSession',
    make: (options) => root.nextAuthSession({} as never, options),
    names: ['secret', 'cookieName', 'secureCookie', ...storedToken.names],
  },
  {
    maker: 'betterAuthSession',
    make: (options) => root.betterAuthSession({} as never, options),
    names: ['providerId', ...sessionSource.names],
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
  { maker: 'ironSession', make: (options) => root.ironSession({} as never, options), ...storedToken },
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
    names: ['url', 'policy', 'bindings', 'agentOrigin'],
    fewest: { url: 'https://site.example/api/a2a' },
  },
];

const everyFactory = FACTORIES.map((factory) => ({ ...factory, fewest: factory.fewest ?? {} }));

/** The error of a call, thrown or rejected; nothing may have been made by then. */
async function refusal({ make: call }: Factory, options: unknown): Promise<AgentBffError> {
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

beforeAll(() => {
  root.configureServer(CONFIG);
});

describe.each(everyFactory)('$maker', (factory) => {
  const { maker, names, fewest, conflicts = [] } = factory;
  const taken = names.includes('toolkit') ? { toolkit, ...fewest } : fewest;
  const checked = names.filter((name) => name !== 'params');

  it('takes its options, and counts undefined and an empty string as absent', async () => {
    const call = async (options: unknown): Promise<void> => {
      await (factory.make as (options: unknown) => unknown)(options);
    };
    const optional = names.filter((name) => !Object.hasOwn(taken, name));
    for (const absent of [undefined, '']) {
      const options = { ...Object.fromEntries(optional.map((name) => [name, absent])), ...taken };
      await expect(call(options)).resolves.toBeUndefined();
    }
    if (Object.keys(fewest).length === 0) await expect(call(undefined)).resolves.toBeUndefined();
  });

  it('refuses an unknown option and lists the known ones', async () => {
    const error = await refusal(factory, { ...taken, nonsenseOfNobody: 'marker' });
    expect(error).toMatchObject({
      detail: `Unknown option "nonsenseOfNobody" of ${maker}.`,
      block: maker,
      fields: ['nonsenseOfNobody'],
    });
    const known = /^Known options: (.*)\.$/.exec(error.hint ?? '')?.[1]?.split(', ') ?? [];
    expect(known.toSorted()).toEqual(names.toSorted());
  });

  it.each(names)('refuses a misspelt "%s" and suggests the right name', async (name) => {
    for (const misspelt of [`${name}s`, name.slice(1)]) {
      expect(await refusal(factory, { ...taken, [misspelt]: undefined })).toMatchObject({
        detail: `Unknown option "${misspelt}" of ${maker}.`,
        hint: `Did you mean "${name}"?`,
        block: maker,
        fields: [misspelt],
      });
    }
  });

  it.each(checked)('refuses an invalid value for "%s" and never quotes it', async (name) => {
    const values = INVALID[name] ?? [];
    expect(values.length).toBeGreaterThan(0);
    for (const value of values) {
      const error = await refusal(factory, { ...taken, [name]: value });
      expect(error).toMatchObject({
        detail: `Invalid value for "${name}" of ${maker}.`,
        hint: expect.stringMatching(/^(Set it to|Known values:) .*\.$/) as string,
        block: maker,
        fields: [name],
      });
      expect(error.message).not.toContain('marker');
    }
  });

  it.each(Object.keys(fewest))('refuses to be called without "%s"', async (name) => {
    for (const absent of [undefined, '']) {
      expect(await refusal(factory, { ...taken, [name]: absent })).toMatchObject({
        detail: `Missing option "${name}" of ${maker}.`,
        block: maker,
        fields: [name],
      });
    }
  });

  it.each(conflicts.map(([options, fields]) => ({ options, fields })))(
    'refuses options that contradict each other: $fields',
    async ({ options, fields }) => {
      const error = await refusal(factory, { ...taken, ...options });
      expect(error).toMatchObject({ block: maker, fields });
      for (const name of fields) expect(error.message).toContain(`"${name}"`);
      expect(error.detail).toContain(` of ${maker}.`);
    },
  );

  it('refuses options that are not an object literal', async () => {
    class Settings {}
    for (const options of [null, [], 'marker', '', 7, true, () => undefined, new Map(), new Settings()]) {
      expect(await refusal(factory, options)).toMatchObject({
        detail: `Invalid value for "options" of ${maker}.`,
        block: maker,
      });
    }
    expect(await refusal(factory, site)).toMatchObject({ block: maker, fields: ['chatHandler'] });
  });
});

describe.each([
  { maker: 'createNodeHandler', make: createNodeHandler },
  { maker: 'createWebHandler', make: createWebHandler },
])('the options inside those of $maker', ({ maker, make: call }) => {
  const factory = { maker, make: call, names: [] };

  it.each([
    [{ a2a: { stratgy: SERVICE } }, 'Unknown option "a2a.stratgy"', 'Did you mean "a2a.strategy"?', ['a2a.stratgy']],
    [
      { a2a: { strategy: 'okta' } },
      'Invalid value for "a2a.strategy"',
      'Known values: service_account',
      ['a2a.strategy'],
    ],
    [
      { a2a: { strategy: SERVICE, getSessionToken: session } },
      'Conflicting options "a2a.strategy" and "a2a.getSessionToken"',
      'Keep one of them',
      ['a2a.strategy', 'a2a.getSessionToken'],
    ],
    [
      { surfaces: { cache: { fresMs: 1 } } },
      'Unknown option "surfaces.cache.fresMs"',
      'Did you mean "surfaces.cache.freshMs"?',
      ['surfaces.cache.fresMs'],
    ],
    [
      { surfaces: { audience: 'api' } },
      'Missing option "surfaces.auth"',
      '"surfaces.audience" needs it',
      ['surfaces.auth', 'surfaces.audience'],
    ],
    [{ service: {} }, 'Missing option "service.auth"', 'Set it to', ['service.auth']],
  ])('are named by their path: %o', async (options, detail, hint, fields) => {
    expect(await refusal(factory, { toolkit, ...options })).toMatchObject({
      detail: `${detail} of ${maker}.`,
      hint: expect.stringContaining(hint) as string,
      block: maker,
      fields,
    });
  });
});

describe('the option "cache"', () => {
  it.each([
    [{ enabled: 'yes' }, 'cache.enabled', 'Set it to true or false.'],
    [{ freshMs: -1 }, 'cache.freshMs', 'Set it to a whole number, 0 or more.'],
    [{ maxAgeMs: 1.5 }, 'cache.maxAgeMs', 'Set it to a whole number, 0 or more.'],
    [{ maxEntries: '3' }, 'cache.maxEntries', 'Set it to a whole number, 0 or more.'],
    [{ maxEntryBytes: Number.NaN }, 'cache.maxEntryBytes', 'Set it to a whole number, 0 or more.'],
    [{ fresh: 1 }, 'cache.fresh', 'Did you mean "cache.freshMs"?'],
  ])('refuses %j', (cache, field, hint) => {
    expect(() => next.createSurfaceHandler({ cache: cache as object })).toThrow(
      expect.objectContaining({ block: 'createSurfaceHandler', fields: [field], hint }),
    );
  });
});

describe('the option "forward"', () => {
  const WITHHELD = `
    Authorization proxy-authorization cookie set-cookie www-authenticate proxy-authenticate x-api-key
    X-Project-Id x-ms-token-aad-access-token a2a-version accept accept-encoding host connection
    keep-alive te trailer transfer-encoding upgrade proxy-connection expect
    content-length content-type content-encoding if-none-match range access-control-allow-origin cache-control
    cdn-cache-control x-accel-redirect x-cache content-security-policy`
    .trim()
    .split(/\s+/);
  const makers = [
    { maker: 'createA2ARouter', make: (options: never) => express.createA2ARouter(framework, options) },
    { maker: 'createSurfaceHandler', make: next.createSurfaceHandler },
    { maker: 'toolkit.conversationHandler', make: site.conversationHandler, fewest: { auth: session } },
  ];

  describe.each(makers)('of $maker', ({ maker, make: call, fewest = {} }) => {
    const factory = { maker, make: call as Factory['make'], names: [] };

    it.each(['request', 'response'])('refuses what must never cross, in a %s', async (direction) => {
      for (const name of WITHHELD) {
        const forward = { [direction]: ['x-agent-trace', name] };
        expect(await refusal(factory, { ...fewest, forward })).toMatchObject({
          detail: `Invalid value for "forward.${direction}" of ${maker}.`,
          hint: `Set it to fields that may cross: "${name.toLowerCase()}" never does.`,
          block: maker,
          fields: [`forward.${direction}`],
        });
      }
    });

    it('takes further fields of both directions, however they are spelt', () => {
      const forward = { request: ['Baggage', 'prefer', 'accept-language'], response: ['x-agent-trace', 'Location'] };
      expect(() => factory.make({ ...fewest, forward } as never)).not.toThrow();
      expect(() => factory.make({ ...fewest, forward: { request: [] } } as never)).not.toThrow();
    });

    it.each([[['x marker']], [['x-märker']], [['']], [[7]], ['marker'], [[null]]])(
      'refuses %j, which names no field, and never quotes it',
      async (request) => {
        const error = await refusal(factory, { ...fewest, forward: { request } });
        expect(error).toMatchObject({ block: maker, fields: ['forward.request'] });
        expect(error.message).not.toContain('marker');
      },
    );

    it('refuses a direction that does not exist', async () => {
      expect(await refusal(factory, { ...fewest, forward: { requests: [] } })).toMatchObject({
        hint: 'Did you mean "forward.request"?',
      });
    });
  });

  const renamed = root.createToolkit({ ...CONFIG, upstream: { headers: { apiKey: 'X-Platform-Key' } } });
  const options = { a2a: { forward: { request: ['x-platform-key'] } } };

  it('refuses the field a toolkit sends its API key in, whatever its name', () => {
    const refused = expect.objectContaining({
      detail: 'Invalid value for "a2a.forward.request" of createWebHandler.',
      hint: 'Set it to fields that may cross: "x-platform-key" never does.',
    }) as Error;
    expect(() => createWebHandler({ toolkit: renamed, ...options })).toThrow(refused);
    root.configureServer({ upstream: { headers: { apiKey: 'X-Platform-Key' } } });
    expect(() => createWebHandler(options)).toThrow(refused);
    root.configureServer({ upstream: { headers: { apiKey: '' } } });
  });

  it('is answered with what is wrong where the server is configured only after the route was made', async () => {
    const handle = createWebHandler(options);
    root.configureServer({ upstream: { headers: { apiKey: 'X-Platform-Key' } } });
    const response = await handle(new Request('https://site.example/api/a2a/config'));
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ code: 'configuration_invalid', fields: ['forward.request'] });
    root.configureServer({ upstream: { headers: { apiKey: '' } } });
  });
});

describe('a strategy', () => {
  const okta = root.createToolkit({}, { identityProviders: { okta: new FakeIdentityProvider('okta') } });

  it('may be a provider of the toolkit the route is given', () => {
    expect(() => next.createA2AProxyHandlerWithServiceAuth({ toolkit: okta, strategy: 'okta' })).not.toThrow();
    expect(() => createWebHandler({ toolkit: okta, a2a: { strategy: 'okta' } })).not.toThrow();
    expect(() => okta.chatHandler({ strategy: 'okta' })).not.toThrow();
  });

  it('is refused with the nearest one, those of the toolkit among them', () => {
    expect(() => next.createA2AProxyHandlerWithServiceAuth({ toolkit: okta, strategy: 'oktaa' })).toThrow(
      expect.objectContaining({
        detail: 'Invalid value for "strategy" of createA2AProxyHandlerWithServiceAuth.',
        hint: 'Did you mean "okta"? Known values: service_account, resource_owner_password, client_credentials, okta.',
      }),
    );
  });
});

describe('a misspelt requireSession', () => {
  it('is refused by createSurfaceHandler, which suggests the right name', () => {
    const options = { auth: session, requiresession: true };
    expect(() => next.createSurfaceHandler(options)).toThrow(
      'Unknown option "requiresession" of createSurfaceHandler. Did you mean "requireSession"?',
    );
  });
});

describe('requireSession without auth', () => {
  it.each<[string, (toolkit: root.Toolkit) => Promise<{ readonly status: number; readonly body: unknown }>]>([
    ['toolkit.surfaceHandler', (own) => own.surfaceHandler({ requireSession: true })(RENDER)],
    ['toolkit.surfaceRouter', (own) => own.surfaceRouter({ requireSession: true, auth: undefined })(RENDER)],
  ])('returns 401 session_required without asking the platform: %s', async (_name, visit) => {
    const upstream = new FakeUpstream();
    const response = await visit(root.createToolkit(CONFIG, { upstream }));
    expect(response.status).toBe(401);
    expect(JSON.parse(String(response.body))).toMatchObject({ code: 'session_required' });
    expect(upstream.requests).toEqual([]);
  });

  it('returns 401 from a handler for Next, where false is the same as absent', async () => {
    const visit = (): Request =>
      new Request('https://site.example/api/service-surfaces/poll/render', { method: 'POST' });
    const statuses = [true, false].map(async (requireSession) => {
      return (await next.createSurfaceHandler({ requireSession, toolkit: site })(visit())).status;
    });
    expect(await Promise.all(statuses)).toEqual([401, 200]);
  });

  const RENDER = browserRequest({ method: 'POST', path: '/poll/render' });
});

describe('the ports of a toolkit', () => {
  it('may all be replaced', () => {
    const ports: Required<root.ToolkitPorts> = {
      clock: new FakeClock(),
      upstream: new FakeUpstream(),
      telemetry: new RecordingTelemetry(),
      identityProviders: { okta: new FakeIdentityProvider('okta') },
      tokenExchange: new FakeTokenExchange(),
      identityFetch: fetch,
      random: Math.random,
    };
    expect(() => root.createToolkit({}, ports)).not.toThrow();
  });
});
