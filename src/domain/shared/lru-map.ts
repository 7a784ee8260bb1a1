/** How much a map may hold. */
export interface MapBounds {
  readonly maxEntries: number;
  /** All values together. Default: any number. */
  readonly maxBytes?: number;
}

interface Sized<V> {
  readonly value: V;
  readonly bytes: number;
}

const NONE: readonly string[] = [];

/** A map bounded in entries and bytes; the least recently used goes first. */
export class LruMap<V> {
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  readonly #entries = new Map<string, Sized<V>>();
  #bytes = 0;

  constructor({ maxEntries, maxBytes = Infinity }: MapBounds) {
    this.#maxEntries = maxEntries;
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The value of a key, which is now the most recently used one. */
  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Keeps a value of this size, unless it alone is too large. Returns the keys that had to go. */
  set(key: string, value: V, bytes = 0): readonly string[] {
    this.delete(key);
    if (bytes > this.#maxBytes) return NONE;
    this.#entries.set(key, { value, bytes });
    this.#bytes += bytes;
    if (this.#fits()) return NONE;
    const evicted: string[] = [];
    for (const oldest of this.#entries.keys()) {
      if (this.#fits()) break;
      this.delete(oldest);
      evicted.push(oldest);
    }
    return evicted;
  }

  delete(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }

  /** The least recently used first. */
  *[Symbol.iterator](): Generator<readonly [key: string, value: V], void> {
    for (const [key, { value }] of this.#entries) yield [key, value];
  }

  #fits(): boolean {
    return this.#entries.size <= this.#maxEntries && this.#bytes <= this.#maxBytes;
  }
}
