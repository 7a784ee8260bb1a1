import { Keyv } from 'keyv';
import type { Clock } from '../../ports/clock.js';
import type { MemoryMap } from '../../ports/memory.js';

/** A Keyv in the memory of the process, for any values: nothing is serialised, so that a hit is what was stored. */
export class MemoryStore<Value> {
  readonly #keyv: Keyv<Value>;
  readonly #clock: Clock;

  /** `bytesOf` is the size of a value. */
  constructor(map: MemoryMap<unknown>, clock: Clock, bytesOf: (value: Value) => number) {
    this.#clock = clock;
    const store = {
      get: (key: string) => map.get(key),
      set: (key: string, entry: { readonly value: Value }, ttl: number) =>
        map.set(key, entry, bytesOf(entry.value), clock.now() + ttl),
      delete: (key: string) => map.delete(key),
      clear: () => undefined,
    };
    this.#keyv = new Keyv({ store, useKeyPrefix: false, throwOnErrors: true });
    this.#keyv.serialize = undefined;
    this.#keyv.deserialize = undefined;
  }

  get(key: string): Promise<Value | undefined> {
    return this.#keyv.get<Value>(key);
  }

  async set(key: string, value: Value, expiresAt: number): Promise<void> {
    await this.#keyv.set(key, value, expiresAt - this.#clock.now());
  }

  async delete(key: string): Promise<void> {
    await this.#keyv.delete(key);
  }
}
