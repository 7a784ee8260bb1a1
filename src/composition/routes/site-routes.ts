import { accept } from '../../domain/shared/option-checks.js';
import type { OptionShape } from '../../domain/shared/options.js';
import { withoutTrailingSlashes } from '../../domain/shared/paths.js';
import type { HttpHandler, MountedHandler } from '../../ports/http.js';
import type { Toolkit, ToolkitOption } from '../toolkit/toolkit-type.js';
import { currentHandler, readRouteOptions, UNCONFIGURED_CHAT } from './current-handler.js';
import { CHAT, PROXY, SURFACE_ROUTER } from './option-shapes.js';
import type { ChatHandlerOptions, ServiceProxyOptions, SurfaceRouterOptions } from './route-options.js';

/**
 * Options of the handlers that serve all routes at once: `createNodeHandler` and `createWebHandler`.
 *
 * @public
 */
export interface SiteRoutesOptions extends ToolkitOption {
  /** Path under which the routes are served. Default `/api`. */
  readonly basePath?: string | undefined;
  /** Options of the chat routes at `<basePath>/a2a`. */
  readonly a2a?: ChatHandlerOptions | undefined;
  /** Options of the widget routes at `<basePath>/service-surfaces`. */
  readonly surfaces?: SurfaceRouterOptions | undefined;
  /** Options of the conversation records at `<basePath>/service`. Default: not served, since they need a way to sign in. */
  readonly service?: ServiceProxyOptions | undefined;
}

const SITE: OptionShape<Exclude<keyof SiteRoutesOptions, 'toolkit'>> = {
  options: {
    basePath: accept((value) => typeof value === 'string' && value.startsWith('/'), 'a path that starts with "/"'),
    a2a: CHAT,
    surfaces: SURFACE_ROUTER,
    service: PROXY,
  },
};

/**
 * Every route of a site with the path it is mounted at (spec §4.1).
 *
 * @throws ConfigurationError (code `configuration_invalid`) when options are wrong, before the first request.
 */
export function siteRoutes(maker: string, options: SiteRoutesOptions | undefined): readonly MountedHandler[] {
  const {
    basePath = '/api',
    a2a,
    surfaces,
    service,
    toolkit,
  } = readRouteOptions<SiteRoutesOptions>(maker, SITE, options);
  const route = (
    path: string,
    handlerOf: (current: Toolkit) => HttpHandler,
    unconfigured?: HttpHandler,
  ): MountedHandler => ({
    mount: withoutTrailingSlashes(basePath) + path,
    handler: currentHandler(toolkit, handlerOf, unconfigured),
  });
  const routes = [
    route('/a2a', (current) => current.chatHandler(a2a), UNCONFIGURED_CHAT),
    route('/service-surfaces', (current) => current.surfaceRouter(surfaces)),
  ];
  if (service) routes.push(route('/service', (current) => current.conversationHandler(service)));
  return routes;
}
