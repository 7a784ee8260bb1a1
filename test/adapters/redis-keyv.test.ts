import KeyvRedis from '@keyv/redis';
import { Keyv } from 'keyv';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { FakeClock, RecordingTelemetry } from '../../src/adapters/fakes/fakes.js';
import { CLEAR, EntryStore } from '../../src/adapters/keyv/entry-seal.js';
import { KeyvStore } from '../../src/adapters/keyv/keyv-store.js';
import { systemClock } from '../../src/adapters/system/system.js';
import type { CacheStore } from '../../src/ports/cache-store.js';
import { cacheStoreContract } from '../contracts/cache-store.contract.js';
import { type KeyvClass, loadKeyv6 } from '../support/keyv6.js';
import { REDIS_SERVER } from '../support/redis-server.js';
import { type StandaloneServer, startServer } from '../support/redis-topology.mjs';
import { timed } from '../support/stopwatch.js';

const CACHE_MS = 50;
// Allowance for a busy machine on top of a deadline.
const SLACK_MS = 200;

const sixth = await loadKeyv6();
const versions: readonly (readonly [name: string, version: KeyvClass | undefined])[] = [
  ['Keyv 5', Keyv as unknown as KeyvClass],
  ['Keyv 6', sixth],
];

describe.skipIf(REDIS_SERVER === undefined).each(versions)('Redis behind %s', (_name, version) => {
  const test = it.skipIf(version === undefined);
  let redis: StandaloneServer;
  const adapters: KeyvRedis<unknown>[] = [];

  beforeAll(async () => {
    redis = await startServer();
  });
  afterEach(async () => {
    redis.thaw();
    await Promise.all(adapters.splice(0).map((adapter) => adapter.disconnect(true)));
  });
  afterAll(() => redis.close());

  /** A store with its own connection and the adapter's defaults, which wait indefinitely while Redis is down. */
  function connect(): { store: CacheStore; telemetry: RecordingTelemetry } {
    if (version === undefined) throw new Error('this version of Keyv is not installed');
    const adapter = new KeyvRedis(redis.url);
    adapters.push(adapter);
    const telemetry = new RecordingTelemetry();
    const store = new KeyvStore({ keyv: new version(adapter), clock: systemClock, telemetry, cacheMs: CACHE_MS });
    return { store, telemetry };
  }

  const tried = (call: Promise<unknown>): Promise<unknown> => call.catch(() => undefined);
  const soon = (): number => Date.now() + 60_000;
  const works = async (store: CacheStore): Promise<void> => {
    await vi.waitFor(
      async () => {
        await store.set('probe', 'value', soon()).catch(() => undefined);
        expect(await store.get('probe')).toBe('value');
      },
      { timeout: 20_000, interval: 50 },
    );
  };

  describe.skipIf(version === undefined)('as a store:', () => {
    cacheStoreContract('entries', async () => {
      const clock = new FakeClock(Date.now());
      const adapter = new KeyvRedis(redis.url);
      adapters.push(adapter);
      await redis.cli('flushall');
      const keyv = new (version as KeyvClass)(adapter);
      const telemetry = new RecordingTelemetry();
      const over = new KeyvStore({ keyv, clock, telemetry, cacheMs: 2_000 });
      const store = new EntryStore({ store: over, clock, telemetry, form: CLEAR, prefix: '' });
      return { store, now: () => clock.now(), pass: (ms) => clock.advance(ms) };
    });
  });

  test('a killed server costs at most one deadline and works again after a restart', async () => {
    const { store } = connect();
    await works(store);
    let running = true;
    const times: number[] = [];
    const requests = Array.from({ length: 5 }, async (_, worker) => {
      while (running) {
        times.push((await timed(() => tried(store.set(`key-${String(worker)}`, 'value', soon())))).own);
        times.push((await timed(() => tried(store.get(`key-${String(worker)}`)))).own);
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    await redis.kill();
    await expect.poll(() => times.length).toBeGreaterThan(200);
    await expect(store.get('probe')).rejects.toThrow();
    running = false;
    await Promise.all(requests);
    expect(Math.max(...times)).toBeLessThan(CACHE_MS + SLACK_MS);
    // Three of each of the five, and one each half second.
    expect(times.filter((time) => time > CACHE_MS / 2).length).toBeLessThan(50);
    await redis.start();
    await works(store);
  });

  test('a frozen server costs three deadlines and works again when it thaws', async () => {
    const { store, telemetry } = connect();
    await works(store);
    // The first connection of a busy machine may take more than one deadline.
    const before = telemetry.events.length;
    redis.freeze();
    const first = await timed(() => tried(store.get('probe')));
    for (let call = 0; call < 2; call += 1) await tried(store.get('probe'));
    expect(first.wall).toBeGreaterThan(CACHE_MS - 5);
    expect(first.own).toBeLessThan(CACHE_MS + SLACK_MS);
    const others = Array.from({ length: 50 }, async () => tried(store.get('probe')));
    expect((await timed(() => Promise.all(others))).own).toBeLessThan(CACHE_MS / 2);
    expect(new Set(telemetry.events.slice(before).map((event) => JSON.stringify(event)))).toEqual(
      new Set([
        JSON.stringify({ type: 'cache_fault', operation: 'get', detail: `Error TIMEOUT after ${String(CACHE_MS)} ms` }),
      ]),
    );
    redis.thaw();
    await works(store);
  });
});
