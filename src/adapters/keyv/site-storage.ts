import { getMany } from '../../domain/shared/get-many.js';
import type { CacheStore } from '../../ports/cache-store.js';
import type { Clock } from '../../ports/clock.js';
import type { StoredText, TextStorage } from './own-keyv.js';

/** A cache store that a site wrote, as a storage of Keyv. */
export class SiteStorage implements TextStorage {
  readonly #store: CacheStore;
  readonly #clock: Clock;

  constructor(store: CacheStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  async get(key: string): Promise<StoredText | undefined> {
    return stored(await this.#store.get(key));
  }

  async getMany(keys: readonly string[]): Promise<readonly (StoredText | undefined)[]> {
    return (await getMany(this.#store, keys)).map(stored);
  }

  async set(key: string, { value }: StoredText, ttl: number): Promise<void> {
    await this.#store.set(key, value, this.#clock.now() + ttl);
  }

  async delete(key: string): Promise<void> {
    await this.#store.delete(key);
  }

  /** Keyv asks for it and nothing calls it: the site may keep other entries there. */
  clear(): Promise<void> {
    return Promise.resolve();
  }
}

function stored(value: string | undefined): StoredText | undefined {
  return value === undefined ? undefined : { value };
}
