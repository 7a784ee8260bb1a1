import { Keyv } from 'keyv';
import type { CacheStore } from '../../ports/cache-store.js';
import type { Clock } from '../../ports/clock.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { before, StoreBreaker, type StoreOperation } from './store-breaker.js';

/**
 * The part of a Keyv (5 or 6) that is used.
 *
 * @public
 */
export interface KeyvLike {
  /** The value, or anything else if there is none. */
  get(key: string): Promise<unknown>;
  /** `ttl` in milliseconds; 0 would mean no expiry. */
  set(key: string, value: string, ttl: number): Promise<unknown>;
  /** Removes an entry. */
  delete(key: string): Promise<unknown>;
  /** Keyv reports errors of its storage through this event. */
  on?(event: 'error', listener: (error: unknown) => void): unknown;
  /** Removes a listener. */
  off?(event: 'error', listener: (error: unknown) => void): unknown;
}

/** True for a Keyv. A `CacheStore` has the same three methods, but neither events nor an inner store. */
export function isKeyv(store: object): store is KeyvLike {
  return typeof (store as { on?: unknown }).on === 'function' && 'store' in store;
}

/** A site's `CacheStore` as a Keyv, which takes a lifetime instead of an expiry. */
export function keyvLike(store: CacheStore, clock: Clock): KeyvLike {
  return {
    get: (key) => store.get(key),
    set: (key, value, ttl) => store.set(key, value, clock.now() + ttl),
    delete: (key) => store.delete(key),
  };
}

/** The entry that a Keyv without serialisation passes to its storage. */
export interface StoredText {
  readonly value: string;
}

/** The part of Keyv's storage adapter that the storages of this package implement. */
export interface TextStorage {
  get(key: string): Promise<StoredText | undefined>;
  getMany(keys: readonly string[]): Promise<readonly (StoredText | undefined)[]>;
  /** `ttl` in milliseconds. */
  set(key: string, text: StoredText, ttl: number): Promise<unknown>;
  /** True if this call stored the text. */
  setIfAbsent?(key: string, text: StoredText, ttl: number): Promise<boolean>;
  delete(key: string): Promise<unknown>;
  clear(): Promise<void>;
}

/** A Keyv over a storage of this package: keys and texts reach it unchanged, and its errors are thrown. */
export function keyvOver(store: TextStorage): Keyv {
  const keyv = new Keyv({ store, useKeyPrefix: false, throwOnErrors: true });
  keyv.serialize = undefined;
  keyv.deserialize = undefined;
  return keyv;
}

interface Listening {
  readonly breakers: Set<StoreBreaker>;
  readonly listener: (error: unknown) => void;
}

/** One listener per Keyv, however many toolkits use it. */
const LISTENING = new WeakMap<KeyvLike, Listening>();

/** Passes errors of a Keyv on until the returned function is called. Without a listener, Keyv 6 crashes the process when Redis disconnects. */
function listen(keyv: KeyvLike, breaker: StoreBreaker): () => void {
  const breakers = new Set<StoreBreaker>();
  const listener = (error: unknown): void => {
    for (const one of breakers) one.report(error);
  };
  const listening = LISTENING.get(keyv) ?? { breakers, listener };
  if (listening.breakers === breakers) keyv.on?.('error', listener);
  LISTENING.set(keyv, listening);
  listening.breakers.add(breaker);
  return () => {
    listening.breakers.delete(breaker);
    if (listening.breakers.size > 0) return;
    keyv.off?.('error', listening.listener);
    LISTENING.delete(keyv);
  };
}

/** Milliseconds that calls wait for the first one. */
const CONNECT_MS = 2_000;
/** The first call to each Keyv of a site. */
const FIRST_CALLS = new WeakMap<KeyvLike, Promise<unknown>>();

/** Resolves after the first call to a Keyv. It connects, and adapters of a cluster fail calls that come meanwhile. */
function connected(keyv: KeyvLike): Promise<unknown> {
  const first =
    FIRST_CALLS.get(keyv) ?? before((async () => keyv.get('agent-bff:connect'))(), CONNECT_MS).catch(() => undefined);
  FIRST_CALLS.set(keyv, first);
  return first;
}

/** Dependencies of a cache store over a Keyv. */
export interface KeyvCacheStoreDependencies {
  readonly keyv: KeyvLike;
  /** Reads several keys in one call. Absent for a Keyv from the site: it may use a cluster, which rejects MGET across slots. */
  readonly getMany?: (keys: string[]) => Promise<readonly unknown[]>;
  /** Stores an entry unless there is one. Absent if the store cannot do so atomically. */
  readonly setIfAbsent?: ((key: string, value: string, ttl: number) => Promise<boolean>) | undefined;
  /** As in `CacheStore`. */
  readonly primary?: CacheStore['primary'];
  /** True for a Keyv of the site: nothing else is called before its first call returns. */
  readonly connects?: boolean;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Milliseconds one call may take. Absent for a storage in memory, which is always in time and returns what was set. */
  readonly cacheMs?: number;
}

