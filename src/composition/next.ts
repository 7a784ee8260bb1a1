import { type NextRoute, nextRoute } from '../adapters/next/next-route.js';
import { readOptions } from '../domain/shared/options.js';
import { currentHandler, routeHandler, UNCONFIGURED_CHAT } from './routes/current-handler.js';
import type {
  A2AConfigWebOptions,
  A2AProxyHandlerOptions,
  A2AServiceHandlerOptions,
  A2AWebOptions,
  NextServiceProxyOptions,
  NextServiceSurfaceOptions,
  NextSurfaceOptions,
} from './routes/next-options.js';
import {
  NEXT_CONFIG,
  NEXT_MESSAGE,
  NEXT_SERVICE_CHAT,
  NEXT_SESSION_CHAT,
  SERVICE_SURFACES,
} from './routes/next-route-options.js';
import { PROXY, SURFACES, withToolkit } from './routes/route-options.js';
import type { SiteFieldOptions } from './routes/site-fields.js';
import type { ServiceProxyOptions, ServiceSurfaceHandlerOptions, SurfaceHandlerOptions } from './routes/surfaces.js';
import type { Toolkit } from './toolkit/toolkit-type.js';

export type { NextRoute, NextRouteFunction } from '../adapters/next/next-route.js';
export type { SessionTokenFunction, SessionTokenLike } from '../adapters/sessions/as-session-token-source.js';
export type { ServiceAuthStrategy } from './config/server-config.js';
export type { ConfigHandlerOptions, GetHeaders, HeadersLike } from './routes/get-headers-option.js';
export { createGetHeadersForSession, createGetHeadersWithServiceAuth } from './get-headers.js';
export type { HeadersFunction, ServiceHeadersOptions, SessionHeadersOptions } from './get-headers.js';
export type {
  A2AConfigWebOptions,
  A2AProxyHandlerOptions,
  A2AServiceHandlerOptions,
  A2AWebOptions,
  NextServiceProxyOptions,
  NextServiceSurfaceOptions,
  NextSurfaceOptions,
} from './routes/next-options.js';
export type { RenderCacheOptions } from './routes/render-cache-options.js';
export type { ForwardOptions, SiteFieldOptions } from './routes/site-fields.js';
export type { ServiceProxyOptions, ServiceSurfaceHandlerOptions, SurfaceHandlerOptions } from './routes/surfaces.js';
export type { AuthHeadersOptions, CloseOptions, HealthCheck, Toolkit, ToolkitHealth } from './toolkit/toolkit-type.js';

const CHAT = { usual: '/api/a2a' };
const CONFIG = { ...CHAT, fixed: '/config' };
const MESSAGES = { ...CHAT, fixed: '' };
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
    NEXT_SERVICE_CHAT,
    options,
    (current, given) => current.chatHandler(given),
    UNCONFIGURED_CHAT,
  );
  return nextRoute(handler, CHAT);
}

/**
 * The chat routes with the signed-in user's token; without a session they answer 401 (spec §4.2).
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
    NEXT_SESSION_CHAT,
    options,
    (current, { idp, ...given }) => current.chatHandler({ ...given, getSessionToken: idp }),
    UNCONFIGURED_CHAT,
  );
  return nextRoute(handler, CHAT);
}

/**
 * Answers one chat message with the credential of the configured strategy (spec §4.2), wherever its route lies.
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
  const { toolkit, params: _params, ...given } = readOptions('handleA2AWebPOST', withToolkit(NEXT_MESSAGE), options);
  const isUsual = toolkit === undefined && Object.keys(given).length === 0;
  return isUsual ? answerMessage(request) : messageRoute(toolkit, given)(request);
}

function messageRoute(toolkit?: Toolkit, options?: SiteFieldOptions): NextRoute {
  return nextRoute(
    currentHandler(toolkit, (current) => current.chatHandler(options), UNCONFIGURED_CHAT),
    MESSAGES,
  );
}

const answerMessage = messageRoute();

/**
 * Answers with the chat configuration record, looked up with whatever `getHeaders` returns (spec §4.2); the chat lies one segment above its route.
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
  const {
    toolkit,
    params: _params,
    getHeaders,
    ...given
  } = readOptions('handleA2AConfigWebGET', withToolkit(NEXT_CONFIG), options);
  const handler = currentHandler(toolkit, (current) => current.chatHandler({ ...given, configGetHeaders: getHeaders }));
  return nextRoute(handler, CONFIG)(request);
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
export function createSurfaceHandlerWithServiceAuth(options?: NextServiceSurfaceOptions): NextRoute {
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
export function createSurfaceHandler(options?: NextSurfaceOptions): NextRoute {
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
export function createServiceProxyHandler(options: NextServiceProxyOptions): NextRoute {
  return nextRoute(
    routeHandler<ServiceProxyOptions>('createServiceProxyHandler', PROXY, options, (current, given) =>
      current.conversationHandler(given),
    ),
    RECORDS,
  );
}
