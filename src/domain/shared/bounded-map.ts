/** How much a map may hold. */
export interface MapBounds {
  readonly maxEntries: number;
  /** All values together. */
  readonly maxBytes: number;
}

interface Sized<V> {
  readonly value: V;
  readonly bytes: number;
}

/** A map bounded in entries and bytes; what was set longest ago goes first. */
export class BoundedMap<V> {
  readonly #bounds: MapBounds;
  readonly #entries = new Map<string, Sized<V>>();
  #bytes = 0;

  constructor(bounds: MapBounds) {
    this.#bounds = bounds;
  }

  get(key: string): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Keeps a value of this size, unless it alone is too large. */
  set(key: string, value: V, bytes: number): void {
    this.delete(key);
    const { maxEntries, maxBytes } = this.#bounds;
    if (bytes > maxBytes) return;
    this.#entries.set(key, { value, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= maxEntries && this.#bytes <= maxBytes) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}
