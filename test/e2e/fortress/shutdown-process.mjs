// A site in a process of its own that ends as a container does: `node shutdown-process.mjs <agent> <grace in ms>`.
// Says its address, then what becomes of SIGTERM.
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
  // Nothing is left that would keep the process.
  process.disconnect();
});
