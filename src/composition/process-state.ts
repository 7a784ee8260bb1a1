import type { SessionTokenLike } from '../adapters/sessions/session-like.js';
import type { Exchange } from '../adapters/node/exchange.js';
import type { ServerConfig } from './config/server-config.js';
import type { Toolkit } from './toolkit/toolkit-type.js';

// State that all copies of this module share, on registered symbols of the global object: a bundler gives each of its entries its own copy
// (Next: `instrumentation.ts` and every route). Entries that only mount routes reach the toolkit through it, and load no more of the package.

/** The result of `configureServer`, and its input. */
export interface ServerState {
  toolkit?: Toolkit;
  /** The merged configuration: in a function, since it holds secrets, and nothing prints what a function returns. */
  config?: () => ServerConfig;
  /** The session libraries of all routes of that toolkit, also before it exists: whose subjects are names depends on all of them. */
  sessions?: Set<SessionTokenLike>;
}

const KEY: unique symbol = Symbol.for('agent-bff/state@1') as never;

export function serverState(): ServerState {
  return ((globalThis as { [KEY]?: ServerState })[KEY] ??= {});
}

/** The session libraries of all routes that use the toolkit of `configureServer`. */
export function siteSessions(): Set<SessionTokenLike> {
  return (serverState().sessions ??= new Set());
}

/** Names the exchange of a process. */
export const EXCHANGE = 'agent-bff/exchange@1';

/** The exchange of a process, for all its toolkits: the first one provides it. */
export const processExchange: Exchange = {
  respond: (request, response, respond) => provided()?.respond(request, response, respond) ?? respond(),
  write: (response, given, method) => provided()?.write(response, given, method),
  body: (body, response, sendIdleMs) => provided()?.body(body, response, sendIdleMs) ?? null,
};

function provided(): Exchange | undefined {
  return (globalThis as unknown as Readonly<Record<symbol, Exchange | undefined>>)[Symbol.for(EXCHANGE)];
}
