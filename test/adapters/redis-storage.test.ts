import type { Keyv } from 'keyv';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, RecordingTelemetry } from '../../src/adapters/fakes/fakes.js';
import { KeyvCacheStore, keyvOver } from '../../src/adapters/keyv/keyv-cache-store.js';
import { RedisStorage } from '../../src/adapters/keyv/redis-storage.js';
import { systemClock } from '../../src/adapters/system/system.js';
import { STORE_AWAY } from '../../src/domain/shared/store-calls.js';
import { secret } from '../../src/domain/shared/secret.js';
import { cacheStoreContract } from '../contracts/cache-store.contract.js';
import { REDIS_SERVER } from '../support/redis-server.js';
import { type StandaloneServer, startServer } from '../support/redis-topology.mjs';

/** Long enough that a busy machine does not look like a store that is down. */
const PATIENT_MS = 5_000;
const LIFE_MS = 60_000;

type Connection = Keyv<string> & { close(): Promise<void> };

describe.skipIf(REDIS_SERVER === undefined)('a Redis at an address', () => {
  let redis: StandaloneServer;
  const open: RedisStorage[] = [];

  beforeAll(async () => {
    redis = await startServer();
  });
  beforeEach(() => redis.cli('flushall'));
  afterEach(async () => {
    redis.thaw();
    await Promise.all(open.splice(0).map((store) => store.close()));
  });
  afterAll(() => redis.close());

  function connect(address = redis.url, patienceMs = PATIENT_MS): Connection {
    const store = new RedisStorage({ address: secret(address), patienceMs });
    open.push(store);
    return Object.assign(keyvOver(store), { close: () => store.close() });
  }

  const disconnectAll = (): Promise<unknown> => redis.cli('client', 'kill', 'type', 'normal', 'skipme', 'yes');
  /** The number of connections beside that of the question. */
  const connections = async (): Promise<number> =>
    (await redis.cli('client', 'list', 'type', 'normal')).split('\n').length - 1;

  cacheStoreContract('KeyvCacheStore over RedisStorage', async () => {
    await redis.cli('flushall');
    const clock = new FakeClock(Date.now());
    const keyv = connect();
    const telemetry = new RecordingTelemetry();
    const getMany = (keys: string[]): Promise<readonly unknown[]> => keyv.getMany(keys);
    const store = new KeyvCacheStore({ keyv, getMany, clock, telemetry, cacheMs: PATIENT_MS });
    return { store, now: () => clock.now(), pass: (ms) => clock.advance(ms) };
  });

  it('is shared by its clients and expires entries', async () => {
    const [one, other] = [connect(), connect()];
    await one.set('key', 'value', LIFE_MS);
    expect(await other.get('key')).toBe('value');
    expect(Number(await redis.cli('pttl', 'key'))).toBeLessThanOrEqual(LIFE_MS);
    await other.delete('key');
    expect(await one.get('key')).toBeUndefined();
  });

  it('stores an entry once when many clients call setIfAbsent', async () => {
    const clients = Array.from({ length: 5 }, () => {
      const client = new RedisStorage({ address: secret(redis.url), patienceMs: PATIENT_MS });
      open.push(client);
      return client;
    });
    const stored = await Promise.all(clients.map((client) => client.setIfAbsent('key', { value: 'value' }, 60_000)));
    expect(stored.filter(Boolean)).toHaveLength(1);
    expect(Number(await redis.cli('pttl', 'key'))).toBeGreaterThan(0);
  });

  it('is known by its run id, and by another one after a restart', async () => {
    const client = new RedisStorage({ address: secret(redis.url), patienceMs: PATIENT_MS });
    open.push(client);
    await client.get('key');
    const first = client.primary();
    await redis.kill();
    await redis.start();
    await expect
      .poll(() =>
        client.get('key').then(
          () => client.primary(),
          () => first,
        ),
      )
      .not.toBe(first);
    expect([first, client.primary()]).toEqual([expect.stringMatching(/^\w{16}$/), expect.stringMatching(/^\w{16}$/)]);
  });

  it('uses one connection for many callers', async () => {
    const store = connect();
    await Promise.all(Array.from({ length: 50 }, (_, index) => store.set(String(index), 'value', LIFE_MS)));
    expect(Number(await redis.cli('dbsize'))).toBe(50);
    expect(await connections()).toBe(1);
  });

  it('is empty without a fault while the first connection is made', async () => {
    await redis.cli('set', 'key', 'value');
    redis.freeze();
    const telemetry = new RecordingTelemetry();
    const keyv = connect(redis.url, 1);
    const store = new KeyvCacheStore({ keyv, clock: systemClock, telemetry, cacheMs: PATIENT_MS });
    await expect(store.get('key')).rejects.toBe(STORE_AWAY);
    await expect(store.set('key', 'value', Date.now() + LIFE_MS)).rejects.toBe(STORE_AWAY);
    expect(telemetry.events).toEqual([]);
    redis.thaw();
    await expect.poll(() => keyv.get('key')).toBe('value');
  });

  it('reconnects at once after a broken connection', async () => {
    const store = connect();
    await store.set('key', 'value', LIFE_MS);
    await disconnectAll();
    await expect.poll(connections).toBe(0);
    expect(await store.get('key')).toBe('value');
  });

  it('that stops responding gets a new connection', async () => {
    const store = connect();
    await store.set('key', 'value', LIFE_MS);
    redis.freeze();
    const unanswered = store.get('key').catch((error: unknown) => error);
    const now = performance.now.bind(performance);
    performance.now = () => now() + 6_000;
    try {
      const next = store.get('key');
      expect(await unanswered).toBeInstanceOf(Error);
      redis.thaw();
      expect(await next).toBe('value');
    } finally {
      performance.now = now;
    }
  });

  it('disconnects when it is closed, also while connecting', async () => {
    const [used, unused] = [connect(), connect()];
    await used.set('key', 'value', LIFE_MS);
    await Promise.all([used.close(), unused.close()]);
    await expect.poll(connections).toBe(0);
    await expect(used.get('key')).rejects.toBe(STORE_AWAY);
    expect(await connections()).toBe(0);
  });
});
