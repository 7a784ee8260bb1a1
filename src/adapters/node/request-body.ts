import type { IncomingMessage, ServerResponse } from 'node:http';
import { maybeTruncated, refuseRest } from './http2-exchange.js';

type Step = IteratorResult<Uint8Array>;

const DONE: Step = { done: true, value: undefined };

/**
 * The body of a request as it comes, by the request's own events: Node's iterator for streams costs more than the rest of reading a short message.
 *
 * A reader that stops early does not destroy the socket, or the browser would never see why; and the rest runs off, or a browser that reads
 * no answer before it has sent everything waits for ever, and so does the next request on its connection. Not for ever, though: a browser that
 * still sends long after its response was complete loses the connection.
 */
export class RequestBody implements AsyncIterableIterator<Uint8Array> {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  #waiting: { resolve(step: Step): void; reject(error: Error): void } | undefined;
  #isRead = false;
  #isOver = false;
  #bytes = 0;
  #chunks = 0;
  #isWasteful = false;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request;
    this.#response = response;
  }

  /**
   * All of it, when it is there already: a short message mostly comes together with its head. Whoever takes this reads nothing else, and pays
   * for no events, promises and deadlines.
   */
  whole(): Uint8Array | undefined {
    const request = this.#request;
    const { readableLength: length, headers } = request;
    if (this.#isRead || this.#isOver || length === 0 || Number(headers['content-length']) !== length) return undefined;
    this.#isOver = true;
    const bytes = request.read() as Uint8Array;
    // Node ends a request for its host only when somebody reads on.
    request.resume();
    return bytes;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    if (this.#isOver) return Promise.resolve(DONE);
    this.#begin();
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#look();
    });
  }

  return(): Promise<Step> {
    if (!this.#isOver) {
      this.#finish();
      this.#waiting?.resolve(DONE);
      this.#waiting = undefined;
      this.#runOff();
    }
    return Promise.resolve(DONE);
  }

  #runOff(): void {
    const request = this.#request;
    const isWasteful = this.#isWasteful;
    if (isWasteful) request.pause();
    else request.on('data', this.#drop).resume();
    if (request.complete || request.destroyed) return;
    this.#response.once('finish', () => {
      // At once: until the event loop turns, Node would read on.
      if (isWasteful) return refuseRest(request);
      const timer = setTimeout(refuseRest, LINGER_MS, request).unref();
      request.once('close', () => {
        clearTimeout(timer);
      });
    });
  }

  readonly #drop = (chunk: Uint8Array): void => {
    if (this.#isWastefulWith(chunk)) refuseRest(this.#request);
  };

  /**
   * Whether a body comes in chunks much smaller than anybody needs. Node tells of each by itself, and each costs the same whatever its length:
   * in chunks of one byte, two megabytes take seconds in which nobody else is served.
   */
  #isWastefulWith(chunk: Uint8Array): boolean {
    this.#bytes += chunk.length;
    this.#chunks += 1;
    return (this.#isWasteful = this.#chunks > FREE_CHUNKS + this.#bytes / MIN_BYTES_PER_CHUNK);
  }

  /** Nothing is read, and no error taken, before somebody asks. */
  #begin(): void {
    if (this.#isRead) return;
    this.#isRead = true;
    for (const event of EVENTS) this.#request.on(event, this.#look);
  }

  #finish(): void {
    this.#isOver = true;
    if (this.#isRead) this.#request.off('readable', this.#look);
  }

  readonly #look = (): void => {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    const request = this.#request;
    const value = request.destroyed ? null : (request.read() as Uint8Array | null);
    if (value === null && !request.readableEnded && !request.destroyed) return;
    this.#waiting = undefined;
    if (value !== null) {
      if (!this.#isWastefulWith(value)) {
        waiting.resolve({ done: false, value });
        return;
      }
      this.#finish();
      this.#runOff();
      waiting.reject(new Error('the chunks are too small'));
      return;
    }
    this.#finish();
    if (request.readableEnded && !maybeTruncated(request)) waiting.resolve(DONE);
    else waiting.reject(request.errored ?? new Error('the request is incomplete'));
  };
}

/** As long as other servers wait for the rest of a body that nobody reads. */
const LINGER_MS = 30_000;

/** Chunks of any size that a body may have, beside one for each 16 bytes. */
const FREE_CHUNKS = 500;
const MIN_BYTES_PER_CHUNK = 16;

const EVENTS = ['readable', 'end', 'error', 'close'] as const;
