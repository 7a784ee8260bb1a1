import { type NextRoute, nextRoute, nextRoutes } from '../adapters/next/next-route.js';
import { callback } from '../domain/shared/options.js';
import { sessionHint as source, type SessionTokenLike } from '../adapters/sessions/session-like.js';
import { chatFields, service, session, siteFields } from './routes/route-shapes.js';
import type {
  AuthHeadersOptions,
  ConversationOptions,
  GetHeaders,
  ServiceProxyOptions,
  ServiceSurfaceHandlerOptions,
  SessionOptions,
  SiteFieldOptions,
  SurfaceHandlerOptions,
} from './routes/route-options.js';
import {
  handlerRoutes,
  type HandlersOptions,
  readRouteOptions,
  type RouteDefinition,
  routeHandler,
  ROUTES,
  SERVICE_SURFACES_ROUTE,
  SESSION_SURFACES_ROUTE,
} from './routes/site-routes.js';
import { noRoute } from './routes/unconfigured-responses.js';
import type { ToolkitOption } from './toolkit/toolkit-type.js';

export type { NextRoute } from '../adapters/next/next-route.js';
export { createGetHeadersForSession, createGetHeadersWithServiceAuth } from './get-headers.js';

/**
 * Options of `createA2AProxyHandlerWithServiceAuth`.
 *
 * @public
 */
export interface A2AServiceHandlerOptions
  extends AuthHeadersOptions, SiteFieldOptions<Request>, ConversationOptions<Request>, ToolkitOption {
  /** Returns the headers for the config route's look-ups, from Next's request. Default: the credential of the chat. */
  readonly configGetHeaders?: GetHeaders<Request> | undefined;
}

/**
 * Options of `createA2AProxyHandler`.
 *
 * @public
 */
export interface A2AProxyHandlerOptions
  extends SessionOptions, SiteFieldOptions<Request>, ConversationOptions<Request>, ToolkitOption {
  /** Provides the signed-in user's token, such as the `Auth0Client` of `@auth0/nextjs-auth0` or `auth` of Auth.js 5. Required, by this name or as `idp`. */
  readonly auth?: SessionTokenLike<Request> | undefined;
  /** The same as `auth`, which is the name on every route. */
  readonly idp?: SessionTokenLike<Request> | undefined;
  /** Returns the headers for the config route's look-ups, from Next's request. Default: the credential of the chat. */
  readonly configGetHeaders?: GetHeaders<Request> | undefined;
}

/**
 * Options of `handleA2AWebPOST` and `handleA2AConfigWebGET`.
 *
 * @public
 */
export interface A2AWebOptions extends SiteFieldOptions<Request>, ToolkitOption {
  /** Passed by Next to every route; ignored. */
  readonly params?: unknown;
}

type ConfigOptions = A2AWebOptions & { readonly getHeaders?: GetHeaders<Request> | undefined };

type RouteOf<Options extends ToolkitOption> = RouteDefinition<Omit<Options, 'toolkit'>>;

const SERVICE_CHAT: RouteOf<A2AServiceHandlerOptions> = {
  ...ROUTES.a2a,
  shape: { options: { ...service, ...chatFields } },
};

const SESSION_CHAT: RouteOf<A2AProxyHandlerOptions> = {
  ...ROUTES.a2a,
  shape: {
    options: { auth: source, idp: source, ...session, ...chatFields },
    aliases: { auth: 'idp' },
    required: ['auth'],
  },
};

const MESSAGE: RouteOf<A2AWebOptions> = {
  ...ROUTES.a2a,
  shape: { options: { params: () => undefined, ...siteFields } },
};

const CONFIG: RouteOf<ConfigOptions> = {
  ...ROUTES.a2a,
  shape: { options: { getHeaders: callback, ...MESSAGE.shape.options } },
  make: (site, { getHeaders, ...options }) => site.chat({ ...options, configGetHeaders: getHeaders }),
};

/**
 * The chat routes with the service credential. In `app/api/a2a/[[...path]]/route.ts` they also serve
 * `/config` and the agent card.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown, missing, invalid or in conflict with another.
 *
 * @example
 * ```ts
 * import { createA2AProxyHandlerWithServiceAuth } from 'agent-bff/next';
 *
 * export const { GET, POST } = createA2AProxyHandlerWithServiceAuth({ strategy: 'service_account' });
 * ```
 *
 * @public
 */
export function createA2AProxyHandlerWithServiceAuth(options?: A2AServiceHandlerOptions): NextRoute {
  return mounted(SERVICE_CHAT, 'createA2AProxyHandlerWithServiceAuth', options);
}

/**
 * The chat routes with the signed-in user's token; without a session they respond with 401. In
 * `app/api/a2a/[[...path]]/route.ts` they also serve `/config` and the agent card.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown, missing, invalid or in conflict with another.
 *
 * @example
 * ```ts
 * import { createA2AProxyHandler } from 'agent-bff/next';
 * import { auth0 } from './lib/auth0.js';
 *
 * export const { GET, POST } = createA2AProxyHandler({ auth: auth0 });
 * ```
 *
 * @public
 */
export function createA2AProxyHandler(
  options: A2AProxyHandlerOptions &
    ({ readonly auth: SessionTokenLike<Request> } | { readonly idp: SessionTokenLike<Request> }),
): NextRoute {
  return mounted(SESSION_CHAT, 'createA2AProxyHandler', options);
}

