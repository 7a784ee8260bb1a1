import * as routerModule from '@koa/router';
import Router from '@koa/router';
import Koa from 'koa';
import { createA2ARouter, createServiceProxyRouter, createServiceSurfaceRouter } from 'agent-bff/koa';
import { koaRouter } from '../../../src/adapters/koa/koa-router.js';
import type { HttpHandler } from '../../../src/ports/http.js';
import { type Listener, wholeBodySuite } from '../../support/whole-bodies.js';

/** Must compile: functions of the site get Koa's context and may declare a more specific type. */
export const typed = (): Router[] => [
  createA2ARouter(Router, { configGetHeaders: (context) => context.headers, headers: ({ req }) => req.headers }),
  createServiceSurfaceRouter(Router, { getHeaders: (context) => ({ authorization: context.get('x-token') }) }),
  createServiceProxyRouter(routerModule, { auth: (context: Koa.Context) => context.cookies.get('token') ?? null }),
];

/** The routes at `/api/a2a`. */
function listenerOf(handler: HttpHandler): Listener {
  const app = new Koa();
  app.silent = true;
  app.use(
    koaRouter(Router, () => [{ mount: '', handler }])
      .prefix('/api/a2a')
      .routes(),
  );
  return app.callback() as Listener;
}

wholeBodySuite(listenerOf);
