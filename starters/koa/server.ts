import { createReadStream, existsSync } from 'node:fs';
import Router from '@koa/router';
import { configFromEnv, configureServer } from 'agent-bff';
import { createHandlers } from 'agent-bff/koa';
import Koa from 'koa';

// For development; where the site is deployed, its environment has the variables.
if (existsSync('.env')) process.loadEnvFile();

// A wrong value ends the process here and names the field; a missing one is reported when it is first needed.
configureServer(configFromEnv(process.env));

const app = new Koa();

// The chat at /api/a2a and widgets at /api/service-surfaces. Before any body parser: bodies stream through.
app.use(createHandlers(Router).prefix('/api').routes());

const pages = new Router();
pages.get('/', (context) => {
  context.type = 'html';
  context.body = createReadStream('public/index.html');
});
app.use(pages.routes());

const port = Number(process.env['PORT'] || 3000);
app.listen(port, () => console.log(`http://localhost:${port}`));