/**
 * Responds to one chat message with the credential of the configured strategy, at any path.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown, missing, invalid or in conflict with another.
 *
 * @example
 * ```ts
 * import { handleA2AWebPOST } from 'agent-bff/next';
 *
 * export const POST = (request: Request) => handleA2AWebPOST(request);
 * ```
 *
 * @public
 */
export async function handleA2AWebPOST(request: Request, options?: A2AWebOptions): Promise<Response> {
  return serveMessage(request, options);
}

/**
 * Responds with the chat configuration record. `getHeaders` returns the headers that are the credential of its look-ups;
 * default: the credential of the chat route, which is one segment above this route.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown, missing, invalid or in conflict with another.
 *
 * @example
 * ```ts
 * import { createGetHeadersWithServiceAuth, handleA2AConfigWebGET } from 'agent-bff/next';
 *
 * const getHeaders = createGetHeadersWithServiceAuth();
 * export const GET = (request: Request) => handleA2AConfigWebGET(request, { getHeaders });
 * ```
 *
 * @public
 */
export async function handleA2AConfigWebGET(
  request: Request,
  options?: A2AWebOptions & { readonly getHeaders?: GetHeaders<Request> | undefined },
): Promise<Response> {
  return serveConfig(request, options);
}

const serveMessage = chatRoute(MESSAGE, 'handleA2AWebPOST', '');
const serveConfig = chatRoute(CONFIG, 'handleA2AConfigWebGET', '/config');

/** One chat route at its path below the chat. Options may differ per request; without any, its handler is created once. */
function chatRoute<Options extends A2AWebOptions>(
  row: RouteOf<Options>,
  maker: string,
  path: string,
): (request: Request, options: Options | undefined) => Promise<Response> {
  const rule = { usual: `/api${row.mount}`, fixed: path };
  const route = (options?: Options): NextRoute => nextRoute(routeHandler(row, maker, options), rule);
  const shared = route();
  return async (request, options) => {
    const { params: _params, ...given } = readRouteOptions<A2AWebOptions>(maker, row.shape as never, options);
    return (Object.keys(given).length === 0 ? shared : route(options))(request);
  };
}

/** A route at its usual mount point. */
function mounted<Options extends object>(
  row: RouteDefinition<Options>,
  maker: string,
  options: (Options & ToolkitOption) | undefined,
): NextRoute {
  return nextRoute(routeHandler(row, maker, options), { usual: `/api${row.mount}` });
}

/**
 * The widget routes with the service credential, for `app/api/service-surfaces/[...path]/route.ts`. Only render,
 * actions and theme.css are served; other paths are 404 and are not forwarded.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown, missing, invalid or in conflict with another.
 *
 * @example
 * ```ts
 * import { createSurfaceHandlerWithServiceAuth } from 'agent-bff/next';
 *
 * export const { GET, POST } = createSurfaceHandlerWithServiceAuth({ cache: { enabled: true } });
 * ```
 *
 * @public
 */
export function createSurfaceHandlerWithServiceAuth(
  options?: ServiceSurfaceHandlerOptions<Request> & ToolkitOption,
): NextRoute {
  return mounted(SERVICE_SURFACES_ROUTE, 'createSurfaceHandlerWithServiceAuth', options);
}

/**
 * The widget routes with the API key, and with `auth` the signed-in user's token, for
 * `app/api/service-surfaces/[...path]/route.ts`. Only render, actions and theme.css are served; other paths are 404 and
 * are not forwarded.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown, missing, invalid or in conflict with another.
 *
 * @example
 * ```ts
 * import { createSurfaceHandler } from 'agent-bff/next';
 * import { auth0 } from './lib/auth0.js';
 *
 * export const { GET, POST } = createSurfaceHandler({ auth: auth0, requireSession: true });
 * ```
 *
 * @public
 */
export function createSurfaceHandler(options?: SurfaceHandlerOptions<Request> & ToolkitOption): NextRoute {
  return mounted(SESSION_SURFACES_ROUTE, 'createSurfaceHandler', options);
}

/**
 * The proxy for conversation records, for signed-in users only, for `app/api/service/[...path]/route.ts`.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown, missing, invalid or in conflict with another.
 *
 * @example
 * ```ts
 * import { createServiceProxyHandler } from 'agent-bff/next';
 * import { auth0 } from './lib/auth0.js';
 *
 * export const { GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE } = createServiceProxyHandler({ auth: auth0 });
 * ```
 *
 * @public
 */
export function createServiceProxyHandler(options: ServiceProxyOptions<Request> & ToolkitOption): NextRoute {
  return mounted(ROUTES.service, 'createServiceProxyHandler', options);
}

/**
 * All routes of the package as one route handler, for a catch-all file such as `app/api/[...path]/route.ts`: chat at
 * `/a2a`, widgets at `/service-surfaces`, and conversation records at `/service` if `service` is set. More specific
 * route files of the site take precedence.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown, missing, invalid or in conflict with another.
 *
 * @example
 * ```ts
 * // app/api/[...path]/route.ts
 * import { createHandlers } from 'agent-bff/next';
 *
 * export const { GET, POST, PUT, PATCH, DELETE } = createHandlers({ a2a: { strategy: 'service_account' } });
 * ```
 *
 * @public
 */
export function createHandlers(options?: HandlersOptions<Request>): NextRoute {
  return nextRoutes(handlerRoutes(options), noRoute, { usual: '/api' });
}
