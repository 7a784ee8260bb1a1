import type { IncomingMessage, ServerResponse } from 'node:http';
import { streamOf } from './http2-exchange.js';
import { type Connection, resetConnection } from './http2-response.js';
import type { StallWatch, StallWatchOptions } from './stall-watch.js';

/** Bytes held by one connection. */
interface Holder {
  readonly connection: Connection;
  bytes: number;
  isCut: boolean;
}

/** Memory of the objects of one waiting response, besides its body. */
const RESPONSE_BYTES = 4_096;

/**
 * The memory of responses waiting for their connections: one budget per process. When it is full, the connection
 * holding most is cut, not the newest: an active reader holds little.
 */
export class SendBudget {
  readonly #limitBytes: number;
  readonly #holders = new WeakMap<Connection, Holder>();
  readonly #waiting = new Set<Holder>();
  /** Bytes held now. */
  heldBytes: number = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** The share of one response, initially empty; released when the response closes. */
  share(response: ServerResponse): SendShare {
    // A response only has its socket in its turn.
    const connection =
      streamOf(response)?.session ?? response.socket ?? (response.req as IncomingMessage | undefined)?.socket;
    return new SendShare(this, response, connection && this.#holderOf(connection));
  }

  charge(holder: Holder, bytes: number): void {
    if (holder.isCut) return;
    this.#add(holder, bytes);
    while (this.heldBytes > this.#limitBytes) this.#cutLargest();
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
    this.heldBytes += bytes;
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

/** Waiting bytes of one response. */
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

  /** Replaces the number of waiting bytes; 0 if none wait. */
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
 * Tracks the bytes of a response that wait for its browser: counts them (decision 83), and disconnects a browser that
 * accepts none (decision 84). The code for the latter is loaded when bytes first wait: most processes that only mount
 * routes never need it, and its spans are long.
 */
export class SendWatch {
  /** Bytes of the body handed over so far, from any starting point. */
  written = 0;
  readonly #response: ServerResponse;
  readonly #options: SendWatchOptions;
  #share: SendShare | undefined;
  /** `undefined` until needed, `null` while loading. */
  #watch: StallWatch | null | undefined;

  constructor(response: ServerResponse, options: SendWatchOptions) {
    this.#response = response;
    this.#options = options;
  }

  /** Called when bytes wait: checks the browser's progress until none wait any more. */
  begin(): void {
    if (this.#watch !== undefined || this.#options.idleMs === 0) {
      this.#watch?.begin();
      return;
    }
    this.#watch = null;
    // Usually the system has accepted them by then.
    setImmediate(() => {
      if (this.waiting === 0) this.#watch = undefined;
      else
        void import('./stall-watch.js').then(({ StallWatch }) => {
          this.#watch = new StallWatch(this.#response, this.#options, this);
          this.#watch.begin();
        });
    });
  }

  /** Counts the waiting bytes, or the given number, until they are released or the response closes. */
  hold(bytes: number = this.waiting): void {
    this.#share ??= this.#options.budget.share(this.#response);
    this.#share.set(bytes);
  }

  /** No bytes wait any more. */
  release(): void {
    this.#share?.set(0);
  }

  /** Tracks the rest of a response that was handed over whole; a framework or a compressor may end it later. */
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

  /** Waiting bytes; those of a framework's own stream wait for the browser once the framework has written them. */
  get waiting(): number {
    return this.#response.writableLength + (this.#options.front?.readableLength ?? 0);
  }
}
