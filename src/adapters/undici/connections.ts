import buildConnector from 'undici/lib/core/connect.js';
import { Connection } from './connection.js';

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
  readonly #idle: Connection[] = [];
  /** Where each idle connection stands, so that one that times out is taken out at once. */
  readonly #places = new Map<Connection, number>();
  readonly #busy = new Set<Connection>();
  readonly #waiting: (() => void)[] = [];
  #isRetired = false;

  constructor(origin: string, connectMs: number) {
    this.#origin = new URL(origin);
    this.#connect = buildConnector({ timeout: connectMs });
  }

  /** An idle connection, the last one used first: it is the least likely to be timed out by the other side. Else a new one. */
  take(): Connection {
    const connection = this.#idle.pop() ?? this.#open();
    this.#places.delete(connection);
    this.#busy.add(connection);
    return connection;
  }

  /** Gives back a connection. One whose exchange is not complete is ended: nobody knows what would come next on it. */
  release(connection: Connection, end: ExchangeEnd): void {
    this.#busy.delete(connection);
    // The others have been idle for longer, so the platform has closed them too.
    if (end === 'stale') this.#endIdle();
    if (end === 'complete' && !this.#isRetired) {
      connection.finish();
      this.#places.set(connection, this.#idle.length);
      this.#idle.push(connection);
      return;
    }
    connection.destroy();
    if (this.#busy.size === 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** From now on each connection ends with its exchange; resolves when none is busy. */
  retire(): Promise<void> {
    this.#isRetired = true;
    this.#endIdle();
    return new Promise((resolve) => {
      if (this.#busy.size === 0) resolve();
      else this.#waiting.push(resolve);
    });
  }

  /** Breaks off what is still running. */
  end(error: Error): void {
    for (const connection of this.#busy) connection.destroy(error);
  }

  #open(): Connection {
    const connection = new Connection(this.#origin, this.#connect);
    connection.client.on('disconnect', () => {
      this.#forget(connection);
    });
    return connection;
  }

  #endIdle(): void {
    const idle = this.#idle.splice(0);
    this.#places.clear();
    for (const connection of idle) connection.destroy();
  }

  /** An idle connection that timed out leaves nothing behind. */
  #forget(connection: Connection): void {
    const place = this.#places.get(connection);
    if (place === undefined) return;
    this.#places.delete(connection);
    const last = this.#idle.pop();
    if (last !== undefined && last !== connection) {
      this.#idle[place] = last;
      this.#places.set(last, place);
    }
    connection.destroy();
  }
}
