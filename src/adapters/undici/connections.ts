import buildConnector from 'undici/lib/core/connect.js';
import { BUSY, Connection } from './connection.js';

/** How an exchange ended: completely, broken off, or on a connection that had been closed before it began. */
export type ExchangeEnd = 'complete' | 'broken' | 'stale';

/**
 * Connections to one origin, each busy with one request or idle.
 *
 * In place of undici's `Pool`, which looks through all its connections for each request, and opens a new one for every request that was aborted:
 * here a connection is found at once, however many streams are open, and one whose request was aborted is gone.
 */
export class Connections {
  /** One for all connections: undici would make one for each, and an open stream holds on to its connection. */
  readonly #origin: URL;
  readonly #connect: buildConnector.connector;
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
