import { before } from './store-breaker.js';

/** The part of a client that is used. */
export interface RedisClient {
  /** True from the call of `connect` until the connection is closed. */
  readonly isOpen: boolean;
  readonly isReady: boolean;
  connect(): Promise<unknown>;
  /** Closes the connection immediately. */
  destroy(): void;
  /** Lets the process exit while the connection is open. */
  unref(): void;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  /** Another client, with these options instead of its own. */
  duplicate(options: ClientOptions): RedisClient;
  sendCommand(words: readonly string[]): Promise<unknown>;
}

interface ClientOptions {
  readonly url?: string;
  readonly socket: { readonly reconnectStrategy: false };
}

/** The part of the client library that is used. */
interface RedisLibrary {
  createClient(options: ClientOptions): RedisClient;
}

/** The name of the error, with which the log line of a fault begins. */
const NOT_LOADED = '@keyv/redis cannot be loaded (run: npm install @keyv/redis):';

/** Loads the optional client library. */
function loadRedisLibrary(): Promise<RedisLibrary> {
  // Loaded without a check before: in a bundle it cannot be resolved, and Jest does not load files with `import.meta`.
  // The comments are for bundlers that fail if a package is missing; esbuild and Bun only warn when they see `catch`.
  const loaded: Promise<unknown> = import(
    /* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ '@keyv/redis'
  ).catch((cause: unknown) => {
    const { code } = cause as { readonly code?: unknown };
    throw Object.assign(new Error('', { cause }), { name: NOT_LOADED, code: code ?? 'MODULE_NOT_FOUND' });
  });
  return loaded as Promise<RedisLibrary>;
}

/** Never connected. */
let model: RedisClient | undefined;

/** A client that does not reconnect: a server that is down, or rejects the password, is not retried forever. */
export async function newClient(url: string): Promise<RedisClient> {
  const library = await loadRedisLibrary();
  const options = (): ClientOptions => ({ socket: { reconnectStrategy: false } });
  // The library defines hundreds of methods for each address, in tens of milliseconds. A duplicate has those of its model.
  model ??= library.createClient(options());
  const client = model.duplicate({ ...options(), url });
  // The caller gets the error of its call. Without a listener, a connection lost between calls would crash the process.
  client.on('error', () => undefined);
  client.unref();
  return client;
}

/** The result of the work with the server at `url`, or an error after a delay: then the client is closed. */
export async function within<T>(client: RedisClient, url: string, ms: number, work: () => Promise<T>): Promise<T> {
  const late = (): never => {
    const isSecured = client.isReady || !/^(?:rediss|valkeys):/.test(url);
    if (client.isOpen) client.destroy();
    const stage = isSecured ? '' : ' of the TLS handshake; the port may not use TLS';
    throw new Error(`TIMEOUT after ${String(ms)} ms${stage}`);
  };
  return before(work(), ms, late);
}

/** A connection without a response for this long is closed: the other end may have disappeared silently. */
const MAX_SILENCE_MS = 5_000;
/** Characters of a run id that are unique. */
const RUN_ID = 16;

/** One server. Connects when it is called, and again after the connection broke. */
export class RedisNode {
  readonly url: string;
  readonly #running = new Set<Promise<unknown>>();
  #client: RedisClient | undefined;
  #connecting: Promise<unknown> | undefined;
  #isClosed = false;
  /** Lines of INFO; empty if this user may not read it. */
  #info = '';
  #runId = '';
  /** Time of the connection's last response, or of the first call since all responses arrived. */
  #heardAt = 0;

  constructor(url: string) {
    this.url = url;
  }

  /** True if calls need not wait for a connection. */
  get isReady(): boolean {
    return this.#connecting === undefined && this.#client?.isReady === true;
  }

  get running(): readonly Promise<unknown>[] {
    return [...this.#running];
  }

  /** A value of INFO when the connection was made; empty if unknown. */
  info(name: string): string {
    return new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(this.#info)?.[1] ?? '';
  }

  /** Identifies the running server, or at least its address; empty before the first connection. */
  get runId(): string {
    return this.#runId;
  }

  /** Milliseconds for which the server has owed a response. */
  get silentMs(): number {
    return this.#running.size === 0 ? 0 : performance.now() - this.#heardAt;
  }

  /** Breaks a connection without a response for too long. */
  endIfSilent(): void {
    if (this.silentMs > MAX_SILENCE_MS) this.end();
  }

  async run<T>(call: (client: RedisClient) => Promise<T>): Promise<T> {
    if (!this.isReady) await this.connect();
    const client = this.#client as RedisClient;
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

  /** Resolves once there is a connection and the run id is known. */
  async connect(): Promise<void> {
    if (this.isReady) return;
    this.#connecting ??= this.#open().finally(() => (this.#connecting = undefined));
    await this.#connecting;
  }

  async #open(): Promise<void> {
    const client = (this.#client ??= await newClient(this.url));
    this.#info = await within(client, this.url, MAX_SILENCE_MS, async () => {
      await client.connect();
      return String(await client.sendCommand(['INFO']).catch(() => ''));
    });
    this.#runId = this.info('run_id').slice(0, RUN_ID) || new URL(this.url).host;
    // Closed meanwhile.
    if (this.#isClosed) this.end();
  }

  /** Breaks the connection; the next call connects again. */
  end(): void {
    if (this.#client?.isReady === true) this.#client.destroy();
  }

  close(): void {
    this.#isClosed = true;
    this.end();
  }
}
