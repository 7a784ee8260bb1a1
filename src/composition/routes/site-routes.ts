// `any` is the request of an unknown framework; each entry sets its own type.
/* oxlint-disable typescript/no-explicit-any */

import type { SessionTokenLike } from '../../adapters/sessions/session-like.js';
import { accept, type Given, type ShapeOf } from '../../domain/shared/options.js';
import { withoutTrailingSlashes } from '../../domain/shared/paths.js';
import type { HttpHandler, MountedHandler } from '../../ports/http.js';
import { serverState, siteSessions, VERSION } from '../process-state.js';
import type { RouteHandlers } from '../toolkit/site-handlers.js';
import type { Toolkit, ToolkitOption } from '../toolkit/toolkit-type.js';
import { readWithFacts } from './route-option-reader.js';
import {
  ALL_ROUTES,
  CHAT,
  PROXY,
  type RouteFacts,
  type RouteShape,
  SERVICE_SURFACES,
  SESSION_SURFACES,
  SURFACE_ROUTER,
} from './route-shapes.js';
import type {
  ChatHandlerOptions,
  ServiceProxyOptions,
  ServiceSurfaceHandlerOptions,
  SurfaceHandlerOptions,
  SurfaceRouterOptions,
} from './route-options.js';
import { notConfigured, unusable } from './unconfigured-responses.js';

/**
 * Options of the functions that serve all routes: `createHandlers`, `createNodeHandler` and `createWebHandler`.
 *
 * @public
 */
export interface HandlersOptions<NativeRequest = any> extends ToolkitOption {
  /** Options of the chat routes at `…/a2a`. */
  readonly a2a?: ChatHandlerOptions<NativeRequest> | undefined;
  /** Options of the widget routes at `…/service-surfaces`. */
  readonly surfaces?: SurfaceRouterOptions<NativeRequest> | undefined;
  /** Options of the conversation records at `…/service`. Default: not served, since they need sign-in. */
  readonly service?: ServiceProxyOptions<NativeRequest> | undefined;
}

/**
 * Options of `createNodeHandler` and `createWebHandler`, which receive whole addresses and so have their own mount
 * point.
 *
 * @public
 */
export interface SiteRoutesOptions<NativeRequest = any> extends HandlersOptions<NativeRequest> {
  /** Path below which the routes are served. Default `/api`. */
  readonly basePath?: string | undefined;
}

/** @internal One route of a site. */
export interface RouteDefinition<Options extends object> {
  readonly shape: ShapeOf<Options, RouteFacts>;
  /** Its path below the common mount point. */
  readonly mount: string;
  /** True if it caches data of the users of `auth`. */
  readonly caches?: boolean;
  readonly make: (site: RouteHandlers, options: Options) => HttpHandler;
}

/** @internal Every route by its option of `createHandlers`. */
export const ROUTES: {
  readonly [Name in Exclude<keyof HandlersOptions, 'toolkit'>]: RouteDefinition<NonNullable<HandlersOptions[Name]>>;
} = {
  a2a: {
    shape: CHAT,
    mount: '/a2a',
    caches: true,
    make: (site, options) => site.chat(options),
  },
  surfaces: {
    shape: SURFACE_ROUTER,
    mount: '/service-surfaces',
    caches: true,
    make: (site, options) => site.surfaces(site.credentials.surfaceRouter(options), options),
  },
  service: {
    shape: PROXY,
    mount: '/service',
    make: (site, options) => site.conversations(options),
  },
};

/** @internal The widget routes with the API key, or the signed-in user's token. */
export const SESSION_SURFACES_ROUTE: RouteDefinition<SurfaceHandlerOptions> = {
  ...ROUTES.surfaces,
  shape: SESSION_SURFACES,
  make: (site, options) => site.surfaces(site.credentials.surfaces(options), options),
};

/** @internal The widget routes with the service credential. */
export const SERVICE_SURFACES_ROUTE: RouteDefinition<ServiceSurfaceHandlerOptions> = {
  ...ROUTES.surfaces,
  shape: SERVICE_SURFACES,
  make: (site, options) => site.surfaces(site.credentials.service(options), options),
};

const TOOLKIT = accept(
  (value) => (value as Toolkit | null)?.version === VERSION,
  'a result of createToolkit, of this version of agent-bff',
);

const basePath = accept((value) => typeof value === 'string' && value.startsWith('/'), 'a path that starts with "/"');

/** Without a toolkit, there are no providers of the site. */
const NO_FACTS: RouteFacts = { customProviders: new Set(), ownFields: [] };

