import { accept } from '../../domain/shared/option-checks.js';
import { type OptionShape, readOptions } from '../../domain/shared/options.js';
import type { HttpHandler, MountedHandler } from '../../ports/http.js';
import type { ChatHandlerOptions } from './chat.js';
import { currentHandler, UNCONFIGURED_CHAT } from './current-handler.js';
import { CHAT, PROXY, SURFACE_ROUTER, withToolkit } from './route-options.js';
import type { ServiceProxyOptions } from './surfaces.js';
import type { SurfaceRouterOptions } from './surface-router-options.js';
import type { Toolkit } from '../toolkit/toolkit-type.js';
import { withoutTrailingSlashes } from '../../domain/shared/paths.js';

/**
 * Options of the handlers that serve all routes at once: `createNodeHandler` and `createWebHandler`.
 *
 * @public
 */
export interface SiteRoutesOptions {
  /** Path under which the routes are served. Default `/api`. */
  readonly basePath?: string | undefined;
  /** Options of the chat routes at `<basePath>/a2a`. */
  readonly a2a?: ChatHandlerOptions | undefined;
  /** Options of the widget routes at `<basePath>/service-surfaces`. */
  readonly surfaces?: SurfaceRouterOptions | undefined;
  /** Options of the conversation records at `<basePath>/service`. Default: not served, since they need a way to sign in. */
  readonly service?: ServiceProxyOptions | undefined;
  /** Use this toolkit. Default: the one `configureServer` made last. */
  readonly toolkit?: Toolkit | undefined;
}

const SITE: OptionShape<Exclude<keyof SiteRoutesOptions, 'toolkit'>> = {
  options: {
    basePath: accept((value) => typeof value === 'string' && value.startsWith('/'), 'a path that starts with "/"'),
    a2a: CHAT,
    surfaces: SURFACE_ROUTER,
    service: PROXY,
  },
};

/** A route of a site. */
export interface SiteRoute extends MountedHandler {
  /** What it is called in events. */
  readonly route: 'chat' | 'surface' | 'conversation';
}

/**
 * Every route of a site with the path it is mounted at (spec §4.1).
 *
 * @throws ConfigurationError (code `configuration_invalid`) when options are wrong, before the first request.
 */
export function siteRoutes(maker: string, options: SiteRoutesOptions | undefined): readonly SiteRoute[] {
  const { basePath = '/api', a2a, surfaces, service, toolkit } = readOptions(maker, withToolkit(SITE), options);
  const base = withoutTrailingSlashes(basePath);
  const served = (
    route: SiteRoute['route'],
    path: string,
    handlerOf: (current: Toolkit) => HttpHandler,
    unconfigured?: HttpHandler,
  ): SiteRoute => ({ route, mount: base + path, handler: currentHandler(toolkit, handlerOf, unconfigured) });
  return [
    served('chat', '/a2a', (current) => current.chatHandler(a2a), UNCONFIGURED_CHAT),
    served('surface', '/service-surfaces', (current) => current.surfaceRouter(surfaces)),
    ...(service === undefined
      ? []
      : [served('conversation', '/service', (current) => current.conversationHandler(service))]),
  ];
}
