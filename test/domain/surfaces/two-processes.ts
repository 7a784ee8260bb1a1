import type { RenderCache } from '../../../src/domain/surfaces/render-cache.js';
import type { CacheStore } from '../../../src/ports/cache-store.js';
import { COUNTER, SurfaceWorld, user } from './surface-world.js';

const ADA = user('ada');

/** One process's connection to the shared store, which can lose writes and reads. */
class Connection implements CacheStore {
  losesWrites = false;
  losesReads = false;
  losesRemovals = false;
  readonly #store: CacheStore;

  constructor(store: CacheStore) {
    this.#store = store;
  }

  set isDown(isDown: boolean) {
    this.losesWrites = isDown;
    this.losesReads = isDown;
    this.losesRemovals = isDown;
  }

  async get(key: string): Promise<string | undefined> {
    return this.losesReads ? undefined : this.#store.get(key);
  }

  async set(key: string, value: string, expiresAt: number): Promise<void> {
    if (!this.losesWrites) await this.#store.set(key, value, expiresAt);
  }

  async delete(key: string): Promise<void> {
    if (!this.losesRemovals) await this.#store.delete(key);
  }
}

/** Two processes of one site, each with its own connection to the store. */
export class TwoProcesses extends SurfaceWorld {
  readonly connections = [new Connection(this.store), new Connection(this.store)] as const;
  readonly processes: readonly [RenderCache, RenderCache] = [
    this.newCache({}, this.connections[0]),
    this.newCache({}, this.connections[1]),
  ];

  show(process: 0 | 1): ReturnType<SurfaceWorld['render']> {
    return this.render(ADA, COUNTER, {}, this.processes[process]);
  }

  async actIn(process: 0 | 1): Promise<void> {
    await this.act(ADA, COUNTER, {}, this.processes[process]);
  }

  /** Runs the tasks that the processes postponed. */
  async catchUp(): Promise<void> {
    for (const task of this.later.splice(0)) task();
    // Calls to a store in memory end within one turn of the event loop.
    await new Promise(setImmediate);
  }
}