/**
 * Reads the options of a function that accepts a toolkit; without one, the current toolkit decides which values are
 * valid.
 *
 * @throws ConfigurationError naming `maker`, before any request.
 */
export function readRouteOptions<Options extends ToolkitOption>(
  maker: string,
  shape: RouteShape<Exclude<keyof Options, 'toolkit'> & string>,
  options: Options | undefined,
): Given<Options> {
  // Checked first: the other checks depend on it.
  const taken = { ...shape, options: { toolkit: TOOLKIT, ...shape.options } } as unknown;
  const toolkit: Partial<Toolkit> | undefined = options?.toolkit ?? serverState().toolkit;
  const facts = toolkit?.handlers?.facts ?? NO_FACTS;
  return readWithFacts<Options>(maker, taken as RouteShape<keyof Options & string>, options, facts);
}

/**
 * @internal
 * The handler of a route, of the toolkit in its options or else of the current one.
 *
 * @throws ConfigurationError naming `maker`, the function the site called, before any request.
 */
export function routeHandler<Options extends object>(
  { shape, caches, make }: RouteDefinition<Options>,
  maker: string,
  options: (Options & ToolkitOption) | undefined,
): HttpHandler {
  type Read = Options & Given<ToolkitOption & { readonly auth?: SessionTokenLike | undefined }>;
  const read = (all: typeof options): Read => readRouteOptions<ToolkitOption>(maker, shape as never, all) as Read;
  const given = read(options);
  // The handle of `configureServer` stands for the current toolkit.
  if (given.toolkit !== undefined && given.toolkit !== serverState().handle) return make(given.toolkit.handlers, given);
  if (caches === true && given.auth !== undefined) siteSessions().add(given.auth);
  // Read again: another toolkit has other strategies and fields.
  return currentHandler((toolkit) => make(toolkit.handlers, read({ ...(options as Options), toolkit })));
}

/** @internal The route alone, for a framework that mounts it where the site says. */
export function soleRoute<Options extends object>(
  route: RouteDefinition<Options>,
  maker: string,
  options: (Options & ToolkitOption) | undefined,
): readonly MountedHandler[] {
  return [{ mount: '', handler: routeHandler(route, maker, options) }];
}

/**
 * Every route of a site with the path it is mounted at.
 *
 * @throws ConfigurationError (code `configuration_invalid`) when options are wrong, before the first request.
 */
export function siteRoutes(maker: string, options: SiteRoutesOptions | undefined): readonly MountedHandler[] {
  const shape = { options: { basePath, ...ALL_ROUTES.options } };
  const { basePath: path = '/api', ...given } = readRouteOptions<SiteRoutesOptions>(maker, shape, options);
  const base = withoutTrailingSlashes(path);
  return routesOf(maker, given).map(({ mount, handler }) => ({ mount: base + mount, handler }));
}

/** Every route below a path at which the framework mounts them. */
export function handlerRoutes(options: HandlersOptions | undefined): readonly MountedHandler[] {
  const maker = 'createHandlers';
  return routesOf(maker, readRouteOptions<HandlersOptions>(maker, ALL_ROUTES, options));
}

function routesOf(maker: string, { toolkit, ...given }: HandlersOptions): readonly MountedHandler[] {
  return Object.entries<RouteDefinition<any>>(ROUTES).flatMap(([name, route]) => {
    const options = given[name as keyof typeof ROUTES];
    if (options === undefined && route.shape.required) return [];
    return { mount: route.mount, handler: routeHandler(route, maker, { ...options, toolkit }) };
  });
}

/** @throws ServiceAuthError before `configureServer`. */
export function currentToolkit(): Toolkit {
  const { toolkit } = serverState();
  if (toolkit !== undefined) return toolkit;
  throw notConfigured();
}

/** A handler of the toolkit that is current at the time of a request, so that a later `configureServer` takes effect. */
function currentHandler(handlerOf: (toolkit: Toolkit) => HttpHandler): HttpHandler {
  let known: Toolkit | undefined;
  let handler: HttpHandler = (request) => unusable(request);
  return (request) => {
    const { toolkit } = serverState();
    if (toolkit !== undefined && toolkit !== known) {
      known = toolkit;
      try {
        handler = handlerOf(toolkit);
      } catch (error) {
        // For options that only this toolkit rejects, such as a field that carries its API key.
        handler = (refused) => unusable(refused, error);
      }
    }
    return handler(request);
  };
}
