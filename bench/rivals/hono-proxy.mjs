import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { proxy } from 'hono/proxy';
import { AUTHORIZATION, options, serve } from '../rival-process.mjs';

const app = new Hono();
app.post('/api/a2a', (context) =>
  proxy(options.upstream, {
    method: 'POST',
    body: context.req.raw.body,
    signal: context.req.raw.signal,
    duplex: 'half',
    headers: { ...context.req.header(), authorization: AUTHORIZATION },
  }),
);
serve(getRequestListener(app.fetch));
