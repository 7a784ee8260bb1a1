interface Entry<V> {
  readonly value: V;
  readonly expiresAt: number;
}

/** A map bounded in entries; the least recently used is evicted first. */
export class LruMap<V> {
  readonly #maxEntries: number;
  readonly #entries = new Map<string, Entry<V>>();

  constructor({ maxEntries }: { readonly maxEntries: number }) {
    this.#maxEntries = maxEntries;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The value of a key, which becomes the most recently used one; one that has expired by `now` is deleted. */
  get(key: string, now: number = -Infinity): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    if (entry.expiresAt <= now) return undefined;
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: V, expiresAt: number = Infinity): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, expiresAt });
    if (this.#entries.size <= this.#maxEntries) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}
