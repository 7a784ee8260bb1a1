import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Connection, connectionOf, resetConnection, streamOf } from './http2-exchange.js';

/** Bytes that one connection holds. */
interface Holder {
  readonly connection: Connection;
  bytes: number;
  isCut: boolean;
}

/** Memory of the objects of one waiting response, besides its body. */
const RESPONSE_BYTES = 4_096;

/**
 * The memory of responses that wait for their connections: one budget for a process.
 * When it is full, the connection that holds most is cut, not the newcomer: a visitor who reads holds little.
 */
export class SendBudget {
  readonly #limitBytes: number;
  readonly #holders = new WeakMap<Connection, Holder>();
  readonly #waiting = new Set<Holder>();
  #heldBytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Bytes held now. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** The share of one response, empty at first; released when the response closes. */
  share(response: ServerResponse): SendShare {
    // A response has its socket only in its turn.
    const connection =
      streamOf(response)?.session ?? response.socket ?? (response.req as IncomingMessage | undefined)?.socket;
    return new SendShare(this, response, connection && this.#holderOf(connection));
  }

  charge(holder: Holder, bytes: number): void {
    if (holder.isCut) return;
    this.#add(holder, bytes);
    while (this.#heldBytes > this.#limitBytes) this.#cutLargest();
  }

  #holderOf(connection: Connection): Holder {
    let holder = this.#holders.get(connection);
    if (holder === undefined) {
      holder = { connection, bytes: 0, isCut: false };
      this.#holders.set(connection, holder);
    }
    return holder;
  }

  #add(holder: Holder, bytes: number): void {
    holder.bytes += bytes;
    this.#heldBytes += bytes;
    if (holder.bytes > 0) this.#waiting.add(holder);
    else this.#waiting.delete(holder);
  }

  #cutLargest(): void {
    let largest: Holder | undefined;
    for (const holder of this.#waiting) if (holder.bytes > (largest?.bytes ?? 0)) largest = holder;
    if (largest === undefined) return;
    this.#add(largest, -largest.bytes);
    largest.isCut = true;
    resetConnection(largest.connection);
  }
}

/** Bytes that one response has waiting. */
export class SendShare {
  readonly #budget: SendBudget;
  readonly #response: ServerResponse;
  readonly #holder: Holder | undefined;
  #bytes = 0;
  #isWatched = false;

  constructor(budget: SendBudget, response: ServerResponse, holder: Holder | undefined) {
    this.#budget = budget;
    this.#response = response;
    this.#holder = holder;
  }

  /** Replaces the bytes that wait; 0 when none do. */
  set(bytes: number): void {
    if (this.#holder === undefined) return;
    const { closed, destroyed } = connectionOf(this.#response);
    const held = bytes === 0 || closed || destroyed ? 0 : bytes + RESPONSE_BYTES;
    if (held > 0 && !this.#isWatched) {
      this.#isWatched = true;
      this.#response.once('close', () => {
        this.set(0);
      });
    }
    const change = held - this.#bytes;
    this.#bytes = held;
    if (change !== 0) this.#budget.charge(this.#holder, change);
  }
}
