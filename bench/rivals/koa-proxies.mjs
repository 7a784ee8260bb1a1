import { Agent } from 'node:http';
import Koa from 'koa';
import proxy from 'koa-proxies';
import { AUTHORIZATION, serve, upstreamOrigin, upstreamPath } from '../rival-process.mjs';

const app = new Koa();
// It rejects whenever a browser leaves.
app.silent = true;
app.use(
  proxy('/api/a2a', {
    target: upstreamOrigin,
    rewrite: () => upstreamPath,
    agent: new Agent({ keepAlive: true }),
    headers: { authorization: AUTHORIZATION },
  }),
);
serve(app.callback());
