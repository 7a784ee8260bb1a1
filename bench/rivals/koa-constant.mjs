import Koa from 'koa';
import { options, serve } from '../rival-process.mjs';
import { SCENARIOS } from '../scenarios.mjs';

const { answer, type } = SCENARIOS[options.scenario ?? 'chat'];
const text = answer.toString();
const app = new Koa();
app.use((context) => {
  context.type = type;
  context.body = text;
});
serve(app.callback());
