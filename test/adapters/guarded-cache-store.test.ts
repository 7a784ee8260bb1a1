import { describe, expect, it } from 'vitest';
import { FakeCacheStore } from '../../src/adapters/fakes/fake-cache-store.js';
import { FakeClock } from '../../src/adapters/fakes/fake-clock.js';
import { RecordingTelemetry } from '../../src/adapters/fakes/recording-telemetry.js';
import { GuardedCacheStore } from '../../src/adapters/keyv/guarded-cache-store.js';
import type { CacheStore } from '../../src/ports/cache-store.js';
import { cacheStoreContract } from '../contracts/cache-store.contract.js';

const CACHE_MS = 30;
const never = (): Promise<never> => new Promise(() => {});

describe('a store that a site wrote', () => {
  const guarded = (store: CacheStore): { store: CacheStore; telemetry: RecordingTelemetry } => {
    const telemetry = new RecordingTelemetry();
    return { store: new GuardedCacheStore({ store, clock: new FakeClock(), telemetry, cacheMs: CACHE_MS }), telemetry };
  };

  cacheStoreContract('GuardedCacheStore', () => {
    const clock = new FakeClock();
    return {
      store: guarded(new FakeCacheStore(clock)).store,
      now: () => clock.now(),
      pass: (ms) => clock.advance(ms),
    };
  });

  it.each(['get', 'set', 'delete'] as const)('may throw in %s, and nothing breaks', async (operation) => {
    const broken = (): never => {
      throw new TypeError('a bug');
    };
    const { store, telemetry } = guarded({ get: broken, set: broken, delete: broken });
    expect(await store[operation]('key', 'value', 1)).toBeUndefined();
    expect(telemetry.events).toEqual([{ type: 'cache_fault', operation, detail: 'TypeError' }]);
  });

  it('that gives something else than a text has a miss', async () => {
    const { store } = guarded({ get: () => Promise.resolve(7 as never), set: never, delete: never });
    expect(await store.get('key')).toBeUndefined();
  });

  it('that never answers costs its deadline, and then nothing', async () => {
    const { store, telemetry } = guarded({ get: never, set: never, delete: never });
    expect(await store.get('key')).toBeUndefined();
    await Promise.all([store.get('key'), store.set('key', 'value', 1), store.delete('key')]);
    expect(telemetry.events).toEqual([{ type: 'cache_fault', operation: 'get', detail: 'Error TIMEOUT' }]);
  });
});
