import { createWebHandler } from 'agent-bff/web';
import { H3, type Middleware } from 'h3';
import { toNodeHandler } from 'h3/node';
import { type Framework, nobody } from '../framework.js';
import { listeningSite } from './listening-site.js';

/** h3 2, the HTTP layer of Nitro 3, on Node; `use` runs before the routes. */
export function h3Site(name: string, ...use: readonly Middleware[]): Framework {
  return {
    name,
    parsesJson: false,
    resolvesPaths: true,
    isWebStandard: true,
    start: ({ toolkit, before, auth = nobody, cache }) => {
      const app = new H3();
      for (const one of use) app.use(one);
      const handler = createWebHandler({ toolkit, surfaces: { auth, cache }, service: { auth } });
      for (const path of ['/api/a2a', '/api/service-surfaces', '/api/service']) {
        app.all(`${path}/**`, ({ req }) => handler(req));
      }
      app.all('/.well-known/agent-card.json', ({ req }) =>
        handler(new Request(req.url.replace('/.well-known', '/api/a2a/.well-known'), req)),
      );
      app.all('/**', () => 'host');
      const listener = toNodeHandler(app);
      return listeningSite(listener, before);
    },
  };
}
