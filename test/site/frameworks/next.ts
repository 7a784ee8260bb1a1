import { AsyncLocalStorage } from 'node:async_hooks';
import type { RequestListener } from 'node:http';
import type { Toolkit } from 'agent-bff';
import { startNextHere } from '../../support/next-example.js';
import { type Framework, nobody } from '../framework.js';
import { listeningSite } from './listening-site.js';
import { recordRoute, surfaceRoute } from '../../support/toolkit-routes.js';

/** The site of each request. All sites share one Next server. */
const sites = new AsyncLocalStorage<Toolkit>();

let routes: Promise<RequestListener> | undefined;

/** The built example `examples/next` behind a custom server, which handles the addresses outside the routes. */
export function nextSite(name: string): Framework {
  return {
    name,
    parsesJson: false,
    isWebStandard: true,
    rewritesQuery: true,
    refusesWholeTargets: true,
    sendsPlainOnly: true,
    resolvesPaths: true,
    start: async ({ toolkit, before, auth = nobody, cache }) => {
      routes ??= startNext();
      const handle = await routes;
      // The route files have no options for this site's users and cache.
      const site: Toolkit = {
        ...toolkit,
        handlers: {
          facts: toolkit.handlers.facts,
          credentials: toolkit.handlers.credentials,
          // The suite's visitors name their conversations themselves.
          chat: (options) => toolkit.handlers.chat({ ...options, conversations: 'open' }),
          surfaces: () => surfaceRoute(toolkit, { auth, cache }),
          conversations: () => recordRoute(toolkit, { auth }),
          cardFacts: (...asked) => toolkit.handlers.cardFacts(...asked),
        },
      };
      return listeningSite((request, response) => {
        // Next resolves dot segments too.
        const { pathname } = new URL(request.url ?? '', 'http://site.example');
        const isRoute = /^\/api\/(?:a2a|service|service-surfaces)(?:\/|$)/.test(pathname);
        if (isRoute || pathname === '/.well-known/agent-card.json') {
          sites.run(site, () => handle(request, response));
        } else response.end('host');
      }, before);
    },
  };
}

async function startNext(): Promise<RequestListener> {
  const handle = await startNextHere();
  // The global state that `configureServer` shares with the copies of the package bundled into the routes.
  Object.assign(globalThis, {
    [Symbol.for('agent-bff/state@1')]: {
      get toolkit() {
        return sites.getStore();
      },
      // Next runs `instrumentation.ts` with the first request. Its toolkit is not used here.
      set toolkit(_unused) {},
    },
  });
  return handle;
}
