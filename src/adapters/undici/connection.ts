import type { Socket } from 'node:net';
import type { buildConnector, Client, Dispatcher } from 'undici';
import { HIGH_WATER_BYTES } from './upstream-body.js';

/** The parts of undici that connections are built from. */
export interface UndiciParts {
  readonly Client: typeof Client;
  readonly buildConnector: typeof buildConnector;
}

let parts: Promise<UndiciParts> | undefined;

/** Loads the parts once per process. */
export function undiciParts(): Promise<UndiciParts> {
  return (parts ??= privateParts().catch(publicParts));
}

/** The whole package takes three times as long to load, and replaces the dispatcher of the process's own `fetch` (decision 73). */
async function privateParts(): Promise<UndiciParts> {
  const [client, connector] = await Promise.all([
    import('undici/lib/dispatcher/client.js'),
    import('undici/lib/core/connect.js'),
  ]);
  return { Client: client.default, buildConnector: connector.default };
}

async function publicParts(): Promise<UndiciParts> {
  process.emitWarning(
    'The installed version of undici has moved the files agent-bff imports, ' +
      'so all of undici is loaded: startup takes longer, and the global fetch uses another dispatcher. Check "overrides" in your package.json; docs/decisions/0073-parts-of-undici.md in agent-bff names the files.',
    { code: 'AGENT_BFF_UNDICI' },
  );
  return import('undici');
}

/** Node's own limit is 16 KB and can be raised from outside; ours is fixed. */
export const MAX_HEAD_BYTES = 32_768;

/** The position of a connection that is not idle. */
const BUSY = -1;

/** One connection to the platform, with facts that undici does not report. */
export class Connection {
  readonly client: Client;
  readonly isReused = true;
  readonly note = '';
  readonly #owner: Connections;
  /** Its position among the idle ones, so that one that times out is removed without a search. */
  index: number = BUSY;
  #socket: Socket | undefined;
  #read: Socket['read'] | undefined;
  #isPaused = false;
  /** Completed exchanges on the same socket. */
  exchanges: number = 0;
  #readBefore = 0;
  /** The error that broke the socket. undici mistakes a reset for the end of a close-delimited response. */
  fault: Error | undefined;

  constructor(owner: Connections, client: UndiciParts['Client'], origin: URL, connect: buildConnector.connector) {
    this.#owner = owner;
    this.client = new client(origin, {
      pipelining: 1,
      maxHeaderSize: MAX_HEAD_BYTES,
      connect: (options, callback) => {
        connect(options, (...result) => {
          if (result[0] === null) this.#opened(result[1]);
          callback(...result);
        });
      },
    });
  }

  /** Called before the first byte of a request is sent. */
  begin(): void {
    this.#readBefore = this.#socket?.bytesRead ?? 0;
  }

  /**
   * True if it served a request before and has not received a byte since: the other side may have closed it while the
   * request was in transit.
   */
  get isStale(): boolean {
    return this.exchanges > 0 && this.#socket?.bytesRead === this.#readBefore;
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.client.dispatch(options, handler);
  }

  /**
   * Stops reading while many bytes wait, without undici's own pause: if the connection ends meanwhile, undici reports a
   * complete response as broken, or fails an assertion in a listener of the socket, which ends the process.
   */
  hold(bytes: number): boolean {
    const isFull = bytes >= HIGH_WATER_BYTES;
    if (isFull === this.#isPaused || this.#socket === undefined || this.#read === undefined) return this.#isPaused;
    this.#isPaused = isFull;
    this.#socket.read = isFull ? () => null : this.#read;
    // Continues with what arrived meanwhile.
    if (!isFull) this.#socket.emit('readable');
    return this.#isPaused;
  }

  /** Returns it to the idle ones, or closes it. */
  release(end: ExchangeEnd): void {
    // undici continues with the next bytes that arrive.
    if (this.#isPaused && this.#socket !== undefined && this.#read !== undefined) this.#socket.read = this.#read;
    this.#isPaused = false;
    this.#owner.release(this, end);
  }

  /** Closes it immediately; a running exchange fails with this error. */
  destroy(error: Error | null = null): void {
    this.client.destroy(error).catch(() => undefined);
  }

  #opened(socket: Socket): void {
    this.#socket = socket;
    this.#read = socket.read.bind(socket);
    this.exchanges = 0;
    this.fault = undefined;
    // Before undici's own listener, which may end the response.
    socket.on('error', (error) => {
      this.fault = error;
    });
  }
}

/** The end of an exchange: complete, aborted, or on a connection that had been closed before it began. */
export type ExchangeEnd = 'complete' | 'broken' | 'stale';

/**
 * Connections to one origin, each busy with one request or idle.
 *
 * Replaces undici's `Pool`, which searches all its connections for each request, and opens a new one after every
 * aborted request. Here a connection is found without a search, however many streams are open, and one whose request
 * was aborted is removed.
 */
export class Connections {
  /** Shared by all connections: undici would create one each, and an open stream keeps its connection. */
  readonly #origin: URL;
  readonly #client: UndiciParts['Client'];
  readonly #connect: buildConnector.connector;
  readonly #open = new Set<Connection>();
  readonly #idle: Connection[] = [];
  readonly #waiting: (() => void)[] = [];
  #isRetired = false;

  constructor(undici: UndiciParts, origin: string, connectMs: number) {
    this.#origin = new URL(origin);
    this.#client = undici.Client;
    this.#connect = undici.buildConnector({ timeout: connectMs });
  }

  /** The idle connection that was used last, since it is the least likely to be timed out by the other side; otherwise a new one. */
  acquire(): Connection {
    const connection = this.#idle.pop() ?? this.#opened();
    connection.index = BUSY;
    return connection;
  }

  /** Returns a connection. If its exchange is not complete, it is closed: the next bytes on it are unknown. */
  release(connection: Connection, end: ExchangeEnd): void {
    // The other idle connections are older, so the platform has closed them too.
    if (end === 'stale') this.#endIdle();
    if (end === 'complete' && !this.#isRetired) {
      connection.exchanges += 1;
      connection.index = this.#idle.length;
      this.#idle.push(connection);
      return;
    }
    this.#drop(connection);
    if (this.#isQuiet) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** From now on each connection closes after its exchange; resolves when none is busy. */
  drain(): Promise<void> {
    this.#isRetired = true;
    this.#endIdle();
    return new Promise((resolve) => {
      if (this.#isQuiet) resolve();
      else this.#waiting.push(resolve);
    });
  }

  /** Aborts running exchanges. */
  destroy(error: Error): void {
    for (const connection of this.#open) if (connection.index === BUSY) connection.destroy(error);
  }

  /** True if no exchange is running. */
  get #isQuiet(): boolean {
    return this.#open.size === this.#idle.length;
  }

  #opened(): Connection {
    const connection = new Connection(this, this.#client, this.#origin, this.#connect);
    this.#open.add(connection);
    connection.client.on('disconnect', () => {
      this.#remove(connection);
    });
    return connection;
  }

  #endIdle(): void {
    for (const connection of this.#idle.splice(0)) this.#drop(connection);
  }

  /** Removes all traces of an idle connection that timed out. */
  #remove(connection: Connection): void {
    const { index } = connection;
    if (this.#idle[index] !== connection) return;
    const last = this.#idle.pop();
    if (last !== undefined && last !== connection) {
      this.#idle[index] = last;
      last.index = index;
    }
    this.#drop(connection);
  }

  #drop(connection: Connection): void {
    this.#open.delete(connection);
    connection.destroy();
  }
}
