import { createClient } from '@keyv/redis';
import { createToolkit, rateLimiter } from 'agent-bff';
import { FakeUpstream } from 'agent-bff/testing';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { describe, expect, it, onTestFinished } from 'vitest';
import { browserRequest } from '../adapters/web/browser-request.js';
import { REDIS_SERVER } from '../support/redis-server.js';
import { startServer } from '../support/redis-topology.mjs';
import { chatRoute } from '../support/toolkit-routes.js';

describe.skipIf(REDIS_SERVER === undefined)('a limit of chat messages over Redis', () => {
  it('counts the messages to all processes', async () => {
    const redis = await startServer();
    onTestFinished(() => redis.close());
    const start = async (): Promise<() => Promise<number>> => {
      const storeClient = createClient({ url: redis.url });
      await storeClient.connect();
      onTestFinished(() => storeClient.destroy());
      const limiter = new RateLimiterRedis({ storeClient, useRedisPackage: true, points: 3, duration: 60 });
      const chatLimit = rateLimiter(limiter, { visitor: () => 'ada', deadlineMs: 5_000 });
      const config = { a2aUrl: 'https://agent.example/a2a', serviceApiKey: 'key', chatLimit } as const;
      const chat = chatRoute(createToolkit({ ...config, telemetry: 'silent' }, { upstream: new FakeUpstream() }));
      return async () => (await chat(browserRequest())).status;
    };
    const [one, other] = [await start(), await start()];
    expect([await one(), await other(), await one(), await other(), await one()]).toEqual([200, 200, 200, 429, 429]);
  });
});
