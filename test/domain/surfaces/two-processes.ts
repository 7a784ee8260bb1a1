import { STORE_AWAY } from '../../../src/domain/shared/store-calls.js';
import type { RenderCache } from '../../../src/domain/surfaces/render-cache.js';
import type { CacheStore } from '../../../src/ports/cache-store.js';
import type { VirtualTime } from '../../support/virtual-time.js';
import { type CacheSettings, COUNTER, SurfaceWorld, type Shown, user } from './surface-world.js';

const ADA = user('ada');
/** Milliseconds after which a call is given up; the store still carries it out. */
const CACHE_MS = 50;

/** One process's connection to the shared store. A failed call rejects. */
export class Connection implements CacheStore {
  /** Every call fails. */
  isDown = false;
  /** Every call fails, and the process has stopped calling. */
  isAway = false;
  losesWrites = false;
  /** Milliseconds until the store has carried out a call. */
  readMs = 0;
  writeMs = 0;
  server = 'primary';
  readonly setIfAbsent?: NonNullable<CacheStore['setIfAbsent']>;
  readonly #store: CacheStore;
  readonly #time: VirtualTime;

  constructor(store: CacheStore, time: VirtualTime) {
    this.#store = store;
    this.#time = time;
    const create = store.setIfAbsent?.bind(store);
    if (create === undefined) return;
    this.setIfAbsent = (key, value, expiresAt) => this.#write(() => create(key, value, expiresAt));
  }

  primary(): string {
    return this.server;
  }

  get(key: string): Promise<string | undefined> {
    return this.#run(this.readMs, () => this.#store.get(key));
  }

  set(key: string, value: string, expiresAt: number): Promise<void> {
    return this.#write(() => this.#store.set(key, value, expiresAt));
  }

  delete(key: string): Promise<void> {
    return this.#run(this.writeMs, () => this.#store.delete(key));
  }

  #write<T>(call: () => Promise<T>): Promise<T> {
    return this.losesWrites ? Promise.reject(new Error('OOM')) : this.#run(this.writeMs, call);
  }

  async #run<T>(ms: number, call: () => Promise<T>): Promise<T> {
    if (this.isAway) throw STORE_AWAY;
    if (this.isDown) throw new Error('down');
    if (ms === 0) return call();
    const done = this.#time.sleep(ms).then(call);
    if (ms <= CACHE_MS) return done;
    await this.#time.sleep(CACHE_MS);
    throw new Error('TIMEOUT');
  }
}

/** Processes of one site, each with its own connection to the store. */
export class Fleet extends SurfaceWorld {
  readonly connections: readonly Connection[];
  readonly processes: RenderCache[];

  constructor(count: number, settings: CacheSettings = {}, kind = (store: CacheStore) => store) {
    super();
    this.connections = Array.from({ length: count }, () => new Connection(kind(this.store), this.clock));
    this.processes = this.connections.map((connection) => this.newCache(settings, connection));
  }

  show(process: number): Promise<Shown> {
    return this.render(ADA, COUNTER, {}, this.processes[process]);
  }

  async actIn(process: number): Promise<void> {
    await this.act(ADA, COUNTER, {}, this.processes[process]);
  }

  /** A render during which the test lets time pass. */
  beginShow(process: number): Promise<Shown> {
    return this.beginRender(ADA, COUNTER, {}, this.processes[process]);
  }

  /** The same for an action. */
  async beginActIn(process: number): Promise<void> {
    await this.beginAct(ADA, COUNTER, {}, this.processes[process]);
  }

  set all(state: Partial<Pick<Connection, 'isDown' | 'isAway' | 'losesWrites' | 'readMs' | 'writeMs' | 'server'>>) {
    for (const connection of this.connections) Object.assign(connection, state);
  }
}

/** The same store, without `setIfAbsent`. */
export function plain(store: CacheStore): CacheStore {
  return {
    get: (key) => store.get(key),
    set: (key, value, expiresAt) => store.set(key, value, expiresAt),
    delete: (key) => store.delete(key),
  };
}

/** The number of actions that a render shows. */
export function actionsIn({ content }: Shown): number {
  return Number(/ s(\d+) /.exec(content)?.[1]);
}
