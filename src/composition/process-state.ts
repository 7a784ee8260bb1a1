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

/** Names the exchange of a process. */
export const EXCHANGE = 'agent-bff/exchange@1';

const STATE_KEY: unique symbol = Symbol.for('agent-bff/state@1') as never;
const EXCHANGE_KEY: unique symbol = Symbol.for(EXCHANGE) as never;
const shared = globalThis as { [STATE_KEY]?: ServerState; readonly [EXCHANGE_KEY]?: Exchange };

export function serverState(): ServerState {
  return (shared[STATE_KEY] ??= {});
}

/** The session libraries of all routes that use the toolkit of `configureServer`. */
export function siteSessions(): Set<SessionTokenLike> {
  return (serverState().sessions ??= new Set());
}

/** The exchange of a process, for all its toolkits: the first one provides it. */
export const processExchange: Exchange = {
  respond: (request, response, respond) => shared[EXCHANGE_KEY]?.respond(request, response, respond) ?? respond(),
  serve: (request, response, respond) =>
    shared[EXCHANGE_KEY]?.serve(request, response, respond) ?? serveFirst(request, response, respond),
  body: (body, response, sendIdleMs) => shared[EXCHANGE_KEY]?.body(body, response, sendIdleMs) ?? null,
};

/** Serves before any toolkit: the response provides the exchange. */
const serveFirst: Exchange['serve'] = async (request, response, respond) => {
  const given = await respond();
  await shared[EXCHANGE_KEY]?.serve(request, response, () => Promise.resolve(given));
};
