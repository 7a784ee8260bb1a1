import { ServiceAuthError } from '../domain/shared/errors.js';
import type { SessionTokenLike } from '../adapters/sessions/session-like.js';
import type { ServerConfig } from './config/server-config.js';
import type { Toolkit } from './toolkit/toolkit-type.js';

/** What `configureServer` made, and from what. */
export interface ServerState {
  toolkit?: Toolkit;
  /** All it was told so far: in a function, since it holds secrets, and nothing prints what a function gives. */
  config?: () => ServerConfig;
  /** The session libraries of all routes of that toolkit, also before it is made: whose subjects are names depends on all of them. */
  sessions?: Set<SessionTokenLike>;
}

const KEY: unique symbol = Symbol.for('agent-bff/state@1') as never;

/**
 * The process-wide state. On a registered symbol of the global object, because a bundler gives each of its entries its own copy of this module
 * (Next: `instrumentation.ts` and every route).
 */
export function serverState(): ServerState {
  return ((globalThis as { [KEY]?: ServerState })[KEY] ??= {});
}

/** The session libraries of all routes that go by the toolkit of `configureServer`. */
export function siteSessions(): Set<SessionTokenLike> {
  return (serverState().sessions ??= new Set());
}

/** @throws ServiceAuthError when nobody has configured the server. */
export function currentToolkit(): Toolkit {
  const { toolkit } = serverState();
  if (toolkit !== undefined) return toolkit;
  throw new ServiceAuthError('service_auth_failed', {
    detail: 'The server is not configured.',
    hint: 'Call configureServer when the server starts.',
    block: 'configureServer',
  });
}
