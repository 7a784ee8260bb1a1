import { Keyv } from 'keyv';
import { withTimeout } from '../../domain/shared/deadline.js';
import { after } from '../system/system.js';
import { storeTimeout } from './keyv-store.js';
import { besideUrl, type RedisServers } from './redis-address.js';

/** The part of a client, or of a cluster of them, that is used. */
interface RedisClient {
  readonly isOpen: boolean;
  connect(): Promise<unknown>;
  /** Closes the connection immediately. */
  destroy(): void;
  on(event: string, listener: (error: unknown) => void): unknown;
}

interface RedisServer extends RedisClient {
  readonly isReady: boolean;
  /** Lets the process exit while the connection is open. */
  unref(): void;
  duplicate(options: ClientOptions): RedisServer;
  sendCommand(words: readonly string[]): Promise<unknown>;
}

interface RedisCluster extends RedisClient {
  readonly masters: readonly { readonly host: string; readonly port: number }[];
  readonly nodeByAddress: ReadonlyMap<string, { readonly client?: RedisServer | undefined }>;
}

interface ClientOptions {
  readonly url?: string;
  readonly socket: { readonly reconnectStrategy: false; readonly connectTimeout: number };
}

/** The part of the client library that is used. */
interface RedisLibrary {
  readonly default: new (client: RedisClient, options: { readonly throwOnErrors: true }) => object;
  createClient(options: ClientOptions): RedisServer;
  createCluster(options: {
    readonly rootNodes: readonly { readonly url: string }[];
    readonly defaults: Omit<ClientOptions, 'url'> & { readonly username?: string; readonly password?: string };
    readonly minimizeConnections: true;
    readonly maxCommandRedirections: number;
  }): RedisCluster;
}

/** A connection, and a Keyv over it. */
export interface OpenRedis {
  readonly keyv: Pick<Keyv, 'get' | 'set' | 'delete'>;
  readonly isOpen: boolean;
  /** A phrase about the servers. */
  describe(): string;
  /** URLs of the primaries of a cluster: the server that the address names may be gone later. */
  urls(): readonly string[];
  destroy(): void;
}

/** The name of the error, with which the log line of a fault begins. */
const NOT_LOADED = '@keyv/redis cannot be loaded (run: npm install @keyv/redis):';
/** Milliseconds one server may take before the next one is asked. */
const LOCATE_MS = 1_000;
/** Milliseconds the only server may take: it may be far away. */
const CONNECT_MS = 5_000;
const MAX_REDIRECTIONS = 4;

