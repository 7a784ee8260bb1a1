// A site in its own process that shuts down like a container: `node shutdown-process.mjs <agent> <grace in ms>`.
// Prints its address, then reports its shutdown after SIGTERM.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { configureServer } from 'agent-bff';
import { createNodeHandler } from 'agent-bff/node';

const [, , a2aUrl, graceMs] = process.argv;
const toolkit = configureServer({ a2aUrl, serviceApiKey: 'key', keepAliveMs: 0 });
const server = createServer(createNodeHandler()).listen(0, '127.0.0.1', 1_024);
await once(server, 'listening');
process.send({ url: `http://127.0.0.1:${server.address().port}` });
process.once('SIGTERM', async () => {
  server.close();
  await toolkit.close({ graceMs: Number(graceMs) });
  server.closeAllConnections();
  // Nothing keeps the process alive now.
  process.disconnect();
});
