import type { CacheStore } from '../../ports/cache-store.js';
import { StoreBreaker, type StoreBreakerDependencies } from './store-breaker.js';

/** What a guarded cache store is made of. */
export interface GuardedCacheStoreDependencies extends StoreBreakerDependencies {
  /** A store of the site. */
  readonly store: CacheStore;
}

/** Holds a cache store that a site wrote to the promises of the port: an answer in time, and no error. */
export class GuardedCacheStore implements CacheStore {
  readonly #store: CacheStore;
  readonly #breaker: StoreBreaker;

  constructor(dependencies: GuardedCacheStoreDependencies) {
    this.#store = dependencies.store;
    this.#breaker = new StoreBreaker(dependencies);
  }

  async get(key: string): Promise<string | undefined> {
    const value: unknown = await this.#breaker.run('get', async () => this.#store.get(key));
    return typeof value === 'string' ? value : undefined;
  }

  async set(key: string, value: string, expiresAt: number): Promise<void> {
    await this.#breaker.run('set', async () => this.#store.set(key, value, expiresAt));
  }

  async delete(key: string): Promise<void> {
    await this.#breaker.run('delete', async () => this.#store.delete(key));
  }
}
