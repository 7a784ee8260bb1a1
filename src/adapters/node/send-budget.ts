import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Connection, resetConnection, streamOf } from './http2-exchange.js';
import type { StallWatch, StallWatchOptions } from './stall-watch.js';

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
    const { closed, destroyed } = streamOf(this.#response) ?? this.#response;
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

/** Settings of a watch, besides the response. */
export interface SendWatchOptions extends StallWatchOptions {
  readonly budget: SendBudget;
}

/**
 * Follows the bytes of a response that wait for its browser: counts them (decision 83), and ends a browser that takes none (decision 84).
 * What looks for the latter is loaded when bytes first wait: most processes that mount routes never need it, and its spans are long.
 */
export class SendWatch {
  /** Bytes of the body handed over, from any moment on. */
  written = 0;
  readonly #response: ServerResponse;
  readonly #options: SendWatchOptions;
  #share: SendShare | undefined;
  /** `null` until it is known whether it is needed, and loaded. */
  #watch: StallWatch | null | undefined;

  constructor(response: ServerResponse, options: SendWatchOptions) {
    this.#response = response;
    this.#options = options;
  }

  /** Bytes wait: from now on it is looked whether the browser takes any, until none wait any more. */
  begin(): void {
    if (this.#watch !== undefined || this.#options.idleMs === 0) {
      this.#watch?.begin();
      return;
    }
    this.#watch = null;
    // Mostly the system has taken them by then.
    setImmediate(() => {
      if (this.#waiting === 0) this.#watch = undefined;
      else
        void import('./stall-watch.js').then(({ StallWatch }) => {
          this.#watch = new StallWatch(this.#response, this.#options, this);
          this.#watch.begin();
        });
    });
  }

  /** Counts what waits now, or so many bytes, until they are released or the response closes. */
  hold(bytes: number = this.#waiting): void {
    this.#share ??= this.#options.budget.share(this.#response);
    this.#share.set(bytes);
  }

  /** Nothing waits any more. */
  release(): void {
    this.#share?.set(0);
  }

  /** Follows what a response that was handed over whole leaves waiting; a framework or a compressor may end it later. */
  watchRest(): void {
    const response = this.#response;
    if (!response.writableEnded) {
      response.once('prefinish', () => {
        this.watchRest();
      });
    } else if (response.writableLength > 0) {
      if (this.#share === undefined) this.hold();
      this.begin();
    }
  }

  get #waiting(): number {
    return this.#response.writableLength + (this.#options.front?.readableLength ?? 0);
  }
}
