/** Limits of a map. */
export interface MapBounds {
  /** Default: no limit. */
  readonly maxEntries?: number;
  /** All values together. Default: no limit. */
  readonly maxBytes?: number;
}

/**
 * An entry with its neighbours by last use. A linked list, because every hit moves an entry, and re-inserting it in a
 * `Map` grows its table.
 */
interface Entry<V> {
  readonly key: string;
  readonly value: V;
  readonly bytes: number;
  older: Entry<V> | undefined;
  newer: Entry<V> | undefined;
}

/** A map bounded in entries and bytes; the least recently used is evicted first. */
export class LruMap<V> {
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  readonly #entries = new Map<string, Entry<V>>();
  #oldest: Entry<V> | undefined;
  #newest: Entry<V> | undefined;
  #bytes = 0;

  constructor({ maxEntries = Infinity, maxBytes = Infinity }: MapBounds) {
    this.#maxEntries = maxEntries;
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The value of a key, which becomes the most recently used one. */
  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry !== this.#newest) {
      this.#unlink(entry);
      this.#append(entry);
    }
    return entry.value;
  }

  /** Stores a value of this size, unless it alone is too large. */
  set(key: string, value: V, bytes = 0): void {
    this.delete(key);
    if (bytes > this.#maxBytes) return;
    const entry: Entry<V> = { key, value, bytes, older: undefined, newer: undefined };
    this.#entries.set(key, entry);
    this.#append(entry);
    this.#bytes += bytes;
    while (this.#oldest !== undefined && !this.#fits()) this.delete(this.#oldest.key);
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#unlink(entry);
    this.#bytes -= entry.bytes;
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
    return this.#entries.size <= this.#maxEntries && this.#bytes <= this.#maxBytes;
  }
}
