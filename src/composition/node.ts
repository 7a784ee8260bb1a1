import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { type NodeListener, nodeListener } from '../adapters/node/node-listener.js';
import { siteRoutes, type SiteRoutesOptions } from './routes/site-routes.js';
import { noRoute } from './routes/unconfigured-responses.js';

export type { NodeListener } from '../adapters/node/node-listener.js';

/**
 * All routes of the package as one listener for `node:http` and `node:http2`, or as a middleware of a Connect-style
 * host: called with `next`, it passes on requests outside its routes; without, it responds to them with 404. Over
 * HTTP/2, a browser that leaves or a platform that breaks only resets the stream, not the connection.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown, missing, invalid or in conflict with another.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { createNodeHandler } from 'agent-bff/node';
 *
 * createServer(createNodeHandler({ a2a: { strategy: 'service_account' } })).listen(3000);
 * ```
 *
 * @example HTTP/2, and HTTP/1.1 for those who know no other
 * ```ts
 * import { readFileSync } from 'node:fs';
 * import { createSecureServer } from 'node:http2';
 * import { createNodeHandler } from 'agent-bff/node';
 *
 * const tls = { key: readFileSync('key.pem'), cert: readFileSync('cert.pem'), allowHTTP1: true };
 * createSecureServer(tls, createNodeHandler({ a2a: { strategy: 'service_account' } })).listen(3000);
 * ```
 *
 * @public
 */
export function createNodeHandler(options?: SiteRoutesOptions<IncomingMessage | Http2ServerRequest>): NodeListener {
  return nodeListener(siteRoutes('createNodeHandler', options), noRoute);
}

/** `createNodeHandler` under the name that every entry has. */
export { createNodeHandler as createHandlers };
