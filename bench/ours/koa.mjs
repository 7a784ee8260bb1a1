import { createA2ARouter } from 'agent-bff/koa';
import { options, serve } from '../rival-process.mjs';
import { benchToolkit, peer } from './site.mjs';

const Koa = peer('koa');
const Router = peer('@koa/router');
const toolkit = benchToolkit({ a2aUrl: options.upstream });
const app = new Koa();
app.use(createA2ARouter(Router, { strategy: 'service_account', toolkit }).prefix('/api/a2a').routes());
serve(app.callback());
