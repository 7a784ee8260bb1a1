import { type Alarm, withTimeout } from '../../domain/shared/deadline.js';
import { REDACTED } from '../../domain/shared/secret.js';
import type { CacheStore } from '../../ports/cache-store.js';
import type { Clock } from '../../ports/clock.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { after } from '../system/system.js';
import { StoreBreaker } from './store-breaker.js';

/**
 * The part of a Keyv (5 or 6) that is used.
 *
 * @public
 */
export interface KeyvLike {
  /** The value, or anything else if there is none. */
  get(key: string): Promise<unknown>;
  /** `ttl` in milliseconds; 0 would mean no expiry. */
  set(key: string, value: string, ttl: number): Promise<unknown>;
  /** Removes an entry. */
  delete(key: string): Promise<unknown>;
  /** Keyv reports errors of its storage through this event. */
  on?(event: 'error', listener: (error: unknown) => void): unknown;
  /** Removes a listener. */
  off?(event: 'error', listener: (error: unknown) => void): unknown;
}

/** True for a Keyv. A `CacheStore` has the same three methods, but neither events nor an inner store. */
export function isKeyv(store: object): store is KeyvLike {
  return typeof (store as { on?: unknown }).on === 'function' && 'store' in store;
}

/** A site's `CacheStore` as a Keyv, which takes a lifetime instead of an expiry. */
export function keyvLike(store: CacheStore, clock: Clock): KeyvLike {
  return {
    get: (key) => store.get(key),
    set: (key, value, ttl) => store.set(key, value, clock.now() + ttl),
    delete: (key) => store.delete(key),
  };
}

/** The error of a call that was not made, because the store is not connected yet or several calls in a row failed. */
export const STORE_AWAY: Error = new Error('the shared store is away');

/** Matches the message of a store that rejects this write, and still responds to reads. */
const REJECTED_WRITE = /^(?:OOM|MISCONF|NOREPLICAS|NOPERM|READONLY)\b/;

export interface KeyvStoreDependencies {
  readonly keyv: KeyvLike;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Milliseconds one call may take. */
  readonly cacheMs: number;
}

type Operation = 'get' | 'set' | 'delete';

/** Any Keyv 5 or 6 as a store: each call has a deadline, and a store that fails several times in a row is left alone. A failed call rejects. */
export class KeyvStore implements CacheStore {
  readonly #deps: KeyvStoreDependencies;
  readonly #breaker: StoreBreaker;
  readonly #limit: Alarm;
  readonly #unlisten: () => void;
  /** Number of errors that its Keyv reported by an event, and the last of them. */
  #reports = 0;
  #reported: unknown;

  constructor(dependencies: KeyvStoreDependencies) {
    this.#deps = dependencies;
    this.#breaker = new StoreBreaker(dependencies.clock);
    // The connection to a store does not keep the process alive, and a script waits for its call.
    this.#limit = after(dependencies.cacheMs, () => storeTimeout(dependencies.cacheMs), { ref: true });
    this.#unlisten = listen(dependencies.keyv, (error) => {
      this.#reports += 1;
      this.#reported = error;
    });
  }

  /** True while the store is not called, because several calls in a row failed. */
  get isAway(): boolean {
    return this.#breaker.isOpen;
  }

  async get(key: string): Promise<string | undefined> {
    const value = await this.#run('get', () => this.#deps.keyv.get(key));
    return typeof value === 'string' ? value : undefined;
  }

  async set(key: string, value: string, expiresAt: number): Promise<void> {
    const ttl = Math.floor(expiresAt - this.#deps.clock.now());
    // A Keyv treats a lifetime of 0 as no expiry.
    if (!(Number.isSafeInteger(ttl) && ttl > 0)) return this.delete(key);
    await this.#run('set', () => this.#deps.keyv.set(key, value, ttl));
  }

  async delete(key: string): Promise<void> {
    await this.#run('delete', () => this.#deps.keyv.delete(key));
  }

  /** Stops listening to errors of its Keyv, which may belong to the site. */
  close(): void {
    this.#unlisten();
  }

  async #run(operation: Operation, call: () => Promise<unknown>): Promise<unknown> {
    if (!this.#breaker.admits()) throw STORE_AWAY;
    const startedAt = this.#deps.clock.now();
    const reports = this.#reports;
    try {
      // Inside `try`: a site's store may throw synchronously, or return a value.
      const result = await withTimeout(this.#limit, (async () => call())());
      // A Keyv may turn a failed call into a miss, and report the error by an event only.
      if (this.#reports > reports) throw this.#reported;
      this.#breaker.succeeded();
      return result;
    } catch (error) {
      if (error === STORE_AWAY) throw error;
      const isKnown = this.isAway;
      // Another entry may parse, and another call may be accepted.
      const responds = error instanceof SyntaxError || (error instanceof Error && REJECTED_WRITE.test(error.message));
      const isNew = responds || this.#breaker.failed(startedAt);
      if (isNew && !isKnown) this.#deps.telemetry.emit({ type: 'cache_fault', operation, detail: faultOf(error) });
      throw error;
    }
  }
}

interface Listening {
  readonly reports: Set<(error: unknown) => void>;
  readonly listener: (error: unknown) => void;
}

/** One listener per Keyv, however many toolkits use it. */
const LISTENING = new WeakMap<KeyvLike, Listening>();

/** Passes errors of a Keyv on until the returned function is called. Without a listener, Keyv 6 crashes the process when Redis disconnects. */
function listen(keyv: KeyvLike, report: (error: unknown) => void): () => void {
  let listening = LISTENING.get(keyv);
  if (listening === undefined) {
    const reports: Listening['reports'] = new Set();
    listening = { reports, listener: (error) => reports.forEach((each) => each(error)) };
    LISTENING.set(keyv, listening);
    keyv.on?.('error', listening.listener);
  }
  const { reports, listener } = listening;
  reports.add(report);
  return () => {
    reports.delete(report);
    if (reports.size > 0) return;
    keyv.off?.('error', listener);
    LISTENING.delete(keyv);
  };
}

/** Matches texts that may be an entry, its key, a token, or the login of an address. */
const OPAQUE = /[\w+/=-]{32,}|(?<=:\/\/)[^\s@/]+(?=@)/g;
const MAX_DETAIL = 200;

/** Name, code and message of an error. A parser's message quotes the entry, which may be a token, and is left out. */
export function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the store reported a fault';
  const { code } = error as { code?: unknown };
  const message = error instanceof SyntaxError || error.message.includes('JSON') ? '' : error.message;
  const known = typeof code === 'string' && !message.includes(code) ? code : '';
  const text = [error.name, known, message].filter((word) => word !== '').join(' ');
  return text.replace(OPAQUE, REDACTED).slice(0, MAX_DETAIL);
}

/** The error of a call to a store that takes longer than `ms` milliseconds. */
export function storeTimeout(ms: number, stage = ''): Error {
  return new Error(`TIMEOUT after ${String(ms)} ms${stage}`);
}
