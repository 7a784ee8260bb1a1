import { createHmac, randomBytes } from 'node:crypto';
import {
  isKeyv,
  KeyvCacheStore,
  type KeyvCacheStoreDependencies,
  keyvLike,
  keyvOver,
  type TextStorage,
} from '../../adapters/keyv/keyv-cache-store.js';
import { MemoryStorage } from '../../adapters/keyv/memory-storage.js';
import { RedisStorage } from '../../adapters/keyv/redis-storage.js';
import { faultOf } from '../../adapters/keyv/store-breaker.js';
import { SealedCacheStore } from '../../adapters/keyv/sealed-cache-store.js';
import { sha256, sleep } from '../../adapters/system/system.js';
import { TokenCache } from '../../domain/credentials/token-cache.js';
import { getMany } from '../../domain/shared/store-calls.js';
import { RenderKeys, STORE_PREFIX } from '../../domain/surfaces/render-keys.js';
import { VersionTags } from '../../domain/surfaces/version-tags.js';
import type { CacheStore } from '../../ports/cache-store.js';
import type { Clock } from '../../ports/clock.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import type { CacheStores, Parts, Renders } from './container.js';
import { processStored } from './process-wide.js';

/** Bytes of a render in a shared store besides its text: its key, there and in the entry, its expiry and the store's own. */
const ENTRY_BYTES = 320;

const PROCESS_KEY = randomBytes(32);

/** The stores of a configuration; reuses those of the previous one if their settings are unchanged. A shared store is not theirs to close. */
export function cacheStores(
  config: ResolvedConfig,
  { clock, telemetry, random, memory, shared }: Pick<Parts, 'clock' | 'telemetry' | 'random' | 'memory' | 'shared'>,
  previous: CacheStores | undefined,
): CacheStores {
  const settings = [
    clock,
    telemetry,
    config.timeouts.cacheMs,
    config.cacheStore,
    config.cacheAddress?.url.reveal(),
    ...config.cacheKeys.map(({ id }) => id),
  ];
  if (previous !== undefined && sameItems(previous.settings, settings)) return previous;
  const redis = storeAtAddress(config, telemetry);
  const own = sharedStore(config, redis, clock, telemetry);
  const store = own ?? shared?.store;
  const [first, ...rest] = config.cacheKeys;
  const sealed = (kind: 'token' | 'sealed'): SealedCacheStore | undefined =>
    store &&
    first &&
    new SealedCacheStore({ store, clock, telemetry, keys: [first, ...rest], prefix: `${STORE_PREFIX}${kind}:` });
  // Anyone who can read the store could use the tokens in it, so they are only shared if they can be sealed.
  const sharedTokens = sealed('token');
  // Renders contain users' data.
  const sealedRenders = sealed('sealed');
  const sharedRenders = sealedRenders ?? store;
  if (first === undefined && sharedRenders !== undefined) {
    telemetry.emit({
      type: 'warning',
      code: 'cache_keys_missing',
      detail: 'Tokens stay in this process: set "cacheKeys" in configureServer to share them through "cacheStore".',
    });
  }
  // The in-memory part depends neither on the store nor on its keys.
  const isKept = previous !== undefined && sameItems(previous.settings.slice(0, 2), settings.slice(0, 2));
  const cache = { clock, telemetry, random, sleep, memory: memory.tokens };
  const rendersIn = (over: CacheStore): Renders => {
    const keys = new RenderKeys(sha256, memory.data);
    const newVersionTag = (): string => crypto.randomUUID();
    return { store: over, versionTags: new VersionTags({ store: over, clock, keys, newVersionTag, sleep }) };
  };
  const inMemory: CacheStores['inMemory'] = isKept
    ? previous.inMemory
    : {
        tokens: once(() => new TokenCache(cache)),
        renders: once(() => rendersIn(storeOver(new MemoryStorage(clock, memory.data), { clock, telemetry }))),
      };
  return {
    settings,
    store,
    renders: sharedRenders === undefined ? inMemory.renders : once(() => rendersIn(sharedRenders)),
    budget: sharedRenders && processStored(),
    storedBytes: (text) => {
      const bytes = Buffer.byteLength(text);
      return ENTRY_BYTES + (sealedRenders?.sealedBytes(bytes) ?? bytes);
    },
    tokens: sharedTokens === undefined ? inMemory.tokens() : new TokenCache({ ...cache, shared: sharedTokens }),
    inMemory,
    proofKey: proofKey(config),
    close: async () => {
      own?.close();
      await redis?.close();
    },
  };
}

/** Makes it with the first call. */
function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/** Connects to the store at the configured address; `undefined` if no address is configured. */
export function storeAtAddress(
  { cacheAddress, timeouts }: ResolvedConfig,
  telemetry?: Telemetry,
): RedisStorage | undefined {
  if (cacheAddress === undefined) return undefined;
  // Calls have their own deadline: a miss must come before it, otherwise it counts as a fault.
  return new RedisStorage({
    address: cacheAddress.url,
    patienceMs: timeouts.cacheMs * 0.8,
    // At the start, not with the first visitor.
    ...(telemetry && {
      failed: (error) => telemetry.emit({ type: 'cache_fault', operation: 'get', detail: faultOf(error) }),
    }),
  });
}

/** The configured store as a `CacheStore`; `undefined` if none is configured. */
export function sharedStore(
  config: ResolvedConfig,
  connected: RedisStorage | undefined,
  clock: Clock,
  telemetry: Telemetry,
): KeyvCacheStore | undefined {
  const { cacheStore, timeouts } = config;
  const parts = { clock, telemetry, cacheMs: timeouts.cacheMs };
  if (connected !== undefined) return storeOver(connected, { ...parts, primary: (keys) => connected.primary(keys) });
  if (cacheStore === undefined) return undefined;
  if (isKeyv(cacheStore)) return new KeyvCacheStore({ keyv: cacheStore, connects: true, ...parts });
  const store = cacheStore as CacheStore;
  const create = store.setIfAbsent?.bind(store);
  return new KeyvCacheStore({
    keyv: keyvLike(store, clock),
    getMany: (keys) => getMany(store, keys),
    setIfAbsent: create && ((key, value, ttl) => create(key, value, clock.now() + ttl)),
    primary: store.primary?.bind(store),
    ...parts,
  });
}

function storeOver(
  storage: TextStorage,
  parts: Pick<KeyvCacheStoreDependencies, 'clock' | 'telemetry' | 'cacheMs' | 'primary'>,
): KeyvCacheStore {
  const keyv = keyvOver(storage);
  const create = storage.setIfAbsent?.bind(storage);
  const setIfAbsent = create && ((key: string, value: string, ttl: number) => create(key, { value }, ttl));
  return new KeyvCacheStore({ keyv, getMany: (keys) => keyv.getMany(keys), setIfAbsent, ...parts });
}

/** Derived from a shared key if there is one: processes that share tokens must compute the same digest of a proof. */
function proofKey({ cacheKeys: [first] }: ResolvedConfig): Uint8Array {
  if (first === undefined) return PROCESS_KEY;
  return createHmac('sha256', first.key).update('agent-bff proof').digest();
}

export function sameItems(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}
