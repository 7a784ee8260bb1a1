// The same site in CommonJS.
const { createServer } = require('node:http');
const { configFromEnv, configureServer } = require('agent-bff');
const { createNodeHandler } = require('agent-bff/node');

configureServer(configFromEnv(process.env));
const server = createServer(createNodeHandler()).listen(0, '127.0.0.1', () => {
  console.log(`http://localhost:${server.address().port}`);
});
