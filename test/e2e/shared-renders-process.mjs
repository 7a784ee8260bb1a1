// One process of a site that shares its renders: `node shared-renders-process.mjs`, with the settings as the first message.
// Answers with its address when it serves.
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createToolkit } from 'agent-bff';
import { createServiceSurfaceRouter } from 'agent-bff/express';
import express from 'express';

const require = createRequire(import.meta.url);

process.once('message', async ({ config, redis, adapter, keyv, cache }) => {
  const { Keyv } = await import(keyv);
  const { default: Adapter } = require(adapter);
  const cacheStore = new Keyv(new Adapter(redis));
  await cacheStore.get('a connection must be open before times are taken');
  const toolkit = createToolkit({ ...config, cacheStore });
  const app = express();
  app.use(express.json({ limit: '2mb' }));
  app.use('/api/service-surfaces', createServiceSurfaceRouter(express, { cache, toolkit }));
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send({ url: `http://127.0.0.1:${server.address().port}` });
});
process.once('disconnect', () => process.exit(0));
