import { LRUCache } from 'lru-cache';
import type { Clock } from '../../ports/clock.js';
import type { Memory, MemoryMap } from '../../ports/memory.js';

interface Held {
  readonly key: string;
  readonly value: unknown;
  readonly expiresAt: number;
  readonly clock: Clock;
  /** The entries of its map; it is gone from them when it left the cache. */
  readonly own: Map<string, Held>;
}

/** Bytes of an entry besides its key, at two a character, and its value. */
const ENTRY_BYTES = 256;

/** Cached values of all toolkits of a process, bounded in bytes. Expired ones leave as others are stored. */
export class ProcessMemory {
  readonly #cache: LRUCache<Held, true>;
  readonly limitBytes: number;

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
    const dispose = (_: true, { own, key }: Held): boolean => own.delete(key);
    this.#cache = new LRUCache({ maxSize: Math.max(1, limitBytes), dispose });
  }

  /** Bytes held now. */
  get heldBytes(): number {
    return this.#cache.calculatedSize;
  }

  /** The part of a toolkit, whose clock decides what has expired. `close` drops its values; later ones are not stored. */
  share(clock: Clock): Memory & { close(): void } {
    const maps: SharedMap<unknown>[] = [];
    return {
      map: <Value>() => {
        const map = new SharedMap<Value>(this.#cache, clock);
        maps.push(map);
        return map;
      },
      close: () => {
        for (const map of maps) map.close();
      },
    };
  }
}

/** Its entries, by their keys; the cache of the process decides which of them leave. */
class SharedMap<Value> implements MemoryMap<Value> {
  readonly #cache: LRUCache<Held, true>;
  readonly #clock: Clock;
  readonly #own = new Map<string, Held>();
  #isClosed = false;

  constructor(cache: LRUCache<Held, true>, clock: Clock) {
    this.#cache = cache;
    this.#clock = clock;
  }

  get(key: string): Value | undefined {
    const held = this.#own.get(key);
    if (held === undefined) return undefined;
    if (this.#clock.now() >= held.expiresAt) {
      this.#cache.delete(held);
      return undefined;
    }
    // The most recently used one now.
    this.#cache.get(held);
    return held.value as Value;
  }

  set(key: string, value: Value, bytes: number, expiresAt: number): void {
    if (this.#isClosed) return;
    this.#dropExpired();
    this.delete(key);
    const held = { key, value, expiresAt, clock: this.#clock, own: this.#own };
    this.#cache.set(held, true, { size: bytes + 2 * key.length + ENTRY_BYTES });
    // Unless it is too large.
    if (this.#cache.has(held)) this.#own.set(key, held);
  }

  delete(key: string): void {
    const held = this.#own.get(key);
    if (held !== undefined) this.#cache.delete(held);
  }

  close(): void {
    this.#isClosed = true;
    for (const held of this.#own.values()) this.#cache.delete(held);
  }

  /** Beginning with the least recently used, up to the first that is alive. */
  #dropExpired(): void {
    for (;;) {
      const { value: oldest, done } = this.#cache.rkeys().next();
      if (done === true || oldest.clock.now() < oldest.expiresAt) return;
      this.#cache.delete(oldest);
    }
  }

  /** All unexpired ones at this moment. */
  [Symbol.iterator](): ArrayIterator<readonly [key: string, value: Value]> {
    const now = this.#clock.now();
    const alive = Array.from(this.#own.values()).filter(({ expiresAt }) => now < expiresAt);
    return alive.map(({ key, value }) => [key, value as Value] as const).values();
  }
}
