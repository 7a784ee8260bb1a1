// A site, with this package's spans if TRACED is set. It prints its address. In CommonJS: the instrumentation of node:http needs a
// loader for modules.
const { createServer } = require('node:http');
const api = require('@opentelemetry/api');
const { configFromEnv, configureServer, openTelemetry } = require('agent-bff');
const { createNodeHandler } = require('agent-bff/node');

configureServer({ ...configFromEnv(process.env), ...(process.env.TRACED && { telemetry: openTelemetry(api) }) });
const server = createServer(createNodeHandler()).listen(0, '127.0.0.1', () => {
  console.log(`http://localhost:${server.address().port}`);
});
