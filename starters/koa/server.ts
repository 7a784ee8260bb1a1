import { existsSync } from 'node:fs';
import Router from '@koa/router';
import { configFromEnv, configureServer } from 'agent-bff';
import { createHandlers } from 'agent-bff/koa';
import Koa from 'koa';
import files from 'koa-static';

// In production, the host sets these variables itself.
if (existsSync('.env')) process.loadEnvFile('.env');

// Throws if a value is invalid; a missing one is reported by the first request that needs it.
const toolkit = configureServer(configFromEnv(process.env));

const app = new Koa();
// Chat at /api/a2a, widgets at /api/service-surfaces. Before any body parser: bodies are streamed. A conversation belongs
// to the visitor who began it, whom a cookie recognises.
app.use(
  createHandlers(Router, { a2a: { conversations: 'visitor' } })
    .prefix('/api')
    .routes(),
);
app.use(files('public'));

const port = Number(process.env['PORT'] || 3000);
const server = app.listen(port, () => console.log(`http://localhost:${port}`));

// Longer than a proxy or balancer in front keeps idle connections, so that no message meets one that closes.
server.keepAliveTimeout = 80_000;

// Before the site is stopped, it gets a signal, from pm2 and Ctrl+C SIGINT: running answers have ten seconds to finish.
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => toolkit.shutDown(server));
