import { type ExpressLike, type ExpressLikeRouter, expressRouter } from '../adapters/express/express-router.js';
import { type ChatHandlerOptions, checkChatOptions } from './chat-options.js';
import { currentHandler } from './current-handler.js';
import type { Toolkit } from './toolkit-type.js';

export type { ExpressLike, ExpressLikeRouter } from '../adapters/express/express-router.js';
export type { SessionTokenFunction, SessionTokenLike } from '../adapters/sessions/as-session-token-source.js';
export type { ChatHandlerOptions } from './chat-options.js';
export type { ServiceAuthStrategy } from './config.js';
export type { AuthHeadersOptions, Toolkit } from './toolkit-type.js';

/**
 * Options of `createA2ARouter` (spec §4.3).
 *
 * @public
 */
export interface A2ARouterOptions extends ChatHandlerOptions {
  /** Use this toolkit. Default: the one `configureServer` made last. */
  readonly toolkit?: Toolkit | undefined;
}

/**
 * The chat routes as an Express router, for Express 4 and 5; mount it at `/api/a2a` (spec §4.3).
 * Works before or after `express.json()`.
 *
 * @throws ConfigurationError (code `configuration_invalid`) when options contradict each other.
 *
 * @example
 * ```ts
 * import express from 'express';
 * import { createA2ARouter } from 'agent-bff/express';
 *
 * const app = express();
 * app.use(express.json({ limit: '2mb' }));
 * app.use('/api/a2a', createA2ARouter(express, { strategy: 'service_account' }));
 * app.listen(3000);
 * ```
 *
 * @public
 */
export function createA2ARouter<AnyRouter extends ExpressLikeRouter>(
  framework: ExpressLike<AnyRouter>,
  options: A2ARouterOptions = {},
): AnyRouter {
  const { toolkit, ...chat } = options;
  checkChatOptions(chat, toolkit?.customProviders ?? new Set()); // Wrong options throw here, not at the first request.
  return expressRouter(
    framework,
    currentHandler(toolkit, (current) => current.chatHandler(chat)),
  );
}