/** Loads the optional client library. */
async function loadRedisLibrary(): Promise<RedisLibrary> {
  try {
    // Loaded without a check before: in a bundle it cannot be resolved, and Jest does not load files with `import.meta`.
    // The comments are for bundlers that fail if a package is missing; esbuild and Bun only warn when they see `catch`.
    const loaded: Promise<unknown> = import(
      /* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ '@keyv/redis'
    ).catch((cause: unknown) => Promise.reject(cause as Error));
    return (await loaded) as RedisLibrary;
  } catch (cause) {
    const { code } = cause as { readonly code?: unknown };
    throw Object.assign(new Error('', { cause }), { name: NOT_LOADED, code: code ?? 'MODULE_NOT_FOUND' });
  }
}

/**
 * Connects to the primary of these servers, or to their cluster. The connection does not keep the process alive, and is
 * not made again: a server that is down, or rejects the password, is not retried forever.
 */
export async function openRedis({ urls, primaryName }: RedisServers): Promise<OpenRedis> {
  const library = await loadRedisLibrary();
  let fault: unknown;
  for (const url of urls) {
    const ms = urls.length === 1 ? CONNECT_MS : LOCATE_MS;
    try {
      const primary = primaryName === '' ? url : await primaryUrl(library, url, primaryName);
      return await opened(library, primary, urls, ms, primaryName);
    } catch (error) {
      fault = error;
    }
  }
  throw fault;
}

async function opened(
  library: RedisLibrary,
  url: string,
  urls: readonly string[],
  ms: number,
  primaryName: string,
): Promise<OpenRedis> {
  const client = newClient(library, url);
  const info = await within(client, url, ms, async () => {
    await client.connect();
    // A user that may not read it has one server.
    return String(await client.sendCommand(['INFO']).catch(() => ''));
  });
  const value = (name: string): string => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1] ?? '';
  const server = `Redis ${value('redis_version')}`.trim();
  if (value('redis_mode') === 'cluster') {
    client.destroy();
    const cluster = await openCluster(library, urls, ms);
    const count = (): string => String(new Set(cluster.masters).size);
    return over(
      library,
      cluster,
      () => `${server}, a cluster with ${count()} primaries`,
      () => cluster.masters.map((node) => besideUrl(url, node.host, node.port)),
    );
  }
  const { host } = new URL(url);
  if (value('role') === 'slave') {
    client.destroy();
    throw new Error(`READONLY ${host} is a replica`);
  }
  const found = primaryName === '' ? '' : `, which Sentinel names for "${primaryName}"`;
  return over(library, client, () => `${server}, the primary ${host}${found}`);
}

function over(
  library: RedisLibrary,
  client: RedisClient,
  describe: () => string,
  urls: () => readonly string[] = () => [],
): OpenRedis {
  // Without both options a write that the server refused looks like one that succeeded; with a namespace, keys would have
  // another prefix than the one that documented rights allow.
  const keyv = new Keyv({
    store: new library.default(client, { throwOnErrors: true }),
    useKeyPrefix: false,
    throwOnErrors: true,
  });
  keyv.namespace = undefined;
  // A text is stored as it is.
  keyv.serialize = ({ value }) => String(value);
  keyv.deserialize = <Value>(text: string) => ({ value: text as Value, expires: undefined });
  keyv.on('error', () => undefined);
  return {
    keyv,
    describe,
    urls,
    get isOpen() {
      return client.isOpen;
    },
    destroy: () => close(client),
  };
}

/** Closes a client, or all of a cluster, whose own `destroy` stops at the first that is closed. */
function close(client: RedisClient & Partial<RedisCluster>): void {
  for (const { client: node } of client.nodeByAddress?.values() ?? []) if (node?.isOpen === true) node.destroy();
  try {
    if (client.isOpen) client.destroy();
  } catch {
    // Its nodes are closed.
  }
}

/** Never connected. */
let model: RedisServer | undefined;

function newClient(library: RedisLibrary, url: string): RedisServer {
  const socket = { reconnectStrategy: false, connectTimeout: CONNECT_MS } as const;
  // The library defines hundreds of methods for each address, in tens of milliseconds. A duplicate has those of its model.
  model ??= library.createClient({ socket });
  const client = model.duplicate({ socket, url });
  // The caller gets the error of its call. Without a listener, a connection lost between calls would crash the process.
  client.on('error', () => undefined);
  client.unref();
  return client;
}

async function openCluster(library: RedisLibrary, urls: readonly string[], ms: number): Promise<RedisCluster> {
  const { username, password } = new URL(urls[0] ?? '');
  const isSecured = urls[0]?.startsWith('rediss:') === true;
  const cluster = library.createCluster({
    rootNodes: urls.map((url) => ({ url })),
    defaults: {
      socket: { reconnectStrategy: false, connectTimeout: LOCATE_MS, ...(isSecured && { tls: true }) },
      ...(username !== '' && { username: decodeURIComponent(username) }),
      ...(password !== '' && { password: decodeURIComponent(password) }),
    },
    minimizeConnections: true,
    maxCommandRedirections: MAX_REDIRECTIONS,
  });
  for (const event of ['error', 'node-error']) cluster.on(event, () => undefined);
  cluster.on('node-connect', () => {
    for (const { client } of cluster.nodeByAddress.values()) client?.unref();
  });
  try {
    await withTimeout(
      after(urls.length * ms, () => storeTimeout(ms)),
      cluster.connect(),
    );
    return cluster;
  } catch (error) {
    close(cluster);
    throw error;
  }
}

/** The result of the work with the server at `url`, or an error after a delay. If it fails, the client is closed. */
async function within<T>(client: RedisServer, url: string, ms: number, work: () => Promise<T>): Promise<T> {
  const late = (): Error => {
    const isSecured = client.isReady || !url.startsWith('rediss:');
    const stage = isSecured ? '' : ' of the TLS handshake; the port may not use TLS';
    return storeTimeout(ms, stage);
  };
  try {
    return await withTimeout(after(ms, late), work());
  } catch (error) {
    close(client);
    throw error;
  }
}

/**
 * The address of the primary that a Sentinel names. Only a Sentinel that demands a password gets it. The library's own
 * client of Sentinels holds the process open, retries without end and writes to the console.
 */
async function primaryUrl(library: RedisLibrary, url: string, name: string): Promise<string> {
  const own = new URL(url);
  // The database is one of the primary.
  own.pathname = '';
  const plain = new URL(own);
  plain.username = '';
  plain.password = '';
  const found = await askSentinel(library, plain.href, name).catch((error: Error) => {
    if (!error.message.startsWith('NOAUTH')) throw error;
    return askSentinel(library, own.href, name);
  });
  if (!Array.isArray(found)) throw new Error(`Sentinel ${own.host} knows no primary "${name}"`);
  return besideUrl(url, String(found[0]), Number(found[1]));
}

async function askSentinel(library: RedisLibrary, url: string, name: string): Promise<unknown> {
  const client = newClient(library, url);
  try {
    return await within(client, url, LOCATE_MS, async () => {
      await client.connect();
      return client.sendCommand(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name]);
    });
  } finally {
    close(client);
  }
}
