import type { CountedCache, CountedEntry, MemoryShare } from './memory-budget.js';

/** Limits of a map. */
export interface MapBounds {
  /** Default: no limit. */
  readonly maxEntries?: number;
  /** All values together. Default: no limit. */
  readonly maxBytes?: number;
  /** Counts entries with their keys, and evicts them when its budget is full. Default: none. */
  readonly share?: MemoryShare | undefined;
}

/**
 * An entry with its neighbours by last use. A linked list, because every hit moves an entry, and re-inserting it in a
 * `Map` grows its table.
 */
interface Entry<V> extends CountedEntry {
  readonly value: V;
  older: Entry<V> | undefined;
  newer: Entry<V> | undefined;
}

/** Bytes of an entry in a share besides its key, at most two a character, and its value. */
const ENTRY_BYTES = 256;

/** A map bounded in entries and bytes; the least recently used is evicted first. */
export class LruMap<V> implements CountedCache {
  readonly share: MemoryShare | undefined;
  bytes: number = 0;
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  readonly #entries = new Map<string, Entry<V>>();
  #oldest: Entry<V> | undefined;
  #newest: Entry<V> | undefined;

  constructor({ maxEntries = Infinity, share, maxBytes = share?.limitBytes ?? Infinity }: MapBounds) {
    this.#maxEntries = maxEntries;
    this.#maxBytes = maxBytes;
    this.share = share;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The value of a key, which becomes the most recently used one; one that has expired by `now` is deleted. */
  get(key: string, now: number = -Infinity): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.expiresAt <= now) {
      this.delete(key);
      return undefined;
    }
    if (entry !== this.#newest) {
      this.#unlink(entry);
      this.#append(entry);
    }
    return entry.value;
  }

  /** Stores a value of this size, unless it alone is too large. A share drops it once it has expired. */
  set(key: string, value: V, valueBytes: number = 0, expiresAt: number = Infinity): void {
    this.delete(key);
    const { share } = this;
    if (share?.isClosed === true) return;
    const bytes = share === undefined ? valueBytes : valueBytes + 2 * key.length + ENTRY_BYTES;
    if (bytes > this.#maxBytes) return;
    const entry: Entry<V> = { key, value, bytes, expiresAt, cache: this, older: undefined, newer: undefined };
    this.#entries.set(key, entry);
    this.#append(entry);
    this.bytes += bytes;
    share?.add(entry);
    while (this.#oldest !== undefined && !this.#fits()) this.evict();
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#unlink(entry);
    this.bytes -= entry.bytes;
    this.share?.remove(entry);
  }

  evict(): void {
    if (this.#oldest !== undefined) this.delete(this.#oldest.key);
  }

  clear(): void {
    while (this.#oldest !== undefined) this.evict();
  }

  /** Iterates from the least recently used. Entries may be deleted meanwhile. */
  *[Symbol.iterator](): Generator<readonly [key: string, value: V], void> {
    for (let entry = this.#oldest; entry !== undefined; entry = entry.newer) yield [entry.key, entry.value];
  }

  #append(entry: Entry<V>): void {
    entry.older = this.#newest;
    entry.newer = undefined;
    if (this.#newest === undefined) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
  }

  #unlink({ older, newer }: Entry<V>): void {
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
  }

  #fits(): boolean {
    return this.#entries.size <= this.#maxEntries && this.bytes <= this.#maxBytes;
  }
}
