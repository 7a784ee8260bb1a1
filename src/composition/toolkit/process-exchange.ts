import type { Exchange } from '../../adapters/node/exchange.js';

// Apart from `process-wide.ts`: what mounts routes loads no more of the package than it needs.

/** Names the exchange of a process. */
export const EXCHANGE = 'agent-bff/exchange@1';

/** The exchange that the first toolkit of a process makes, for all of them. Before, it is made with the first response. */
export const processExchange: Exchange = {
  respond: (request, response, respond) => made()?.respond(request, response, respond) ?? respond(),
  serve: (request, response, respond) =>
    made()?.serve(request, response, respond) ?? serveFirst(request, response, respond),
  body: (body, response, sendIdleMs) => made()?.body(body, response, sendIdleMs) ?? null,
};

const serveFirst: Exchange['serve'] = async (request, response, respond) => {
  const given = await respond();
  await made()?.serve(request, response, () => Promise.resolve(given));
};

function made(): Exchange | undefined {
  return (globalThis as unknown as Readonly<Record<symbol, Exchange | undefined>>)[Symbol.for(EXCHANGE)];
}
