import { LruMap, type MapBounds } from '../../domain/shared/lru-map.js';
import type { Clock } from '../../ports/clock.js';
import type { StoredText, TextStorage } from './keyv-cache-store.js';

interface Entry {
  readonly text: StoredText;
  readonly expiresAt: number;
}

/** Bytes of an entry besides its key and text. */
const ENTRY_BYTES = 200;

/** An in-memory storage for Keyv, bounded in bytes. The default if no store is configured. */
export class MemoryStorage implements TextStorage {
  readonly #clock: Clock;
  readonly #bounds: MapBounds;
  /** The least recently used first. */
  #entries: LruMap<Entry>;

  constructor(clock: Clock, bounds: MapBounds) {
    this.#clock = clock;
    this.#bounds = bounds;
    this.#entries = new LruMap(bounds);
  }

  get(key: string): Promise<StoredText | undefined> {
    return Promise.resolve(this.#get(key));
  }

  getMany(keys: readonly string[]): Promise<readonly (StoredText | undefined)[]> {
    return Promise.resolve(keys.map((key) => this.#get(key)));
  }

  set(key: string, text: StoredText, ttl: number): Promise<void> {
    // Two bytes a character, including the key's.
    const bytes = 2 * (key.length + text.value.length) + ENTRY_BYTES;
    this.#entries.set(key, { text, expiresAt: this.#clock.now() + ttl }, bytes);
    return Promise.resolve();
  }

  delete(key: string): Promise<void> {
    this.#entries.delete(key);
    return Promise.resolve();
  }

  clear(): Promise<void> {
    this.#entries = new LruMap(this.#bounds);
    return Promise.resolve();
  }

  #get(key: string): StoredText | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (this.#clock.now() < entry.expiresAt) return entry.text;
    this.#entries.delete(key);
    return undefined;
  }
}
