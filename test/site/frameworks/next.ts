import { AsyncLocalStorage } from 'node:async_hooks';
import type { RequestListener } from 'node:http';
import type { Toolkit } from 'agent-bff';
import { startNextHere } from '../../support/next-example.js';
import { type Framework, nobody } from '../framework.js';
import { listeningSite } from './listening-site.js';
import { recordRoute, surfaceRoute } from '../../support/toolkit-routes.js';

/** Which site a request came to: there is one Next for all of them. */
const sites = new AsyncLocalStorage<Toolkit>();

let routes: Promise<RequestListener> | undefined;

/** The built example `examples/next` behind a custom server, which keeps the addresses outside the routes to itself. */
export function nextSite(name: string): Framework {
  return {
    name,
    parsesJson: false,
    isWebStandard: true,
    rewritesQuery: true,
    sendsPlainOnly: true,
    resolvesPaths: true,
    start: async ({ toolkit, before, auth = nobody, cache }) => {
      routes ??= startNext();
      const handle = await routes;
      // The route files know nothing of this site's users and renders.
      const site: Toolkit = {
        ...toolkit,
        handlers: {
          credentials: toolkit.handlers.credentials,
          chat: (options) => toolkit.handlers.chat(options),
          surfaces: () => surfaceRoute(toolkit, { auth, cache }),
          conversations: () => recordRoute(toolkit, { auth }),
          cardAddress: (...asked) => toolkit.handlers.cardAddress(...asked),
        },
      };
      return listeningSite((request, response) => {
        const serve = (): void => {
          // As Next itself reads the address: without dot segments.
          const { pathname } = new URL(request.url ?? '', 'http://site.example');
          const isRoute = /^\/api\/(?:a2a|service|service-surfaces)(?:\/|$)/.test(pathname);
          if (isRoute || pathname === '/.well-known/agent-card.json') {
            sites.run(site, () => handle(request, response));
          } else response.end('host');
        };
        if (before === undefined) serve();
        else before(request, response, serve);
      });
    },
  };
}

async function startNext(): Promise<RequestListener> {
  const handle = await startNextHere();
  // What `configureServer` leaves for the copies of the package that Next has bundled into the routes.
  Object.assign(globalThis, {
    [Symbol.for('agent-bff/state@1')]: {
      get toolkit() {
        return sites.getStore();
      },
      // That of `instrumentation.ts`, which Next runs with the first request, serves nobody here.
      set toolkit(_unused) {},
    },
  });
  return handle;
}
