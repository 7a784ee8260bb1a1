import { type NodeListener, nodeListener } from '../adapters/node/node-listener.js';
import { type ChatHandlerOptions, checkChatOptions } from './chat-options.js';
import { currentHandler, noSuchRoute, UNCONFIGURED_CHAT } from './current-handler.js';
import type { Toolkit } from './toolkit-type.js';

export type { NodeListener } from '../adapters/node/node-listener.js';
export type { SessionTokenFunction, SessionTokenLike } from '../adapters/sessions/as-session-token-source.js';
export type { ChatHandlerOptions } from './chat-options.js';
export type { ServiceAuthStrategy } from './config.js';
export type { AuthHeadersOptions, Toolkit } from './toolkit-type.js';

/**
 * Options of `createNodeHandler`.
 *
 * @public
 */
export interface NodeHandlerOptions {
  /** Path under which the routes are served. Default `/api`. */
  readonly basePath?: string | undefined;
  /** Options of the chat routes at `<basePath>/a2a`. */
  readonly a2a?: ChatHandlerOptions | undefined;
  /** Use this toolkit. Default: the one `configureServer` made last. */
  readonly toolkit?: Toolkit | undefined;
}

/**
 * All routes of the package as one listener for `node:http`, or as a middleware of a Connect-style host:
 * called with `next`, it passes on requests outside its routes; without, it answers them with 404.
 *
 * @throws ConfigurationError (code `configuration_invalid`) when options contradict each other.
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
export function createNodeHandler(options: NodeHandlerOptions = {}): NodeListener {
  const { basePath = '/api', a2a = {}, toolkit } = options;
  const base = basePath.replace(/\/+$/, '');
  checkChatOptions(a2a, toolkit?.customProviders ?? new Set()); // Wrong options throw here, not at the first request.
  const chat = currentHandler(toolkit, (current) => current.chatHandler(a2a), UNCONFIGURED_CHAT);
  return nodeListener([{ mount: `${base}/a2a`, handler: chat }], noSuchRoute);
}
