import type { CacheStore } from '../../ports/cache-store.js';
import type { Clock } from '../../ports/clock.js';

/** What a cache store in memory is made of. */
export interface MemoryCacheStoreOptions {
  readonly clock: Clock;
  /** Most entries kept; the least recently used goes first. */
  readonly maxEntries: number;
  /** Most bytes kept, keys included, at two bytes a character; a larger entry is not kept at all. */
  readonly maxBytes: number;
}

interface Entry {
  readonly value: string;
  readonly expiresAt: number;
  readonly bytes: number;
}

/** Entries of this process alone, bounded in number and size: what is used when no store is configured. */
export class MemoryCacheStore implements CacheStore {
  readonly #clock: Clock;
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(options: MemoryCacheStoreOptions) {
    this.#clock = options.clock;
    this.#maxEntries = options.maxEntries;
    this.#maxBytes = options.maxBytes;
  }

  get(key: string): Promise<string | undefined> {
    const entry = this.#take(key);
    if (entry === undefined || this.#clock.now() >= entry.expiresAt) return Promise.resolve(undefined);
    this.#put(key, entry);
    return Promise.resolve(entry.value);
  }

  set(key: string, value: string, expiresAt: number): Promise<void> {
    this.#take(key);
    const bytes = 2 * (key.length + value.length);
    if (this.#clock.now() < expiresAt && bytes <= this.#maxBytes) this.#put(key, { value, expiresAt, bytes });
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#maxEntries && this.#bytes <= this.#maxBytes) break;
      this.#take(oldest);
    }
    return Promise.resolve();
  }

  delete(key: string): Promise<void> {
    this.#take(key);
    return Promise.resolve();
  }

  #put(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes;
  }

  #take(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
    return entry;
  }
}
