import type { CacheStore } from '../../ports/cache-store.js';
import type { Clock } from '../../ports/clock.js';

/** What a cache store in memory is made of. */
export interface MemoryCacheStoreOptions {
  readonly clock: Clock;
  /** Most entries kept; one that was not used for long goes first. */
  readonly maxEntries: number;
  /** Most bytes kept, keys included, at two bytes a character; a larger entry is not kept at all. */
  readonly maxBytes: number;
}

interface Entry {
  readonly value: string;
  readonly expiresAt: number;
  readonly bytes: number;
  /** How many entries had been kept when this one was last put behind all others. */
  readonly usedAt: number;
}

/** An entry that is used is put behind the others again when this part of all entries was kept since: a hit seldom moves anything. */
const OUT_OF_ORDER = 1 / 8;

/** Entries of this process alone, bounded in number and size: what is used when no store is configured. */
export class MemoryCacheStore implements CacheStore {
  readonly #clock: Clock;
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;
  #count = 0;

  constructor(options: MemoryCacheStoreOptions) {
    this.#clock = options.clock;
    this.#maxEntries = options.maxEntries;
    this.#maxBytes = options.maxBytes;
  }

  get(key: string): string | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    const isExpired = this.#clock.now() >= entry.expiresAt;
    const isBehind = this.#count - entry.usedAt > this.#entries.size * OUT_OF_ORDER;
    if (isExpired || isBehind) this.#take(key);
    if (isBehind && !isExpired) this.#put(key, { ...entry, usedAt: this.#count });
    return isExpired ? undefined : entry.value;
  }

  set(key: string, value: string, expiresAt: number): Promise<void> {
    this.#take(key);
    const bytes = 2 * (key.length + value.length);
    if (this.#clock.now() < expiresAt && bytes <= this.#maxBytes) {
      this.#count += 1;
      this.#put(key, { value, expiresAt, bytes, usedAt: this.#count });
    }
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
