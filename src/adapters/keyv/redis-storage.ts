import { beforeAlarm } from '../../domain/shared/deadline.js';
import type { Secret } from '../../domain/shared/secret.js';
import { STORE_AWAY } from '../../domain/shared/store-away.js';
import type { StoredText, TextStorage } from './keyv-cache-store.js';

/** The part of a client that is used. */
interface RedisClient {
  readonly isReady: boolean;
  connect(): Promise<unknown>;
  /** Closes the connection immediately. */
  destroy(): void;
  /** Lets the process exit while the connection is open. */
  unref(): void;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  get(key: string): Promise<unknown>;
  /** `PX`: milliseconds to live. `NX`: only if there is no entry; `null` otherwise. */
  set(key: string, value: string, options: { readonly PX: number; readonly NX?: true }): Promise<unknown>;
  info(section: 'server'): Promise<unknown>;
  unlink(key: string): Promise<unknown>;
}

/** The part of the client library that is used. */
interface RedisLibrary {
  createClient(options: { readonly url: string; readonly socket: { readonly reconnectStrategy: false } }): RedisClient;
}

/** The name of the error, since a fault of a store is reported by name and code. */
const NOT_LOADED = '@keyv/redis cannot be loaded (run: npm install @keyv/redis):';

/** Loads the optional client library. */
function loadRedisLibrary(): Promise<RedisLibrary> {
  // Loaded without a check before: in a bundle it cannot be resolved, and Jest does not load files with `import.meta`.
  // The comments are for bundlers that fail if a package is missing; esbuild and Bun only warn when they see `catch`.
  const loaded: Promise<unknown> = import(
    /* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ '@keyv/redis'
  ).catch((cause: unknown) => {
    const { code } = cause as { readonly code?: unknown };
    throw Object.assign(new Error('not loaded', { cause }), { name: NOT_LOADED, code: code ?? 'MODULE_NOT_FOUND' });
  });
  return loaded as Promise<RedisLibrary>;
}

/** Options of a storage in Redis. */
export interface RedisStorageOptions {
  /** `redis:` or `rediss:`; may hold a password. */
  readonly address: Secret;
  /** Milliseconds a call waits for the first connection before it is a miss. */
  readonly patienceMs: number;
  /** Called if the first connection fails: the library is missing, the password is wrong. */
  readonly failed?: (error: unknown) => void;
}

/** A connection without a response for this long is closed: the other end may have disappeared silently. */
const MAX_SILENCE_MS = 5_000;
/** Time for the last write to leave this machine. */
const FLUSH_GRACE_MS = 250;

/**
 * A Redis or Valkey server as a storage of Keyv.
 *
 * Connects when it is constructed, and reconnects with the next call after a connection broke; it does not keep the
 * process alive. Until the first connection is established, the store is away, without a fault.
 */
export class RedisStorage implements TextStorage {
  readonly #options: RedisStorageOptions;
  readonly #running = new Set<Promise<unknown>>();
  #client: RedisClient | undefined;
  #connecting: Promise<RedisClient> | undefined;
  #isNew = true;
  #isClosed = false;
  /** The run id of the server. */
  #primary = '';
  /** Time of the connection's last response, or of the first call since all responses arrived. */
  #heardAt = 0;

  constructor(options: RedisStorageOptions) {
    this.#options = options;
    this.#connect()
      .catch((error: unknown) => options.failed?.(error))
      .finally(() => (this.#isNew = false));
  }

  async get(key: string): Promise<StoredText | undefined> {
    const value = await this.#run((client) => client.get(key));
    return typeof value === 'string' ? { value } : undefined;
  }

  /** Concurrent calls share a round trip and, unlike MGET, may use keys of several slots of a cluster. */
  getMany(keys: readonly string[]): Promise<readonly (StoredText | undefined)[]> {
    return Promise.all(keys.map((key) => this.get(key)));
  }

  async set(key: string, { value }: StoredText, ttl: number): Promise<unknown> {
    return this.#run((client) => client.set(key, value, { PX: ttl }));
  }

  async setIfAbsent(key: string, { value }: StoredText, ttl: number): Promise<boolean> {
    return (await this.#run((client) => client.set(key, value, { PX: ttl, NX: true }))) !== null;
  }

  /** The run id of the server last connected to; empty before the first connection, or if this user may not read it. */
  primary(): string {
    return this.#primary;
  }

  async delete(key: string): Promise<unknown> {
    return this.#run((client) => client.unlink(key));
  }

  /** Required by Keyv, but a no-op: others may store entries there. */
  clear(): Promise<void> {
    return Promise.resolve();
  }

  /** Lets running calls finish for a moment, then closes the connection; later calls find it away. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await before(Promise.allSettled([...this.#running, this.#connecting]), FLUSH_GRACE_MS);
    this.#end();
  }

  async #run(call: (client: RedisClient) => Promise<unknown>): Promise<unknown> {
    if (this.#isClosed) throw STORE_AWAY;
    if (this.#isNew) await before(this.#connect(), this.#options.patienceMs).catch(() => undefined);
    if (this.#isNew) throw STORE_AWAY;
    if (this.#running.size > 0 && performance.now() - this.#heardAt > MAX_SILENCE_MS) this.#end();
    // A new connection is used once the run id is known.
    const isReady = this.#connecting === undefined && this.#client?.isReady === true;
    const client = isReady && this.#client !== undefined ? this.#client : await this.#connect();
    if (this.#running.size === 0) this.#heardAt = performance.now();
    const running = call(client);
    this.#running.add(running);
    try {
      const response = await running;
      this.#heardAt = performance.now();
      return response;
    } finally {
      this.#running.delete(running);
    }
  }

  /** The pending connection, shared by everyone waiting for it. */
  #connect(): Promise<RedisClient> {
    this.#connecting ??= this.#open().finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }

  async #open(): Promise<RedisClient> {
    this.#client ??= await this.#create();
    await this.#client.connect();
    const info = await this.#client.info('server').catch(() => '');
    this.#primary = /^run_id:(\w+)/m.exec(String(info))?.[1] ?? '';
    // Closed meanwhile.
    if (this.#isClosed) this.#client.destroy();
    return this.#client;
  }

  async #create(): Promise<RedisClient> {
    const library = await loadRedisLibrary();
    // Reconnects on the next call only: a store that is away, or rejects the password, is not retried forever.
    const client = library.createClient({ url: this.#options.address.reveal(), socket: { reconnectStrategy: false } });
    // The caller gets the error of its call. Without a listener, a connection lost between calls would crash the process.
    client.on('error', () => undefined);
    client.unref();
    return client;
  }

  #end(): void {
    if (this.#client?.isReady === true) this.#client.destroy();
  }
}

/** Resolves when the work does or after a delay, whichever comes first. */
function before(work: Promise<unknown>, ms: number): Promise<unknown> {
  return beforeAlarm(
    work,
    (expire) => {
      const timer = setTimeout(expire, ms).unref();
      return () => clearTimeout(timer);
    },
    () => undefined,
  );
}
