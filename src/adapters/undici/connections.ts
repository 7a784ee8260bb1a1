import { Client } from 'undici';

/**
 * Connections to one origin, each busy with one request or idle.
 *
 * In place of undici's `Pool`, which looks through all its connections for each request, and opens a new one for every request that was aborted:
 * here a connection is found at once, however many streams are open, and one whose request was aborted is gone.
 */
export class Connections {
  readonly #origin: string;
  readonly #connectMs: number;
  readonly #idle: Client[] = [];
  /** Where each idle connection stands, so that one that times out is taken out at once. */
  readonly #places = new Map<Client, number>();
  readonly #busy = new Set<Client>();
  #closed: (() => void) | undefined;

  constructor(origin: string, connectMs: number) {
    this.#origin = origin;
    this.#connectMs = connectMs;
  }

  /** An idle connection, the last one used first: it is the least likely to be timed out by the other side. Else a new one. */
  take(): Client {
    const client = this.#idle.pop() ?? this.#open();
    this.#places.delete(client);
    this.#busy.add(client);
    return client;
  }

  /** Gives back a connection whose exchange is complete. */
  release(client: Client): void {
    this.#busy.delete(client);
    if (this.#closed === undefined) {
      this.#places.set(client, this.#idle.length);
      this.#idle.push(client);
      return;
    }
    destroy(client);
    this.#settle();
  }

  /** Ends a connection whose exchange is not complete: nobody knows what would come next on it. */
  discard(client: Client): void {
    this.#busy.delete(client);
    destroy(client);
    this.#settle();
  }

  /** Ends the idle connections, and resolves when the last busy one is given back. */
  close(): Promise<void> {
    for (const client of this.#idle.splice(0)) destroy(client);
    this.#places.clear();
    return new Promise((resolve) => {
      this.#closed = resolve;
      this.#settle();
    });
  }

  #open(): Client {
    const client = new Client(this.#origin, { pipelining: 1, connect: { timeout: this.#connectMs } });
    client.on('disconnect', () => {
      this.#forget(client);
    });
    return client;
  }

  /** An idle connection that timed out leaves nothing behind. */
  #forget(client: Client): void {
    const place = this.#places.get(client);
    if (place === undefined) return;
    this.#places.delete(client);
    const last = this.#idle.pop();
    if (last !== undefined && last !== client) {
      this.#idle[place] = last;
      this.#places.set(last, place);
    }
    destroy(client);
  }

  #settle(): void {
    if (this.#busy.size === 0) this.#closed?.();
  }
}

function destroy(client: Client): void {
  // What is left of it fails with this error, and there is nothing left of it.
  client.destroy().catch(() => undefined);
}
