// Compiles for a site with Koa. Separate from types.ts: the types of Koa 3 have an error, which only skipLibCheck ignores.
import Router from '@koa/router';
import { createA2ARouter, createServiceProxyRouter, createServiceSurfaceRouter } from 'agent-bff/koa';
import Koa from 'koa';

const chat: Router = createA2ARouter(Router, { strategy: 'service_account' });
const widgets: Router = createServiceSurfaceRouter(Router, { cache: { enabled: true } });
const records: Router = createServiceProxyRouter(Router, { auth: (ctx) => ctx.get('authorization') });
new Koa()
  .use(chat.prefix('/api/a2a').routes())
  .use(widgets.prefix('/api/service-surfaces').routes())
  .use(records.prefix('/api/service').routes());
