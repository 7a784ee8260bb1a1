import { type Alarm, withTimeout } from '../../domain/shared/deadline.js';
import type { Secret } from '../../domain/shared/secret.js';
import { after } from '../system/system.js';
import { type KeyvLike, STORE_AWAY } from './keyv-store.js';
import { type OpenRedis, openRedis } from './redis-client.js';
import { type RedisServers, redisServers } from './redis-address.js';

/** Time for the last write to leave this machine. */
const FLUSH_GRACE_MS = 250;
/** A connection with a call that is not answered for this long is closed: the other end may be gone, or replaced. */
const MAX_SILENCE_MS = 1_000;
/** A connection is kept at least this long, so that a server that is down does not cost one for each call. */
const MIN_LIFE_MS = 1_000;
/** Matches the message of a server that would respond to the next call in the same way. */
const SETTLED = /^(?:ASK|OOM|NOPERM|MISCONF|NOREPLICAS|WRONGTYPE|ERR) /;

/**
 * The Redis or Valkey at an address. Connects when it is constructed, and again with the next call after a connection
 * failed, since another server may be the primary by then.
 */
export class RedisConnection implements KeyvLike {
  readonly #servers: RedisServers;
  readonly #patience: Alarm;
  #opening: Promise<OpenRedis> | undefined;
  #open: OpenRedis | undefined;
  /** Other servers of the last connection. */
  #found: readonly string[] = [];
  #openedAt = 0;
  #isSuspect = false;
  #isClosed = false;
  /** False until the first connection was made, or could not be. */
  #hasTried = false;
  /** When running calls began, the oldest first. */
  readonly #running = new Map<Promise<unknown>, number>();

  /** A call waits for the first connection for `patienceMs`: less than its own deadline, so that it is no fault. */
  constructor(address: Secret, patienceMs: number) {
    this.#patience = after(patienceMs, 'the first connection');
    const servers = redisServers(address.reveal());
    if (typeof servers === 'string') throw new Error('unsupported address');
    this.#servers = servers;
    this.connected().catch(() => undefined);
  }

  /**
   * Resolves once there is a connection.
   *
   * @throws the reason why there is none.
   */
  async connected(): Promise<OpenRedis> {
    this.#opening ??= this.#connect();
    return this.#opening;
  }

  get(key: string): Promise<unknown> {
    return this.#run(({ keyv }) => keyv.get(key));
  }

  set(key: string, value: string, ttl: number): Promise<unknown> {
    return this.#run(({ keyv }) => keyv.set(key, value, ttl));
  }

  delete(key: string): Promise<unknown> {
    return this.#run(({ keyv }) => keyv.delete(key));
  }

  /** A phrase about the servers; empty while there is no connection. */
  describe(): string {
    return this.#open?.describe() ?? '';
  }

  /** Lets running calls finish for a moment, then closes the connection; later calls find it away. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const calls = Promise.allSettled([...this.#running.keys(), this.#opening]);
    await withTimeout(after(FLUSH_GRACE_MS, 'a call'), calls).catch(() => undefined);
    this.#drop();
  }

  async #run<T>(call: (redis: OpenRedis) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw STORE_AWAY;
    if (this.#isUseless()) this.#drop();
    // The first connection takes longer than a call may: until then the store is away, without a fault.
    if (!this.#hasTried) await withTimeout(this.#patience, this.connected()).catch(() => undefined);
    if (!this.#hasTried) throw STORE_AWAY;
    const redis = await this.connected();
    const running = call(redis);
    this.#running.set(running, performance.now());
    try {
      return await running;
    } catch (error) {
      this.#isSuspect ||= !SETTLED.test((error as Error).message);
      throw error;
    } finally {
      this.#running.delete(running);
    }
  }

  #isUseless(): boolean {
    const redis = this.#open;
    if (redis === undefined) return false;
    if (!redis.isOpen) return true;
    const now = performance.now();
    if (now - this.#openedAt < MIN_LIFE_MS) return false;
    const [oldest = now] = this.#running.values();
    return this.#isSuspect || now - oldest > MAX_SILENCE_MS;
  }

  async #connect(): Promise<OpenRedis> {
    try {
      const { urls, primaryName } = this.#servers;
      const redis = await openRedis({ urls: [...new Set([...urls, ...this.#found])], primaryName });
      this.#open = redis;
      this.#openedAt = performance.now();
      this.#isSuspect = false;
      // Closed meanwhile.
      if (this.#isClosed) this.#drop();
      return redis;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    } finally {
      this.#hasTried = true;
    }
  }

  #drop(): void {
    if (this.#open !== undefined) this.#found = this.#open.urls();
    this.#open?.destroy();
    this.#open = undefined;
    this.#opening = undefined;
    this.#running.clear();
  }
}
