import type { Secret } from '../../domain/shared/secret.js';
import { STORE_AWAY } from '../../domain/shared/store-calls.js';
import { besideUrl, type RedisServers, redisServers } from './redis-address.js';
import { newClient, type RedisClient, RedisNode, within } from './redis-node.js';
import type { StoredText, TextStorage } from './keyv-cache-store.js';
import { before } from './store-breaker.js';

/** Options of a storage in Redis. */
export interface RedisStorageOptions {
  /** An address that `redisServers` parses; may contain a password. */
  readonly address: Secret;
  /** Milliseconds a call waits for the first connection before it is a miss. */
  readonly patienceMs: number;
  /** Called if the first connection fails: the library is missing, the password is wrong. */
  readonly failed?: (error: unknown) => void;
}

/** Time for the last write to leave this machine. */
const FLUSH_GRACE_MS = 250;
/** Milliseconds one server may take to name the primaries, before the next one is asked. */
const LOCATE_MS = 1_000;
/** Pause between two searches for the primaries that no call waits for. */
const PAUSE_MS = 250;
const MAX_REDIRECTIONS = 4;

/**
 * A Redis or Valkey as a storage of Keyv: one server, a cluster, or a primary found by Sentinels.
 *
 * Connects when it is constructed, and reconnects with the next call after a connection broke; it does not keep the
 * process alive. Until the first connection is established, the store is away, without a fault.
 */
export class RedisStorage implements TextStorage {
  readonly #options: RedisStorageOptions;
  readonly #servers: RedisServers;
  readonly #nodes = new Map<string, RedisNode>();
  #layout: Layout = {};
  #locating: Promise<void> | undefined;
  #locatedAt = -Infinity;
  #isNew = true;
  #isClosed = false;

