import { createHmac, randomBytes } from 'node:crypto';
import { CLEAR, EntryStore, sealedBy } from '../../adapters/keyv/entry-seal.js';
import { faultOf, isKeyv, keyvLike, KeyvStore } from '../../adapters/keyv/keyv-store.js';
import { MemoryStore } from '../../adapters/keyv/memory-store.js';
import { RedisConnection } from '../../adapters/keyv/redis-connection.js';
import { sha256, sleep } from '../../adapters/system/system.js';
import { TokenCache } from '../../domain/credentials/token-cache.js';
import { type CachedRender, type RenderStore, textRenders } from '../../domain/surfaces/cached-render.js';
import { Generations } from '../../domain/surfaces/generations.js';
import { RenderKeys, STORE_PREFIX } from '../../domain/surfaces/render-keys.js';
import type { CacheStore } from '../../ports/cache-store.js';
import type { Clock } from '../../ports/clock.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import type { CacheStores, Parts, Renders } from './container.js';
import { processConnections } from './process-wide.js';

const PROCESS_KEY = randomBytes(32);
/** Bytes of a stored render besides its body. */
const RENDER_BYTES = 1_024;

const newId = (): string => crypto.randomUUID();

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
  const own = sharedStore(config, clock, telemetry);
  const store = own?.store ?? shared?.store;
  const [first, ...rest] = config.cacheKeys;
  const form = first === undefined ? CLEAR : sealedBy([first, ...rest]);
  const entries = (over: CacheStore, kind: string): CacheStore =>
    new EntryStore({ store: over, clock, telemetry, form, prefix: `${STORE_PREFIX}${kind}:` });
  if (first === undefined && store !== undefined) {
    telemetry.emit({
      type: 'warning',
      code: 'cache_keys_missing',
      detail: 'Tokens stay in this process: set "cacheKeys" in configureServer to share them through "cacheStore".',
    });
  }
  // The in-memory part depends neither on the store nor on its keys.
  const isKept = previous !== undefined && sameItems(previous.settings.slice(0, 2), settings.slice(0, 2));
  // A script that asks for a token waits for its turn.
  const wait = (ms: number): Promise<void> => sleep(ms, { ref: true });
  const cache = { clock, telemetry, random, sleep: wait, newId, memory: memory.tokens };
  const rendersIn = (renders: RenderStore, generations: CacheStore): Renders => {
    const keys = new RenderKeys({ hash: sha256, memory: memory.data, clock });
    return { renders, generations: new Generations({ store: generations, clock, keys, newGeneration: newId, sleep }) };
  };
  const inMemory: CacheStores['inMemory'] = isKept
    ? previous.inMemory
    : {
        tokens: once(() => new TokenCache(cache)),
        renders: once(() => {
          const map = memory.data.map();
          const bytesOf = ({ body }: CachedRender): number => 2 * body.length + RENDER_BYTES;
          const generations = new MemoryStore<string>(map, clock, (text) => 2 * text.length);
          return rendersIn(new MemoryStore<CachedRender>(map, clock, bytesOf), generations);
        }),
      };
  return {
    settings,
    store,
    // Renders contain users' data. Generations are random.
    renders:
      store === undefined ? inMemory.renders : once(() => rendersIn(textRenders(entries(store, 'render')), store)),
    // Anyone who can read the store could use the tokens in it, so they are only shared if they can be sealed.
    tokens:
      store === undefined || first === undefined
        ? inMemory.tokens()
        : new TokenCache({ ...cache, shared: entries(store, 'token') }),
    inMemory,
    proofKey: proofKey(config),
    close: async () => own?.close(),
  };
}

/** Makes it with the first call. */
function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/** A shared store, and the end of its use. */
export interface SharedStore {
  readonly store: KeyvStore;
  /** Present if the store is at an address. */
  readonly connection?: RedisConnection;
  readonly close: () => Promise<void>;
}

/** The configured store; `undefined` if none is configured. */
export function sharedStore(config: ResolvedConfig, clock: Clock, telemetry: Telemetry): SharedStore | undefined {
  const { cacheAddress, cacheStore, timeouts } = config;
  const parts = { clock, telemetry, cacheMs: timeouts.cacheMs };
  if (cacheAddress !== undefined) {
    const { connection, release } = connectionTo(cacheAddress.url.reveal(), () => {
      // Less than the deadline of a call: one that comes before the first connection is a miss, and no fault.
      return new RedisConnection(cacheAddress.url, timeouts.cacheMs * 0.8);
    });
    // At the start, not with the first visitor.
    connection.connected().catch((error: unknown) => {
      telemetry.emit({ type: 'cache_fault', operation: 'get', detail: faultOf(error) });
    });
    return { store: new KeyvStore({ keyv: connection, ...parts }), connection, close: release };
  }
  if (cacheStore === undefined) return undefined;
  const keyv = isKeyv(cacheStore) ? cacheStore : keyvLike(cacheStore as CacheStore, clock);
  const store = new KeyvStore({ keyv, ...parts });
  return { store, close: () => Promise.resolve(store.close()) };
}

/** One connection for all toolkits of a process that use this address; closed with the last of them. */
function connectionTo(
  address: string,
  make: () => RedisConnection,
): { readonly connection: RedisConnection; readonly release: () => Promise<void> } {
  const connections = processConnections();
  const used = connections.get(address) ?? { connection: make(), users: 0 };
  connections.set(address, used);
  used.users += 1;
  let isReleased = false;
  const release = async (): Promise<void> => {
    if (isReleased) return;
    isReleased = true;
    used.users -= 1;
    if (used.users > 0) return;
    connections.delete(address);
    await used.connection.close();
  };
  return { connection: used.connection, release };
}

/** Derived from a shared key if there is one: processes that share tokens must compute the same digest of a proof. */
function proofKey({ cacheKeys: [first] }: ResolvedConfig): Uint8Array {
  if (first === undefined) return PROCESS_KEY;
  return createHmac('sha256', first.key).update('agent-bff proof').digest();
}

export function sameItems(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}
