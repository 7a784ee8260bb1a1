// One process of a site that shares its renders: `node shared-renders-process.mjs`, with the settings as the first message.
// Sends its address when it is ready.
import { once } from 'node:events';
import { createToolkit } from 'agent-bff';
import { createServiceSurfaceRouter } from 'agent-bff/express';
import express from 'express';
import { keyvOverRedis } from '../support/keyv-over-redis.mjs';

process.once('message', async ({ config, redis, adapter, keyv, cache }) => {
  const cacheStore = await keyvOverRedis({ redis, adapter, keyv });
  const toolkit = createToolkit({ ...config, cacheStore });
  const app = express();
  app.use(express.json({ limit: '2mb' }));
  app.use(
    '/api/service-surfaces',
    createServiceSurfaceRouter(express, {
      cache,
      toolkit,
      ...(config.serviceAuthStrategy && { strategy: config.serviceAuthStrategy }),
    }),
  );
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send({ url: `http://127.0.0.1:${server.address().port}` });
});
process.once('disconnect', () => process.exit(0));
