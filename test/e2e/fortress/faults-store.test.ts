import { randomBytes } from 'node:crypto';
import KeyvRedis, { createClient } from '@keyv/redis';
import { Keyv } from 'keyv';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { World } from '../../site/world.js';
import { REDIS_SERVER, RedisServer } from '../../support/redis-server.js';
import { timed } from '../../support/stopwatch.js';
import { HOSTS, RENDER, startSite } from './roads.js';

// Several look-ups of 50 ms until the store is left alone, and what a busy machine adds.
const BEARABLE_MS = 3_000;

describe.skipIf(REDIS_SERVER === undefined).each(HOSTS)('through $name, a shared store that', (host) => {
  let redis: RedisServer;
  const adapters: KeyvRedis<unknown>[] = [];
  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterEach(async () => {
    redis.thaw();
    await Promise.all(adapters.splice(0).map((adapter) => adapter.disconnect(true)));
  });
  afterAll(() => redis.close());

  async function startShared(url = redis.url): Promise<World> {
    const adapter = new KeyvRedis(url);
    adapter.on('error', () => undefined);
    adapters.push(adapter);
    return startSite(host, {
      cacheStore: new Keyv(adapter),
      cacheKeys: [randomBytes(32).toString('hex')],
      cache: { enabled: true },
      // A busy machine is not to be taken for a broken store where the store is well.
      timeouts: { cacheMs: 50 },
    });
  }

  const rendered = async (world: World): Promise<number> => {
    const reply = await world.chat(RENDER.visit);
    await reply.text();
    return reply.status;
  };

  async function expectBearable(world: World): Promise<void> {
    const ms = await timed(async () => {
      for (let count = 0; count < 5; count += 1) expect(await rendered(world)).toBe(200);
      expect((await world.chat()).status).toBe(200);
    });
    expect(ms).toBeLessThan(BEARABLE_MS);
    expect(world.telemetry.of('cache_fault').length).toBeGreaterThan(0);
    expect(world.telemetry.of('error')).toEqual([]);
  }

  it('is frozen costs a moment, and no request', async () => {
    const world = await startShared();
    expect(await rendered(world)).toBe(200);
    redis.freeze();
    await expectBearable(world);
  });

  it('was never there costs a moment, and no request', async () => {
    await expectBearable(await startShared('redis://127.0.0.1:1'));
  });

  it('crashes and comes back costs a moment, and no request', async () => {
    const world = await startShared();
    expect(await rendered(world)).toBe(200);
    await redis.kill();
    await expectBearable(world);
    await redis.restart();
    expect(await rendered(world)).toBe(200);
  });

  it('holds something else under our names is not believed', async () => {
    const world = await startShared();
    expect(await rendered(world)).toBe(200);
    const client = createClient({ url: redis.url });
    await client.connect();
    for (const key of await client.keys('*')) {
      await client.del(key);
      await client.hSet(key, 'field', 'of another type');
    }
    expect(await rendered(world)).toBe(200);
    for (const key of await client.keys('*')) {
      await client.del(key);
      await client.set(key, '{"value":"nonsense"}');
    }
    expect(await rendered(world)).toBe(200);
    await client.flushAll();
    await client.close();
    expect(world.telemetry.of('error')).toEqual([]);
  });
});
