import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RedisStorage } from '../../src/adapters/keyv/redis-storage.js';
import { secret } from '../../src/domain/shared/secret.js';
import { REDIS_SERVER } from '../support/redis-server.js';
import { startCluster, startSentinels, type TopologyServer } from '../support/redis-topology.mjs';

/** Long enough that a slow machine does not look like a store that is down. */
const PATIENT_MS = 5_000;
const FAILOVER_MS = 30_000;
const LIFE_MS = 600_000;
const KEY = 'key';

interface Topology {
  readonly url: string;
  /** Replaces the primary of the key; resolves with the one it replaced. */
  failover(how: 'kill' | 'freeze'): Promise<TopologyServer>;
  close(): Promise<void>;
}

async function cluster(): Promise<Topology> {
  const { url, failover, settled, close } = await startCluster();
  const replaced: Topology['failover'] = async (how) => {
    const former = await failover(KEY, how);
    // All nodes know of it.
    await settled();
    return former;
  };
  return { url, failover: replaced, close };
}

describe.skipIf(REDIS_SERVER === undefined)('a process whose primary was replaced', { timeout: 90_000 }, () => {
  /** A store that was connected to the former primary. */
  async function bereft(start: () => Promise<Topology>, how: 'kill' | 'freeze'): Promise<RedisStorage> {
    const topology = await start();
    onTestFinished(() => topology.close());
    const store = new RedisStorage({ address: secret(topology.url), patienceMs: PATIENT_MS });
    onTestFinished(() => store.close());
    await store.set(KEY, { value: 'of the former' }, LIFE_MS);
    const former = await topology.failover(how);
    onTestFinished(() => former.thaw());
    return store;
  }
  const primaryOf = (store: RedisStorage): string => store.primary([KEY]);
  /** Without a further call, the store has found another primary; it is used. */
  async function found(store: RedisStorage, former: string): Promise<void> {
    await expect.poll(() => primaryOf(store), { timeout: FAILOVER_MS }).not.toBe(former);
    await store.set(KEY, { value: 'of the new one' }, LIFE_MS);
    expect(await store.get(KEY)).toEqual({ value: 'of the new one' });
  }

  const topologies = [
    ['a cluster', cluster],
    ['Sentinels', startSentinels],
  ] as const;

  it.each(topologies)('after a crash finds the new one of %s with its next call', async (_title, start) => {
    const store = await bereft(start, 'kill');
    const former = primaryOf(store);
    await store.get(KEY).catch(() => undefined);
    await found(store, former);
  });

  it.each(topologies)(
    'which hangs, finds the new one of %s after a second without a response',
    async (_title, start) => {
      const store = await bereft(start, 'freeze');
      const former = primaryOf(store);
      store.get(KEY).catch(() => undefined);
      await setImmediate();
      const now = performance.now.bind(performance);
      onTestFinished(() => void (performance.now = now));
      performance.now = () => now() + 1_100;
      store.get(KEY).catch(() => undefined);
      await found(store, former);
    },
  );
});
