// Widgets from the render cache: in memory, or in a Redis that several processes may share.
import { createServiceSurfaceRouter } from 'agent-bff/express';
import express from 'express';
import { options, serve, upstreamOrigin } from '../rival-process.mjs';
import { benchToolkit } from './site.mjs';

const NEVER_STALE_MS = 3_600_000;

const toolkit = benchToolkit({
  serviceApiUrl: `${upstreamOrigin}/api`,
  serviceApiKey: 'bench',
  ...(options.redis && { cacheStore: await redisStore(options.redis) }),
});
const app = express();
app.use(express.json({ limit: '2mb' }));
app.use(
  '/api/service-surfaces',
  createServiceSurfaceRouter(express, {
    toolkit,
    cache: { enabled: true, freshMs: NEVER_STALE_MS, maxAgeMs: NEVER_STALE_MS },
  }),
);
serve(app);

async function redisStore(url) {
  const { Keyv } = await import('keyv');
  const { default: KeyvRedis } = await import('@keyv/redis');
  return new Keyv({ store: new KeyvRedis(url) });
}