  constructor(options: RedisStorageOptions) {
    this.#options = options;
    const servers = redisServers(options.address.reveal());
    if (typeof servers === 'string') throw new Error('unsupported address');
    this.#servers = servers;
    this.#locate()
      .catch((error: unknown) => options.failed?.(error))
      .finally(() => (this.#isNew = false));
  }

  async get(key: string): Promise<StoredText | undefined> {
    const value = await this.#run(key, 'GET', key);
    return typeof value === 'string' ? { value } : undefined;
  }

  /** Concurrent calls to one server share a round trip and, unlike MGET, may use keys of several slots. */
  getMany(keys: readonly string[]): Promise<readonly (StoredText | undefined)[]> {
    return Promise.all(keys.map((key) => this.get(key)));
  }

  async set(key: string, { value }: StoredText, ttl: number): Promise<unknown> {
    return this.#run(key, 'SET', key, value, 'PX', String(ttl));
  }

  async setIfAbsent(key: string, { value }: StoredText, ttl: number): Promise<boolean> {
    return (await this.#run(key, 'SET', key, value, 'PX', String(ttl), 'NX')) !== null;
  }

  async delete(key: string): Promise<unknown> {
    return this.#run(key, 'UNLINK', key);
  }

  /**
   * The run ids of the primaries that hold these keys, or of all; empty before the first connection. For a user that may
   * not read them, their addresses.
   */
  primary(keys?: readonly string[]): string {
    const { slots, only } = this.#layout;
    if (slots === undefined) return only?.runId ?? '';
    const nodes = keys === undefined ? slots : keys.map((key) => this.#nodeOf(key));
    return [...new Set(nodes)].map((node) => node?.runId ?? '').join(' ');
  }

  /** A phrase about the servers; empty before the first connection. */
  describe(): string {
    const { slots, only } = this.#layout;
    const primaries = new Set(slots);
    const [node = only] = primaries;
    if (node === undefined) return '';
    const server = `Redis ${node.info('redis_version')}`.trim();
    if (slots !== undefined) return `${server}, a cluster with ${String(primaries.size)} primaries`;
    const { primaryName } = this.#servers;
    const found = primaryName === '' ? '' : `, which Sentinel names for "${primaryName}"`;
    return `${server}, the primary ${new URL(node.url).host}${found}`;
  }

  /** True if a failover can be noticed: this user may read the run id of the servers. */
  get isNamed(): boolean {
    return [...this.#nodes.values()].every((node) => node.info('run_id') !== '');
  }

  /** Required by Keyv, but a no-op: others may store entries there. */
  clear(): Promise<void> {
    return Promise.resolve();
  }

  /** Lets running calls finish for a moment, then closes the connections; later calls find it away. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const running = [...this.#nodes.values()].flatMap((node) => node.running);
    await before(Promise.allSettled([...running, this.#locating]), FLUSH_GRACE_MS).catch(() => undefined);
    for (const node of this.#nodes.values()) node.close();
  }

  async #run(key: string, ...words: readonly string[]): Promise<unknown> {
    if (this.#isClosed) throw STORE_AWAY;
    if (this.#isNew) await before(this.#locate(), this.#options.patienceMs).catch(() => undefined);
    if (this.#isNew) throw STORE_AWAY;
    this.#nodeOf(key)?.endIfSilent();
    // Another server may be the primary by now.
    if (this.#layout.slots === undefined && this.#layout.only?.isReady !== true) await this.#locate();
    let node = this.#nodeOf(key);
    let send = (client: RedisClient): Promise<unknown> => client.sendCommand(words);
    for (let redirections = 0; ; redirections += 1) {
      if (node === undefined || node.silentMs > LOCATE_MS) this.#suspect();
      if (node === undefined) throw new Error('CLUSTERDOWN no primary serves this slot');
      try {
        return await node.run(send);
      } catch (error) {
        const { message } = error as Error;
        // Demoted. The name of the server may lead to another one now.
        if (message.startsWith('READONLY')) node.end();
        if (!SETTLED.test(message)) this.#suspect();
        const [, kind, slot, host, port] = /^(MOVED|ASK) (\d+) (.*):(\d+)$/.exec(message) ?? [];
        if (kind === undefined || redirections === MAX_REDIRECTIONS) throw error;
        node = this.#nodeAt(besideUrl(node.url, host ?? '', Number(port)));
        if (kind === 'ASK') send = (client) => asking(client, words);
        else if (this.#layout.slots !== undefined) this.#layout.slots[Number(slot)] = node;
      }
    }
  }

  #nodeOf(key: string): RedisNode | undefined {
    const { slots, only } = this.#layout;
    return slots === undefined ? only : slots[slotOf(key)];
  }

  #nodeAt(url: string): RedisNode {
    const { host } = new URL(url);
    const node = this.#nodes.get(host) ?? new RedisNode(url);
    this.#nodes.set(host, node);
    return node;
  }

  /** Searches for the primaries; no call waits for it. */
  #suspect(): void {
    if (performance.now() - this.#locatedAt > PAUSE_MS) void this.#locate().catch(() => undefined);
  }

  /** Finds the primaries. One search for everyone waiting. */
  #locate(): Promise<void> {
    this.#locating ??= this.#ask().finally(() => {
      this.#locating = undefined;
      this.#locatedAt = performance.now();
    });
    return this.#locating;
  }

  /** Asks one server after the other, those that respond first. */
  async #ask(): Promise<void> {
    const known = [...new Set(this.#layout.slots)].filter(
      (node) => node?.isReady === true && node.silentMs < LOCATE_MS,
    );
    const urls = [...known.flatMap((node) => node?.url ?? []), ...this.#servers.urls];
    let fault: unknown;
    for (const url of urls) {
      const late = (): never => {
        throw new Error(`TIMEOUT of ${new URL(url).host}`);
      };
      const found = this.#layoutOf(url);
      try {
        this.#use(urls.length === 1 ? await found : await before(found, LOCATE_MS, late));
        return;
      } catch (error) {
        fault = error;
      }
    }
    throw fault;
  }

  async #layoutOf(url: string): Promise<Layout> {
    const { primaryName } = this.#servers;
    const only = this.#nodeAt(primaryName === '' ? url : await primaryUrl(url, primaryName));
    await only.connect();
    // A user that may not read INFO may still see the slots. Other servers reject the command.
    const isCluster = ['', 'cluster'].includes(only.info('redis_mode'));
    const ranges = isCluster ? await slotRanges(only).catch(() => []) : [];
    if (ranges.length === 0) {
      if (only.info('role') !== 'slave') return { only };
      only.end();
      throw new Error(`READONLY ${new URL(only.url).host} is a replica`);
    }
    const slots: RedisNode[] = [];
    for (const { from, to, host, port } of ranges) {
      const node = this.#nodeAt(besideUrl(only.url, host, port));
      for (let slot = from; slot <= to; slot += 1) slots[slot] = node;
    }
    // Their run ids must be known before a render depends on them. A server that is down is reported by its calls.
    await before(Promise.allSettled([...new Set(slots)].map((node) => node?.connect())), LOCATE_MS / 2);
    return { slots };
  }

  #use(layout: Layout): void {
    this.#layout = layout;
    const used = new Set([...(layout.slots ?? []), layout.only]);
    for (const [host, node] of this.#nodes) {
      if (!this.#isClosed && used.has(node)) continue;
      node.close();
      this.#nodes.delete(host);
    }
  }
}

/** The primary of each slot in a cluster; otherwise the only primary. */
interface Layout {
  readonly slots?: (RedisNode | undefined)[];
  readonly only?: RedisNode;
}

/** Matches the message of a server that would respond to the next call in the same way. */
const SETTLED = /^(?:ASK|OOM|NOPERM|MISCONF|NOREPLICAS|WRONGTYPE|ERR) /;

/** Sent together, so that no other command comes between them. */
async function asking(client: RedisClient, words: readonly string[]): Promise<unknown> {
  return (await Promise.all([client.sendCommand(['ASKING']), client.sendCommand(words)]))[1];
}

const SLOTS = 16_384;

interface SlotRange {
  readonly from: number;
  readonly to: number;
  /** Empty or `?` for the host that was asked. */
  readonly host: string;
  readonly port: number;
}

async function slotRanges(node: RedisNode): Promise<readonly SlotRange[]> {
  const ranges = await node.run((client) => client.sendCommand(['CLUSTER', 'SLOTS']));
  return (ranges as [number, number, [string | null, number]][]).map(([from, to, [host, port]]) => {
    return { from, to, host: host ?? '', port };
  });
}

/** The address of the primary that a Sentinel names. Only a Sentinel that demands a password gets it. */
async function primaryUrl(url: string, name: string): Promise<string> {
  const own = new URL(url);
  // The database is one of the primary.
  own.pathname = '';
  const plain = new URL(own);
  plain.username = '';
  plain.password = '';
  const found = await askSentinel(plain.href, name).catch((error: Error) => {
    if (!error.message.startsWith('NOAUTH')) throw error;
    return askSentinel(own.href, name);
  });
  if (!Array.isArray(found)) throw new Error(`Sentinel ${own.host} knows no primary "${name}"`);
  return besideUrl(url, String(found[0]), Number(found[1]));
}

async function askSentinel(url: string, name: string): Promise<unknown> {
  const client = await newClient(url);
  try {
    return await within(client, url, LOCATE_MS, async () => {
      await client.connect();
      return client.sendCommand(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name]);
    });
  } finally {
    if (client.isOpen) client.destroy();
  }
}

/** CRC-16/XMODEM of each byte. */
const CRC = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = (crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0);
  return crc;
});

/** The slot of a key in ASCII without braces. A wrong one would cost a redirection. */
function slotOf(key: string): number {
  let crc = 0;
  for (let at = 0; at < key.length; at += 1) {
    crc = ((crc << 8) & 0xffff) ^ (CRC[(crc >> 8) ^ (key.charCodeAt(at) & 0xff)] ?? 0);
  }
  return crc % SLOTS;
}
