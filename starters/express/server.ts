import { existsSync } from 'node:fs';
import { configFromEnv, configureServer } from 'agent-bff';
import { createHandlers } from 'agent-bff/express';
import express, { type ErrorRequestHandler } from 'express';

// In production, the host sets these variables itself.
if (existsSync('.env')) process.loadEnvFile('.env');

// Throws if a value is invalid; a missing one is reported by the first request that needs it.
const toolkit = configureServer(configFromEnv(process.env));

const app = express();
// Chat at /api/a2a, widgets at /api/service-surfaces. Before any body parser: bodies are streamed. A conversation belongs
// to the visitor who began it, whom a cookie recognises.
app.use('/api', createHandlers(express, { a2a: { conversations: 'visitor' } }));
app.use(express.static('public'));

// Last: Express's own error page shows visitors the stack unless NODE_ENV is "production".
const answerError: ErrorRequestHandler = (error, _request, response, next) => {
  if (response.headersSent) return next(error); // If the response has begun, Express closes the connection.
  const status = error.status >= 400 ? error.status : 500;
  if (status >= 500) console.error(error);
  response.sendStatus(status);
};
app.use(answerError);

const port = Number(process.env['PORT'] || 3000);
const server = app.listen(port, (error) => {
  if (error !== undefined) throw error; // Such as a port that is already in use.
  console.log(`http://localhost:${port}`);
});

// Longer than a proxy or balancer in front keeps idle connections, so that no message meets one that closes.
server.keepAliveTimeout = 80_000;

// Before the site is stopped, it gets a signal, from pm2 and Ctrl+C SIGINT: running answers have ten seconds to finish.
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => toolkit.shutDown(server));
