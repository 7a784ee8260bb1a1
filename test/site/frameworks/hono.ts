import { getRequestListener } from '@hono/node-server';
import { createWebHandler } from 'agent-bff/web';
import { Hono, type MiddlewareHandler } from 'hono';
import { type Framework, nobody } from '../framework.js';
import { listeningSite } from './listening-site.js';

/** Hono 4 on Node; `use` runs before the routes. */
export function honoSite(name: string, ...use: readonly MiddlewareHandler[]): Framework {
  return {
    name,
    parsesJson: false,
    resolvesPaths: true,
    isWebStandard: true,
    start: ({ toolkit, before, auth = nobody, cache }) => {
      const app = new Hono();
      for (const middleware of use) app.use(middleware);
      const handler = createWebHandler({ toolkit, surfaces: { auth, cache }, service: { auth } });
      for (const path of ['/api/a2a', '/api/service-surfaces', '/api/service']) {
        app.all(`${path}/*`, (context) => handler(context.req.raw));
      }
      app.all('/.well-known/agent-card.json', ({ req }) =>
        handler(new Request(req.url.replace('/.well-known', '/api/a2a/.well-known'), req.raw)),
      );
      app.notFound((context) => context.text('host', 200));
      // Otherwise other frameworks in this process would get Hono's own `Response`.
      const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false, autoCleanupIncoming: false });
      return listeningSite(listener, before);
    },
  };
}
