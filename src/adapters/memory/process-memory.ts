import { LRUCache } from 'lru-cache';
import type { Clock } from '../../ports/clock.js';
import type { Memory, MemoryMap } from '../../ports/memory.js';

interface Held {
  readonly value: unknown;
  readonly expiresAt: number;
  readonly clock: Clock;
}

/** Bytes of an entry besides its key, at two a character, and its value. */
const ENTRY_BYTES = 256;

/** Cached values of all toolkits of a process, bounded in bytes. Expired ones leave as others are stored. */
export class ProcessMemory {
  readonly #cache: LRUCache<string, Held>;
  readonly limitBytes: number;
  #maps = 0;

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
    this.#cache = new LRUCache({ maxSize: Math.max(1, limitBytes) });
  }

  /** Bytes held now. */
  get heldBytes(): number {
    return this.#cache.calculatedSize;
  }

  /** The part of a toolkit, whose clock decides what has expired. `close` drops its values; later ones are not stored. */
  share(clock: Clock): Memory & { close(): void } {
    const prefixes = new Set<string>();
    const state = { isClosed: false };
    return {
      map: () => {
        this.#maps += 1;
        const prefix = `${this.#maps.toString(36)} `;
        prefixes.add(prefix);
        return new PrefixedMap(this.#cache, prefix, clock, state);
      },
      close: () => {
        state.isClosed = true;
        const own = Array.from(this.#cache.keys()).filter((key) => prefixes.has(prefixOf(key)));
        for (const key of own) this.#cache.delete(key);
      },
    };
  }
}

class PrefixedMap<Value> implements MemoryMap<Value> {
  readonly #cache: LRUCache<string, Held>;
  readonly #prefix: string;
  readonly #clock: Clock;
  readonly #state: { readonly isClosed: boolean };

  constructor(cache: LRUCache<string, Held>, prefix: string, clock: Clock, state: { readonly isClosed: boolean }) {
    this.#cache = cache;
    this.#prefix = prefix;
    this.#clock = clock;
    this.#state = state;
  }

  get(key: string): Value | undefined {
    const held = this.#cache.get(this.#prefix + key);
    if (held === undefined) return undefined;
    if (this.#clock.now() < held.expiresAt) return held.value as Value;
    this.delete(key);
    return undefined;
  }

  set(key: string, value: Value, bytes: number, expiresAt: number): void {
    if (this.#state.isClosed) return;
    this.#dropExpired();
    const name = this.#prefix + key;
    this.#cache.set(name, { value, expiresAt, clock: this.#clock }, { size: bytes + 2 * name.length + ENTRY_BYTES });
  }

  delete(key: string): void {
    this.#cache.delete(this.#prefix + key);
  }

  /** Beginning with the least recently used, up to the first that is alive. */
  #dropExpired(): void {
    for (;;) {
      const { value: oldest, done } = this.#cache.rentries().next();
      if (done === true) return;
      const [name, { clock, expiresAt }] = oldest as [string, Held];
      if (clock.now() < expiresAt) return;
      this.#cache.delete(name);
    }
  }

  /** All unexpired ones at this moment. */
  [Symbol.iterator](): ArrayIterator<readonly [key: string, value: Value]> {
    const now = this.#clock.now();
    const own: [string, Value][] = [];
    for (const [name, { value, expiresAt }] of this.#cache.entries())
      if (now < expiresAt && name.startsWith(this.#prefix)) own.push([name.slice(this.#prefix.length), value as Value]);
    return own.values();
  }
}

function prefixOf(key: string): string {
  return key.slice(0, key.indexOf(' ') + 1);
}
