import type { SessionTokenLike } from '../adapters/sessions/session-like.js';
import type { ServerConfig } from './config/server-config.js';
import type { Toolkit } from './toolkit/toolkit-type.js';

// State shared by all copies of this module, in registered symbols of the global object: bundlers give each entry its
// own copy (Next: `instrumentation.ts` and every route). Entries that only mount routes reach the toolkit through it,
// without loading the rest of the package.

/** The version of the package. A toolkit of another one in the same process has other parts. */
export const VERSION = '0.1.0';

/** The result of `configureServer`, and its input. */
export interface ServerState {
  toolkit?: Toolkit;
  /** The one result of all calls of `configureServer`, with the members of the current toolkit. */
  handle?: Toolkit;
  /** The merged configuration: in a function, because it holds secrets, and printing an object does not call its functions. */
  config?: () => ServerConfig;
  /** The session libraries of all routes of that toolkit, even before it exists: the rules for naming users depend on all of them. */
  sessions?: Set<SessionTokenLike>;
}

const STATE_KEY: unique symbol = Symbol.for('agent-bff/state@1') as never;
const shared = globalThis as { [STATE_KEY]?: ServerState };

export function serverState(): ServerState {
  return (shared[STATE_KEY] ??= {});
}

/** The session libraries of all routes that use the toolkit of `configureServer`. */
export function siteSessions(): Set<SessionTokenLike> {
  return (serverState().sessions ??= new Set());
}
