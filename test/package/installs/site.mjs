// A site with all routes, configured by the environment. It prints its address.
import { createServer } from 'node:http';
import { configFromEnv, configureServer } from 'agent-bff';
import { createNodeHandler } from 'agent-bff/node';

configureServer(configFromEnv(process.env));
const server = createServer(createNodeHandler()).listen(0, '127.0.0.1', () => {
  console.log(`http://localhost:${server.address().port}`);
});
