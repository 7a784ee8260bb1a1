import { createWebHandler } from 'agent-bff/web';
import { options, serve } from '../rival-process.mjs';
import { benchToolkit, peer } from './site.mjs';

const { getRequestListener } = peer('@hono/node-server');
const { Hono } = peer('hono');
const handler = createWebHandler({
  a2a: { strategy: 'service_account' },
  toolkit: benchToolkit({ a2aUrl: options.upstream }),
});
const app = new Hono();
app.all('/api/*', (context) => handler(context.req.raw));
serve(getRequestListener(app.fetch));
