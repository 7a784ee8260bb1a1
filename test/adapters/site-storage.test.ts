import { describe, expect, it } from 'vitest';
import { FakeCacheStore, FakeClock, RecordingTelemetry } from '../../src/adapters/fakes/fakes.js';
import { KeyvCacheStore } from '../../src/adapters/keyv/keyv-cache-store.js';
import { keyvOver } from '../../src/adapters/keyv/own-keyv.js';
import { SiteStorage } from '../../src/adapters/keyv/site-storage.js';
import type { CacheStore } from '../../src/ports/cache-store.js';
import { cacheStoreContract } from '../contracts/cache-store.contract.js';

const CACHE_MS = 30;
const never = (): Promise<never> => new Promise(() => {});

describe('a store that a site wrote', () => {
  const connect = (
    store: CacheStore,
    clock = new FakeClock(),
  ): { store: KeyvCacheStore; telemetry: RecordingTelemetry } => {
    const telemetry = new RecordingTelemetry();
    const keyv = keyvOver(new SiteStorage(store, clock));
    const getMany = (keys: string[]): Promise<readonly unknown[]> => keyv.getMany(keys);
    return { store: new KeyvCacheStore({ keyv, getMany, clock, telemetry, cacheMs: CACHE_MS }), telemetry };
  };

  cacheStoreContract('KeyvCacheStore over SiteStorage', () => {
    const clock = new FakeClock();
    return {
      store: connect(new FakeCacheStore(clock), clock).store,
      now: () => clock.now(),
      pass: (ms) => clock.advance(ms),
    };
  });

  it('is asked for several keys in one call where it offers one', async () => {
    const clock = new FakeClock();
    const inner = new FakeCacheStore(clock);
    const calls: (readonly string[])[] = [];
    const { store } = connect(
      {
        get: () => Promise.reject(new Error('not to be called')),
        getMany: (keys) => {
          calls.push(keys);
          return Promise.all(keys.map((key) => inner.get(key)));
        },
        set: (key, value, expiresAt) => inner.set(key, value, expiresAt),
        delete: (key) => inner.delete(key),
      },
      clock,
    );
    await store.set('a', '1', clock.now() + 1_000);
    await store.set('c', '3', clock.now() + 1_000);
    expect(await store.getMany(['a', 'b', 'c'])).toEqual(['1', undefined, '3']);
    expect(calls).toEqual([['a', 'b', 'c']]);
  });

  it('is told under which key, and until when, an entry is to be kept', async () => {
    const clock = new FakeClock();
    const calls: unknown[] = [];
    const { store } = connect(
      {
        get: never,
        set: (key, _value, expiresAt) => Promise.resolve(void calls.push(key, expiresAt)),
        delete: (key) => Promise.resolve(void calls.push(key)),
      },
      clock,
    );
    await store.set('key', 'value', clock.now() + 1_000);
    await store.delete('key');
    expect(calls).toEqual(['key', clock.now() + 1_000, 'key']);
  });
});
