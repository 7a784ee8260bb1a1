import { LruMap } from '../../domain/shared/lru-map.js';
import type { MemoryShare } from '../../domain/shared/memory-budget.js';
import type { Clock } from '../../ports/clock.js';
import type { StoredText, TextStorage } from './keyv-cache-store.js';

/** An in-memory storage for Keyv. The default if no store is configured. */
export class MemoryStorage implements TextStorage {
  readonly #clock: Clock;
  readonly #entries: LruMap<StoredText>;

  /** `share` counts its entries, and bounds them. */
  constructor(clock: Clock, share: MemoryShare) {
    this.#clock = clock;
    this.#entries = new LruMap({ share });
  }

  get(key: string): Promise<StoredText | undefined> {
    return Promise.resolve(this.#get(key));
  }

  getMany(keys: readonly string[]): Promise<readonly (StoredText | undefined)[]> {
    return Promise.resolve(keys.map((key) => this.#get(key)));
  }

  set(key: string, text: StoredText, ttl: number): Promise<void> {
    const expiresAt = this.#clock.now() + ttl;
    // Two bytes a character.
    this.#entries.set(key, text, 2 * text.value.length, expiresAt);
    return Promise.resolve();
  }

  delete(key: string): Promise<void> {
    this.#entries.delete(key);
    return Promise.resolve();
  }

  clear(): Promise<void> {
    this.#entries.clear();
    return Promise.resolve();
  }

  #get(key: string): StoredText | undefined {
    return this.#entries.get(key, this.#clock.now());
  }
}