/**
 * A cache store over any Keyv 5 or 6.
 *
 * Each entry contains its own key and expiry, so an entry that the store mixed up or kept too long is a miss. `set` and
 * `delete` wait for the store as long as `get` does. A failed call rejects.
 */
export class KeyvCacheStore implements CacheStore {
  readonly #deps: KeyvCacheStoreDependencies;
  readonly #breaker: StoreBreaker | undefined;
  #connecting: Promise<unknown> | undefined;
  /** Stops listening to errors of its Keyv, which may belong to the site. */
  readonly close: () => void;
  readonly setIfAbsent?: NonNullable<CacheStore['setIfAbsent']>;
  readonly primary?: NonNullable<CacheStore['primary']>;

  constructor(dependencies: KeyvCacheStoreDependencies) {
    this.#deps = dependencies;
    const { keyv, clock, telemetry, cacheMs, setIfAbsent, primary } = dependencies;
    const breaker = cacheMs === undefined ? undefined : new StoreBreaker({ clock, telemetry, cacheMs });
    this.#breaker = breaker;
    if (primary !== undefined) this.primary = primary;
    if (setIfAbsent !== undefined) {
      this.setIfAbsent = async (key, value, expiresAt) => {
        const life = this.#life(expiresAt);
        return life > 0 && (await this.#run('set', () => setIfAbsent(key, pack(key, value, expiresAt), life))) === true;
      };
    }
    if (dependencies.connects === true) {
      this.#connecting = connected(keyv).finally(() => (this.#connecting = undefined));
    }
    this.close = breaker === undefined ? () => undefined : listen(keyv, breaker);
  }

  /** True while the store is not called, because several calls in a row failed. */
  get isAway(): boolean {
    return this.#breaker?.isAway === true;
  }

  async get(key: string): Promise<string | undefined> {
    return this.#read(key, await this.#run('get', () => this.#deps.keyv.get(key)));
  }

  async getMany(keys: readonly string[]): Promise<readonly (string | undefined)[]> {
    const { keyv, getMany = (all) => Promise.all(all.map((key) => keyv.get(key))) } = this.#deps;
    const stored = await this.#run('get', () => getMany([...keys]));
    return keys.map((key, index) => this.#read(key, stored?.[index]));
  }

  async set(key: string, value: string, expiresAt: number): Promise<void> {
    const life = this.#life(expiresAt);
    // A Keyv treats a lifetime of 0 as no expiry.
    if (life <= 0) return this.delete(key);
    await this.#run('set', () =>
      this.#deps.keyv.set(key, this.#breaker === undefined ? value : pack(key, value, expiresAt), life),
    );
  }

  async delete(key: string): Promise<void> {
    await this.#run('delete', () => this.#deps.keyv.delete(key));
  }

  /** Whole milliseconds; 0 for an entry that a store cannot keep. */
  #life(expiresAt: number): number {
    const life = Math.floor(expiresAt - this.#deps.clock.now());
    return Number.isSafeInteger(life) ? life : 0;
  }

  #run<T>(operation: StoreOperation, call: () => Promise<T>): Promise<T | undefined> {
    if (this.#breaker === undefined) return call();
    const connecting = this.#connecting;
    return this.#breaker.run(operation, connecting === undefined ? call : () => connecting.then(call));
  }

  #read(key: string, stored: unknown): string | undefined {
    if (stored === undefined || stored === null) return undefined;
    if (this.#breaker === undefined) return stored as string;
    const entry = typeof stored === 'string' ? unpack(key, stored) : undefined;
    if (entry === undefined) {
      this.#deps.telemetry.emit({
        type: 'cache_fault',
        operation: 'get',
        detail: 'the entry is not the one that was set',
      });
      return undefined;
    }
    return this.#deps.clock.now() < entry.expiresAt ? entry.value : undefined;
  }
}

function pack(key: string, value: string, expiresAt: number): string {
  return `${String(expiresAt)} ${String(key.length)} ${key}${value}`;
}

function unpack(key: string, stored: string): { readonly value: string; readonly expiresAt: number } | undefined {
  const [head, expiresAt, length] = /^(\d+(?:\.\d+)?) (\d+) /.exec(stored) ?? [];
  if (head === undefined || Number(length) !== key.length || !stored.startsWith(key, head.length)) return undefined;
  return { value: stored.slice(head.length + key.length), expiresAt: Number(expiresAt) };
}
