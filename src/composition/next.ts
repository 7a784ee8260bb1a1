import { type MountRule, type NextRoute, nextRoute, nextRoutes } from '../adapters/next/next-route.js';
import { callback, type OptionShape } from '../domain/shared/options.js';
import type { SessionTokenLike } from '../adapters/sessions/session-like.js';
import {
  conversationHandler,
  currentHandler,
  noSuchRoute,
  readRouteOptions,
  routeHandler,
  UNCONFIGURED_CHAT,
} from './routes/current-handler.js';
import { SERVICE_SURFACES, service, session, siteFields, source, SURFACES } from './routes/option-shapes.js';
import type {
  AuthHeadersOptions,
  ChatHandlerOptions,
  GetHeaders,
  ServiceProxyOptions,
  ServiceSurfaceHandlerOptions,
  SessionOptions,
  SiteFieldOptions,
  SurfaceHandlerOptions,
} from './routes/route-options.js';

import { handlerRoutes, type HandlersOptions } from './routes/site-routes.js';
import type { Toolkit, ToolkitOption } from './toolkit/toolkit-type.js';

export type { NextRoute } from '../adapters/next/next-route.js';
export { createGetHeadersForSession, createGetHeadersWithServiceAuth } from './get-headers.js';

/**
 * Options of `createA2AProxyHandlerWithServiceAuth` (spec §4.2).
 *
 * @public
 */
export interface A2AServiceHandlerOptions extends AuthHeadersOptions, SiteFieldOptions<Request>, ToolkitOption {
  /** Makes the headers of the config route's look-ups, from Next's request. Default: the credential of the chat. */
  readonly configGetHeaders?: GetHeaders<Request> | undefined;
}

/**
 * Options of `createA2AProxyHandler` (spec §4.2).
 *
 * @public
 */
export interface A2AProxyHandlerOptions extends SessionOptions, SiteFieldOptions<Request>, ToolkitOption {
  /** Gives the signed-in user's token, such as the `Auth0Client` of `@auth0/nextjs-auth0` or `auth` of Auth.js 5. */
  readonly idp: SessionTokenLike;
  /** Makes the headers of the config route's look-ups, from Next's request. Default: the credential of the chat. */
  readonly configGetHeaders?: GetHeaders<Request> | undefined;
}

/**
 * Options of `handleA2AWebPOST`.
 *
 * @public
 */
export interface A2AWebOptions extends SiteFieldOptions<Request>, ToolkitOption {
  /** What Next gives every route; not looked at. */
  readonly params?: unknown;
}

/**
 * Options of `handleA2AConfigWebGET` (spec §4.2).
 *
 * @public
 */
export interface A2AConfigWebOptions extends A2AWebOptions {
  /** Whatever it returns are the credentials of the look-ups. Default: the credential of the chat route. */
  readonly getHeaders?: GetHeaders<Request> | undefined;
}

/** The options each function takes besides `toolkit`. */
type ShapeOf<Options> = OptionShape<Exclude<keyof Options, 'toolkit'> & string>;

const SERVICE_CHAT: ShapeOf<A2AServiceHandlerOptions> = {
  options: { configGetHeaders: callback, ...service, ...siteFields },
};

const SESSION_CHAT: ShapeOf<A2AProxyHandlerOptions> = {
  options: { idp: source, configGetHeaders: callback, ...session, ...siteFields },
  required: ['idp'],
};

const MESSAGE: ShapeOf<A2AWebOptions> = { options: { params: () => undefined, ...siteFields } };

const LOOKUPS: ShapeOf<A2AConfigWebOptions> = { options: { getHeaders: callback, ...MESSAGE.options } };

const SITE = { usual: '/api' };
const CHAT = { usual: '/api/a2a' };
const CONFIG = { usual: '/api/a2a', fixed: '/config' };
const MESSAGES = { usual: '/api/a2a', fixed: '' };
const WIDGETS = { usual: '/api/service-surfaces' };
const RECORDS = { usual: '/api/service' };

