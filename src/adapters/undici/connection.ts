import type { Socket } from 'node:net';
import type { buildConnector as ConnectorFactory, Client } from 'undici';
import UndiciClient from 'undici/lib/dispatcher/client.js';
import { UnsolicitedContinue } from './unsolicited-continue.js';
import buildConnector from 'undici/lib/core/connect.js';

// Node's own limit is 16 KB and can be raised from outside; ours is the same everywhere.
const MAX_HEAD_BYTES = 32_768;

/** The place of a connection that is not idle. */
const BUSY = -1;

/** One connection to the platform, and what undici does not tell of it. */
export class Connection {
  readonly client: Client;
  /** Where it stands among the idle ones, so that one that times out is taken out immediately. */
  place: number = BUSY;
  #socket: Socket | undefined;
  #filter: UnsolicitedContinue | undefined;
  #exchanges = 0;
  #readBefore = 0;
  #fault: Error | undefined;

  constructor(origin: URL, connect: ConnectorFactory.connector) {
    this.client = new UndiciClient(origin, {
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

  /** The first byte of a request is about to be sent. */
  begin(): void {
    this.#readBefore = this.#socket?.bytesRead ?? 0;
    this.#filter?.expectHead();
  }

  /** An exchange is complete, and the next one may follow on the same socket. */
  finish(): void {
    this.#exchanges += 1;
  }

  /** Whether it served before and has given no byte since: the other side may have closed it while the request was on its way. */
  get isStale(): boolean {
    return this.#exchanges > 0 && this.#socket?.bytesRead === this.#readBefore;
  }

  /** What broke the socket. undici takes a reset for the end of a close-delimited response. */
  get fault(): Error | undefined {
    return this.#fault;
  }

  /** Ends it immediately; what runs on it fails with this error. */
  destroy(error: Error | null = null): void {
    this.client.destroy(error).catch(() => undefined);
  }

  #opened(socket: Socket): void {
    this.#socket = socket;
    this.#filter = new UnsolicitedContinue(socket);
    this.#exchanges = 0;
    this.#fault = undefined;
    // Before undici's own listener, which may end the response.
    socket.on('error', (error) => {
      this.#fault = error;
    });
  }
}

/** How an exchange ended: completely, broken off, or on a connection that had been closed before it began. */
export type ExchangeEnd = 'complete' | 'broken' | 'stale';

/**
 * Connections to one origin, each busy with one request or idle.
 *
 * In place of undici's `Pool`, which looks through all its connections for each request, and opens a new one for every request that was aborted:
 * here a connection is found without a search, however many streams are open, and one whose request was aborted is gone.
 */
export class Connections {
  /** One for all connections: undici would make one for each, and an open stream holds on to its connection. */
  readonly #origin: URL;
  readonly #connect: ConnectorFactory.connector;
  readonly #open = new Set<Connection>();
  readonly #idle: Connection[] = [];
  readonly #waiting: (() => void)[] = [];
  #isRetired = false;

  constructor(origin: string, connectMs: number) {
    this.#origin = new URL(origin);
    this.#connect = buildConnector({ timeout: connectMs });
  }

  /** An idle connection, the last one used first: it is the least likely to be timed out by the other side. Else a new one. */
  acquire(): Connection {
    const connection = this.#idle.pop() ?? this.#opened();
    connection.place = BUSY;
    return connection;
  }

  /** Gives back a connection. One whose exchange is not complete is ended: nobody knows what would come next on it. */
  release(connection: Connection, end: ExchangeEnd): void {
    // The others have been idle for longer, so the platform has closed them too.
    if (end === 'stale') this.#endIdle();
    if (end === 'complete' && !this.#isRetired) {
      connection.finish();
      connection.place = this.#idle.length;
      this.#idle.push(connection);
      return;
    }
    this.#drop(connection);
    if (this.#isQuiet) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** From now on each connection ends with its exchange; resolves when none is busy. */
  drain(): Promise<void> {
    this.#isRetired = true;
    this.#endIdle();
    return new Promise((resolve) => {
      if (this.#isQuiet) resolve();
      else this.#waiting.push(resolve);
    });
  }

  /** Breaks off what is still running. */
  destroy(error: Error): void {
    for (const connection of this.#open) if (connection.place === BUSY) connection.destroy(error);
  }

  /** Whether no exchange is under way. */
  get #isQuiet(): boolean {
    return this.#open.size === this.#idle.length;
  }

  #opened(): Connection {
    const connection = new Connection(this.#origin, this.#connect);
    this.#open.add(connection);
    connection.client.on('disconnect', () => {
      this.#remove(connection);
    });
    return connection;
  }

  #endIdle(): void {
    for (const connection of this.#idle.splice(0)) this.#drop(connection);
  }

  /** An idle connection that timed out leaves nothing behind. */
  #remove(connection: Connection): void {
    const { place } = connection;
    if (this.#idle[place] !== connection) return;
    const last = this.#idle.pop();
    if (last !== undefined && last !== connection) {
      this.#idle[place] = last;
      last.place = place;
    }
    this.#drop(connection);
  }

  #drop(connection: Connection): void {
    this.#open.delete(connection);
    connection.destroy();
  }
}
