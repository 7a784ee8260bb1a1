// `any` stands for the request of a framework that is not known; each entry gives the type of its own.
/* oxlint-disable typescript/no-explicit-any */

import { accept } from '../../domain/shared/options.js';
import { withoutTrailingSlashes } from '../../domain/shared/paths.js';
import type { HttpHandler, MountedHandler } from '../../ports/http.js';
import type { Toolkit, ToolkitOption } from '../toolkit/toolkit-type.js';
import { currentHandler, noteSession, readRouteOptions, UNCONFIGURED_CHAT } from './current-handler.js';
import { CHAT, PROXY, SURFACE_ROUTER } from './option-shapes.js';
import type { ChatHandlerOptions, ServiceProxyOptions, SurfaceRouterOptions } from './route-options.js';

/**
 * Options of the functions that serve all routes: `createHandlers`, `createNodeHandler` and `createWebHandler`.
 *
 * @public
 */
export interface HandlersOptions<NativeRequest = any> extends ToolkitOption {
  /** Options of the chat routes at `/a2a` below the mount point. */
  readonly a2a?: ChatHandlerOptions<NativeRequest> | undefined;
  /** Options of the widget routes at `/service-surfaces` below the mount point. */
  readonly surfaces?: SurfaceRouterOptions<NativeRequest> | undefined;
  /** Options of the conversation records at `/service` below the mount point. Default: not served, since they need a way to sign in. */
  readonly service?: ServiceProxyOptions<NativeRequest> | undefined;
}

/**
 * Options of `createNodeHandler` and `createWebHandler`, which are given whole addresses and so have a mount point of their own.
 *
 * @public
 */
export interface SiteRoutesOptions<NativeRequest = any> extends HandlersOptions<NativeRequest> {
  /** Path under which the routes are served. Default `/api`. */
  readonly basePath?: string | undefined;
}

const ROUTES = { a2a: CHAT, surfaces: SURFACE_ROUTER, service: PROXY };

/**
 * Every route of a site with the path it is mounted at (spec §4.1).
 *
 * @throws ConfigurationError (code `configuration_invalid`) when options are wrong, before the first request.
 */
export function siteRoutes(maker: string, options: SiteRoutesOptions | undefined): readonly MountedHandler[] {
  // Made here, so that entries which do not need it leave it out.
  const path = accept((value) => typeof value === 'string' && value.startsWith('/'), 'a path that starts with "/"');
  const shape = { options: { basePath: path, ...ROUTES } };
  const { basePath = '/api', ...given } = readRouteOptions<SiteRoutesOptions>(maker, shape, options);
  const base = withoutTrailingSlashes(basePath);
  return routesOf(given).map(({ mount, handler }) => ({ mount: base + mount, handler }));
}

/** The same below a path at which the framework mounts them. */
export function handlerRoutes(options: HandlersOptions | undefined): readonly MountedHandler[] {
  return routesOf(readRouteOptions<HandlersOptions>('createHandlers', { options: ROUTES }, options));
}

function routesOf({ a2a, surfaces, service, toolkit }: HandlersOptions): readonly MountedHandler[] {
  if (toolkit === undefined) for (const options of [a2a, surfaces]) noteSession(options);
  const route = (
    mount: string,
    handlerOf: (current: Toolkit) => HttpHandler,
    unconfigured?: HttpHandler,
  ): MountedHandler => ({ mount, handler: currentHandler(toolkit, handlerOf, unconfigured) });
  const routes = [
    route('/a2a', (current) => current.chatHandler(a2a), UNCONFIGURED_CHAT),
    route('/service-surfaces', (current) => current.surfaceRouter(surfaces)),
  ];
  if (service) routes.push(route('/service', (current) => current.conversationHandler(service)));
  return routes;
}
