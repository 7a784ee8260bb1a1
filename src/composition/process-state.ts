import type { SessionTokenLike } from '../adapters/sessions/session-like.js';
import type { Exchange } from '../adapters/node/exchange.js';
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
const EXCHANGE_KEY: unique symbol = Symbol.for('agent-bff/exchange@1') as never;
const shared = globalThis as { [STATE_KEY]?: ServerState; readonly [EXCHANGE_KEY]?: Exchange };

export function serverState(): ServerState {
  return (shared[STATE_KEY] ??= {});
}

/** The session libraries of all routes that use the toolkit of `configureServer`. */
export function siteSessions(): Set<SessionTokenLike> {
  return (serverState().sessions ??= new Set());
}

/** The exchange of a process, shared by all its toolkits: the first one provides it. */
export const processExchange: Exchange = {
  respond: (request, response, respond) => shared[EXCHANGE_KEY]?.respond(request, response, respond) ?? respond(),
  serve: (request, response, respond) =>
    shared[EXCHANGE_KEY]?.serve(request, response, respond) ?? serveFirst(request, response, respond),
  settled: () => shared[EXCHANGE_KEY]?.settled() ?? Promise.resolve(),
  body: (body, response, sendIdleMs) => shared[EXCHANGE_KEY]?.body(body, response, sendIdleMs) ?? null,
};

/** Used before any toolkit exists: the response provides the exchange. */
const serveFirst: Exchange['serve'] = async (request, response, respond) => {
  const given = await respond();
  await shared[EXCHANGE_KEY]?.serve(request, response, () => Promise.resolve(given));
};
