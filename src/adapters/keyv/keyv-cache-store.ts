import type { CacheStore } from '../../ports/cache-store.js';
import type { Clock } from '../../ports/clock.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { KeyvLike } from './keyv-like.js';
import { StoreBreaker, type StoreBreakerDependencies } from './store-breaker.js';

/** What a cache store over a Keyv is made of. */
export interface KeyvCacheStoreDependencies extends StoreBreakerDependencies {
  readonly keyv: KeyvLike;
}

/**
 * A cache store over any Keyv 5 or 6.
 *
 * Each entry holds its own key and end, so an entry that the store mixed up or kept too long is a miss.
 * `set` and `delete` wait for the store no longer than a `get` does; what the store says of them is not believed.
 */
export class KeyvCacheStore implements CacheStore {
  readonly #keyv: KeyvLike;
  readonly #clock: Clock;
  readonly #telemetry: Telemetry;
  readonly #breaker: StoreBreaker;

  constructor(dependencies: KeyvCacheStoreDependencies) {
    this.#keyv = dependencies.keyv;
    this.#clock = dependencies.clock;
    this.#telemetry = dependencies.telemetry;
    this.#breaker = new StoreBreaker(dependencies);
    // Without a listener, Keyv 6 ends the process when Redis goes away.
    this.#keyv.on?.('error', (error) => this.#breaker.report(error));
  }

  async get(key: string): Promise<string | undefined> {
    const stored = await this.#breaker.run('get', () => this.#keyv.get(key));
    if (stored === undefined || stored === null) return undefined;
    const entry = typeof stored === 'string' ? unpack(key, stored) : undefined;
    if (entry === undefined) {
      this.#telemetry.emit({ type: 'cache_fault', operation: 'get', detail: 'the entry is not the one that was set' });
      return undefined;
    }
    return this.#clock.now() < entry.expiresAt ? entry.value : undefined;
  }

  async set(key: string, value: string, expiresAt: number): Promise<void> {
    const life = Math.floor(expiresAt - this.#clock.now());
    // A Keyv takes a life of 0 for eternity.
    if (!(life > 0)) return this.delete(key);
    await this.#breaker.run('set', () => this.#keyv.set(key, pack(key, value, expiresAt), life));
  }

  async delete(key: string): Promise<void> {
    await this.#breaker.run('delete', () => this.#keyv.delete(key));
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
