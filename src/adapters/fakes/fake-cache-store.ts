import type { CacheStore } from '../../ports/cache-store.js';
import type { Clock } from '../../ports/clock.js';

/**
 * A cache store in memory that counts what it is asked.
 *
 * @public
 */
export class FakeCacheStore implements CacheStore {
  /** How often each operation was called. */
  readonly calls: { get: number; set: number; delete: number } = { get: 0, set: 0, delete: 0 };
  readonly #clock: Clock;
  readonly #entries = new Map<string, { readonly value: string; readonly expiresAt: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The entry while it has not expired. */
  get(key: string): Promise<string | undefined> {
    this.calls.get += 1;
    const entry = this.#entries.get(key);
    return Promise.resolve(entry !== undefined && this.#clock.now() < entry.expiresAt ? entry.value : undefined);
  }

  /** Keeps an entry. */
  set(key: string, value: string, expiresAt: number): Promise<void> {
    this.calls.set += 1;
    this.#entries.set(key, { value, expiresAt });
    return Promise.resolve();
  }

  /** Removes an entry. */
  delete(key: string): Promise<void> {
    this.calls.delete += 1;
    this.#entries.delete(key);
    return Promise.resolve();
  }
}