/**
 * The chat routes with the service credential (spec §4.2). In `app/api/a2a/[[...path]]/route.ts` they serve `/config` and the agent card too.
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
  const handler = routeHandler<Omit<A2AServiceHandlerOptions, 'toolkit'>>(
    'createA2AProxyHandlerWithServiceAuth',
    SERVICE_CHAT,
    options,
    (current, given) => current.chatHandler(given),
    UNCONFIGURED_CHAT,
  );
  return nextRoute(handler, CHAT);
}

/**
 * The chat routes with the signed-in user's token; without a session they respond 401 (spec §4.2).
 * In `app/api/a2a/[[...path]]/route.ts` they serve `/config` and the agent card too.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown, missing, invalid or in conflict with another.
 *
 * @example
 * ```ts
 * import { createA2AProxyHandler } from 'agent-bff/next';
 * import { auth0 } from './lib/auth0.js';
 *
 * export const { GET, POST } = createA2AProxyHandler({ idp: auth0 });
 * ```
 *
 * @public
 */
export function createA2AProxyHandler(options: A2AProxyHandlerOptions): NextRoute {
  const handler = routeHandler<Omit<A2AProxyHandlerOptions, 'toolkit'>>(
    'createA2AProxyHandler',
    SESSION_CHAT,
    options,
    (current, { idp, ...given }) => current.chatHandler({ ...given, getSessionToken: idp }),
    UNCONFIGURED_CHAT,
  );
  return nextRoute(handler, CHAT);
}

/**
 * Responds to one chat message with the credential of the configured strategy (spec §4.2), wherever its route lies.
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
 * Responds with the chat configuration record, looked up with whatever `getHeaders` returns (spec §4.2); the chat lies one segment above its route.
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
export async function handleA2AConfigWebGET(request: Request, options?: A2AConfigWebOptions): Promise<Response> {
  return serveConfig(request, options);
}

const serveMessage = webRoute('handleA2AWebPOST', MESSAGE, MESSAGES);
const serveConfig = webRoute('handleA2AConfigWebGET', LOOKUPS, CONFIG);

/** One chat route, whose options come with each request; without any, its handler is made once. */
function webRoute(
  maker: string,
  shape: ShapeOf<A2AWebOptions> | ShapeOf<A2AConfigWebOptions>,
  rule: MountRule,
): (request: Request, options: A2AConfigWebOptions | undefined) => Promise<Response> {
  const route = (toolkit?: Toolkit, options?: ChatHandlerOptions): NextRoute =>
    nextRoute(
      currentHandler(toolkit, (current) => current.chatHandler(options), UNCONFIGURED_CHAT),
      rule,
    );
  const usual = route();
  return async (request, options) => {
    const read = readRouteOptions<A2AConfigWebOptions>(maker, shape as ShapeOf<A2AConfigWebOptions>, options);
    const { params: _params, ...given } = read;
    if (Object.keys(given).length === 0) return usual(request);
    const { toolkit, getHeaders, ...fields } = given;
    return route(toolkit, { ...fields, configGetHeaders: getHeaders })(request);
  };
}

/**
 * The widget routes with the service credential (spec §4.2), for `app/api/service-surfaces/[...path]/route.ts`.
 * Only render, actions and theme.css are served; everything else is 404 and reaches nobody.
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
  return nextRoute(
    routeHandler<ServiceSurfaceHandlerOptions>(
      'createSurfaceHandlerWithServiceAuth',
      SERVICE_SURFACES,
      options,
      (current, given) => current.serviceSurfaceHandler(given),
    ),
    WIDGETS,
  );
}

/**
 * The widget routes with the API key, and with `auth` the signed-in user's token (spec §4.2), for `app/api/service-surfaces/[...path]/route.ts`.
 * Only render, actions and theme.css are served; everything else is 404 and reaches nobody.
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
  return nextRoute(
    routeHandler<SurfaceHandlerOptions>('createSurfaceHandler', SURFACES, options, (current, given) =>
      current.surfaceHandler(given),
    ),
    WIDGETS,
  );
}

/**
 * The proxy for conversation records, for signed-in users only (spec §4.2), for `app/api/service/[...path]/route.ts`.
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
  return nextRoute(conversationHandler('createServiceProxyHandler', options), RECORDS);
}

/**
 * All routes of the package as one route handler, for a catch-all file such as `app/api/[...path]/route.ts`:
 * chat at `/a2a`, widgets at `/service-surfaces`, and conversation records at `/service` where `service` is given. More exact route files of the site keep their addresses.
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
  return nextRoutes(handlerRoutes(options), noSuchRoute, SITE);
}
