import { type NodeListener, nodeListener } from '../adapters/node/node-listener.js';
import { noSuchRoute } from './current-handler.js';
import { siteRoutes, type SiteRoutesOptions } from './site-routes.js';

export type { NodeListener } from '../adapters/node/node-listener.js';
export type { SessionTokenFunction, SessionTokenLike } from '../adapters/sessions/as-session-token-source.js';
export type { ChatHandlerOptions } from './chat-options.js';
export type { ServiceAuthStrategy } from './config.js';
export type { GetHeaders, HeadersLike } from './config-options.js';
export type { RenderCacheOptions } from './render-cache-options.js';
export type { SiteRoutesOptions } from './site-routes.js';
export type { ServiceProxyOptions } from './surface-options.js';
export type { SurfaceRouterOptions } from './surface-router-options.js';
export type { AuthHeadersOptions, CloseOptions, HealthCheck, Toolkit, ToolkitHealth } from './toolkit-type.js';

/**
 * All routes of the package as one listener for `node:http`, or as a middleware of a Connect-style host:
 * called with `next`, it passes on requests outside its routes; without, it answers them with 404.
 *
 * @throws ConfigurationError (code `configuration_invalid`) when options are wrong or contradict each other.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { createNodeHandler } from 'agent-bff/node';
 *
 * createServer(createNodeHandler({ a2a: { strategy: 'service_account' } })).listen(3000);
 * ```
 *
 * @public
 */
export function createNodeHandler(options: SiteRoutesOptions = {}): NodeListener {
  return nodeListener(siteRoutes(options), noSuchRoute);
}
