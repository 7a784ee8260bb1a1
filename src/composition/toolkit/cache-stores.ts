import { GuardedCacheStore } from '../../adapters/keyv/guarded-cache-store.js';
import { KeyvCacheStore } from '../../adapters/keyv/keyv-cache-store.js';
import { isKeyv } from '../../adapters/keyv/keyv-like.js';
import { isRedisLibraryInstalled, loadRedisLibrary } from '../../adapters/keyv/redis-library.js';
import { RedisStore } from '../../adapters/keyv/redis-store.js';
import { SealedCacheStore } from '../../adapters/keyv/sealed-cache-store.js';
import type { SealingKey } from '../../adapters/keyv/sealing-key.js';
import { ConfigurationError } from '../../domain/errors.js';
import type { CacheStore } from '../../ports/cache-store.js';
import type { Clock } from '../../ports/clock.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { ResolvedConfig } from '../config/resolve-config.js';

/**
 * Connects to the store at the configured address; `undefined` when no address is configured.
 *
 * @throws ConfigurationError when the client library is not installed.
 */
export function storeAtAddress({ cacheAddress, timeouts }: ResolvedConfig): RedisStore | undefined {
  if (cacheAddress === undefined) return undefined;
  if (!isRedisLibraryInstalled()) {
    throw new ConfigurationError({
      detail: '"cacheStore" is an address, and the library that calls it is not installed.',
      hint: 'Run: npm install @keyv/redis',
      block: 'configureServer',
      fields: ['cacheStore'],
    });
  }
  // Calls have their deadline themselves: a miss must come before it, or it counts as a fault.
  return new RedisStore({
    address: cacheAddress.url,
    patienceMs: timeouts.cacheMs * 0.8,
    load: loadRedisLibrary,
  });
}

/** The configured store behind the promises of the port; `undefined` when none is configured. */
export function sharedStore(
  config: ResolvedConfig,
  connected: RedisStore | undefined,
  clock: Clock,
  telemetry: Telemetry,
): CacheStore | undefined {
  const { cacheMs } = config.timeouts;
  if (connected !== undefined) return new KeyvCacheStore({ keyv: connected, clock, telemetry, cacheMs });
  const { cacheStore } = config;
  if (cacheStore === undefined) return undefined;
  return isKeyv(cacheStore)
    ? new KeyvCacheStore({ keyv: cacheStore, clock, telemetry, cacheMs })
    : new GuardedCacheStore({ store: cacheStore as CacheStore, clock, telemetry, cacheMs });
}

/** The store for tokens: shared only when it can be sealed, since whoever reads a store could use the tokens in it. */
export function tokenStore(
  config: ResolvedConfig,
  shared: CacheStore | undefined,
  clock: Clock,
  telemetry: Telemetry,
): CacheStore | undefined {
  if (shared === undefined) return undefined;
  const [first, ...rest] = config.cacheKeys;
  if (first === undefined) {
    telemetry.emit({
      type: 'warning',
      code: 'cache_keys_missing',
      detail: 'Tokens stay in this process: set "cacheKeys" in configureServer to share them through "cacheStore".',
    });
    return undefined;
  }
  return sealed(shared, [first, ...rest], clock, telemetry, 'agent-bff:token:');
}

/** The store for renders: sealed when there are keys, since renders hold what users see; plain otherwise. */
export function sealedStore(
  config: ResolvedConfig,
  shared: CacheStore | undefined,
  clock: Clock,
  telemetry: Telemetry,
  prefix: string,
): CacheStore | undefined {
  const [first, ...rest] = config.cacheKeys;
  if (shared === undefined || first === undefined) return shared;
  return sealed(shared, [first, ...rest], clock, telemetry, prefix);
}

function sealed(
  store: CacheStore,
  keys: readonly [SealingKey, ...SealingKey[]],
  clock: Clock,
  telemetry: Telemetry,
  prefix: string,
): CacheStore {
  return new SealedCacheStore({ store, clock, telemetry, keys, prefix });
}
