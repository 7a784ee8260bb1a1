import { sha256 } from '../../../src/adapters/system/system.js';
import { textRenders } from '../../../src/domain/surfaces/cached-render.js';
import { Generations } from '../../../src/domain/surfaces/generations.js';
import { RenderCache, type RenderOutcome } from '../../../src/domain/surfaces/render-cache.js';
import { RenderKeys } from '../../../src/domain/surfaces/render-keys.js';
import type { SurfaceRef } from '../../../src/domain/surfaces/surface-ref.js';
import type { CacheStore } from '../../../src/ports/cache-store.js';
import type { Clock } from '../../../src/ports/clock.js';
import { textOf } from '../../contracts/http-upstream.contract.js';
import { memoryOf } from '../../support/memory.js';
import { VirtualTime } from '../../support/virtual-time.js';

/** Milliseconds after which a process gives up a call; the store still carries it out. */
const CACHE_MS = 50;
export const FRESH_MS = 3_000;
export const MAX_AGE_MS = 20_000;
export const BY_ID: SurfaceRef = { by: 'id', value: 'w-1' };
export const BY_NAME: SurfaceRef = { by: 'name', value: 'Widget' };
/** The names of the surface, as the platform reports them. */
export const BOTH = { id: 'w-1', name: 'Widget' };
const SCOPE = 'ada';

const DOWN = new Error('the store failed');

type Entries = Map<string, readonly [value: string, expiresAt: number]>;

/** The store's server, which processes reach through connections. */
export class StoreServer {
  readonly #clock: Clock;
  #entries: Entries = new Map();
  #snapshot: Entries = new Map();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(key: string): string | undefined {
    const [value, expiresAt] = this.#entries.get(key) ?? ['', -Infinity];
    return this.#clock.now() < expiresAt ? value : undefined;
  }

  set(key: string, value: string, ttl: number): void {
    this.#entries.set(key, [value, this.#clock.now() + ttl]);
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  keys(kind: string): readonly string[] {
    return [...this.#entries.keys()].filter((key) => key.includes(kind));
  }

  save(): void {
    this.#snapshot = new Map(this.#entries);
  }

  restart(from: 'empty' | 'snapshot'): void {
    this.#entries = from === 'empty' ? new Map() : new Map(this.#snapshot);
  }
}

/** `silent`: writes are refused, and reported as done. `read only`: they reject. */
export type ConnectionState = 'up' | 'slow' | 'gone' | 'silent' | 'read only' | 'full';

/** One process's connection to the store, as a store with a deadline: a failed call rejects. */
export class Connection implements CacheStore {
  state: ConnectionState = 'up';
  /** Milliseconds until the store has carried out a call, if it is slow. */
  slowMs = 60;
  server: StoreServer;
  readonly #time: VirtualTime;
  readonly #clock: Clock;

  constructor(server: StoreServer, time: VirtualTime, clock: Clock) {
    this.server = server;
    this.#time = time;
    this.#clock = clock;
  }

  get(key: string): Promise<string | undefined> {
    return this.#run(() => this.server.get(key));
  }

  set(key: string, value: string, expiresAt: number): Promise<void> {
    if (this.state === 'silent') return Promise.resolve();
    if (this.state === 'read only' || this.state === 'full') return Promise.reject(DOWN);
    const ttl = expiresAt - this.#clock.now();
    return this.#run(() => this.server.set(key, value, ttl));
  }

  delete(key: string): Promise<void> {
    if (this.state === 'silent') return Promise.resolve();
    if (this.state === 'read only') return Promise.reject(DOWN);
    return this.#run(() => this.server.delete(key));
  }

  async #run<T>(call: () => T): Promise<T> {
    if (this.state === 'gone') throw DOWN;
    if (this.state !== 'slow') return call();
    const done = this.#time.sleep(this.slowMs).then(call);
    if (this.slowMs <= CACHE_MS) return done;
    await this.#time.sleep(CACHE_MS);
    throw DOWN;
  }
}

/** A platform with one surface, whose content is the number of actions so far. */
export class CountingPlatform {
  state = 0;
  /** Checks find nothing new, whatever has changed. */
  isBlind = false;
  /** Held renders wait for it. */
  gate: Promise<void> | undefined;

  async render(): Promise<string> {
    const text = String(this.state);
    await this.gate;
    return text;
  }
}

/** A process of the site. */
export class SiteProcess {
  /** Milliseconds by which its clock is ahead. */
  skewMs = 0;
  readonly connection: Connection;
  readonly generations: Generations;
  readonly #cache: RenderCache;
  readonly #platform: CountingPlatform;

  constructor(server: StoreServer, time: VirtualTime, platform: CountingPlatform) {
    const clock = { now: () => time.now() + this.skewMs };
    this.connection = new Connection(server, time, clock);
    this.#platform = platform;
    const keys = new RenderKeys({ hash: sha256, memory: memoryOf(clock), clock });
    const { connection: store } = this;
    const newGeneration = (): string => crypto.randomUUID();
    this.generations = new Generations({ store, clock, sleep: time.sleep, keys, newGeneration });
    this.#cache = new RenderCache({
      clock,
      renders: textRenders(store),
      generations: this.generations,
      freshMs: FRESH_MS,
      maxAgeMs: MAX_AGE_MS,
      maxEntryBytes: 1_000,
    });
  }

  /** The number of actions that a render shows, and its source. */
  async render(ref: SurfaceRef = BY_ID): Promise<readonly [state: number, status: RenderOutcome['status']]> {
    const { response, status } = await this.#cache.render(
      { scope: SCOPE, ref, input: [], body: null },
      {
        render: async () => {
          const body = await this.#platform.render();
          const response = { status: 200, headers: { 'content-type': 'text/plain' }, body };
          return { response, isCacheable: true, etag: body };
        },
        check: (etag) => {
          const isCurrent = this.#platform.isBlind || etag === String(this.#platform.state);
          return Promise.resolve(isCurrent ? { kind: 'unchanged' } : { kind: 'changed', etag: '' });
        },
      },
    );
    return [Number(await textOf(response.body)), status];
  }

  /** An action; `names` are what its response reports. Returns its number once its response has passed. */
  async act(ref: SurfaceRef = BY_ID, names: { readonly id?: string; readonly name?: string } = BOTH): Promise<number> {
    const { id, name } = names;
    this.#platform.state += 1;
    const number = this.#platform.state;
    await this.#cache.invalidate(SCOPE, ref, { id, name });
    return number;
  }
}

/** Two processes that share a store. */
export class CacheFleet {
  readonly time: VirtualTime = new VirtualTime();
  readonly server: StoreServer = new StoreServer(this.time);
  readonly platform: CountingPlatform = new CountingPlatform();
  readonly one: SiteProcess = new SiteProcess(this.server, this.time, this.platform);
  readonly other: SiteProcess = new SiteProcess(this.server, this.time, this.platform);

  /** Two fresh renders, so that both processes could serve an older one. */
  async warm(...refs: readonly SurfaceRef[]): Promise<void> {
    for (const ref of refs.length === 0 ? [BY_ID] : refs)
      for (const process of [this.one, this.other]) await this.run(process.render(ref));
  }

  run<T>(work: Promise<T>): Promise<T> {
    return this.time.result(work);
  }
}
