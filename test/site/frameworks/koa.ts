import { bodyParser } from '@koa/bodyparser';
import Router from '@koa/router';
import { createA2ARouter, createServiceProxyRouter, createServiceSurfaceRouter } from 'agent-bff/koa';
import Koa, { type Middleware, type ParameterizedContext } from 'koa';
import compress from 'koa-compress';
import mount from 'koa-mount';
import { type Framework, nobody } from '../framework.js';
import { listeningSite } from './listening-site.js';

/** Middleware in front of the routes, and their mount. */
export interface KoaHost {
  readonly bodyParser?: boolean;
  readonly compress?: boolean;
  /** Runs before the routes. */
  readonly use?: Middleware;
  /** Default: each router with its own prefix. */
  readonly mounted?: 'in another router' | 'by koa-mount';
}

/** Koa 3 with its three routers. The router of the records is mounted before the parser, because their bodies stream. */
export function koaSite(name: string, host: KoaHost = {}): Framework {
  return {
    name,
    parsesJson: host.bodyParser === true,
    resolvesPaths: true,
    start: ({ toolkit, before, auth = nobody, cache }) => {
      const app = new Koa();
      app.silent = true; // agents break their streams on purpose here
      if (before !== undefined) {
        app.use(({ req, res }, next) => new Promise((resolve) => before(req, res, () => resolve(next()))));
      }
      if (host.compress === true) app.use(compress());
      if (host.use !== undefined) app.use(host.use);
      app.use((context, next) => {
        if (context.path === '/.well-known/agent-card.json')
          context.originalUrl = context.url = `/api/a2a${context.url}`;
        return next();
      });
      mountIn(app, host, { '/api/service': createServiceProxyRouter(Router, { toolkit, auth }) });
      if (host.bodyParser === true) app.use(bodyParser({ jsonLimit: '2mb', onError: readOn }));
      mountIn(app, host, {
        '/api/a2a': createA2ARouter(Router, { toolkit }),
        '/api/service-surfaces': createServiceSurfaceRouter(Router, { toolkit, auth, cache }),
      });
      app.use((context) => {
        context.body = 'host';
      });
      return listeningSite(app.callback());
    },
  };
}

/** Drains a body that is too large. The parser stops in the middle, and the connection would wait for the rest. */
function readOn(error: Error, { req }: ParameterizedContext): never {
  req.resume();
  throw error;
}

function mountIn(app: Koa, host: KoaHost, routers: Readonly<Record<string, Router>>): void {
  const outer = new Router();
  for (const [path, router] of Object.entries(routers)) {
    if (host.mounted === 'by koa-mount') app.use(mount(path, router.routes() as Middleware));
    else if (host.mounted === undefined) app.use(router.prefix(path).routes());
    else outer.use(path, router.routes());
  }
  app.use(outer.routes());
}
