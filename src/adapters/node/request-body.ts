import type { IncomingMessage, ServerResponse } from 'node:http';
import { maybeTruncated, refuseRest } from './http2-exchange.js';

type Step = IteratorResult<Uint8Array>;

const DONE: Step = { done: true, value: undefined };

/**
 * The body of a request as it comes.
 *
 * A reader that stops early does not destroy the socket, or the browser would never see why; and the rest is drained, or a browser that reads
 * no response before it has sent everything waits for ever, and so does the next request on its connection. Not for ever, though: a browser that
 * still sends long after its response was complete loses the connection.
 */
export class RequestBody implements AsyncIterableIterator<Uint8Array> {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  #steps: AsyncIterator<Uint8Array> | undefined;
  #isOver = false;
  #bytes = 0;
  #chunks = 0;
  #isWasteful = false;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request;
    this.#response = response;
  }

  /**
   * All of it, when it is there already: a short message mostly comes together with its head. Who takes this reads nothing else, and pays
   * for no events, promises and deadlines.
   */
  whole(): Uint8Array | undefined {
    const request = this.#request;
    const { readableLength: length, headers } = request;
    const isThere = length > 0 && Number(headers['content-length']) === length;
    if (!isThere || this.#isOver || this.#steps !== undefined) return undefined;
    this.#isOver = true;
    const bytes = request.read() as Uint8Array;
    // Node ends a request for its host only when somebody reads on.
    request.resume();
    return bytes;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Step> {
    if (this.#isOver) return DONE;
    this.#steps ??= this.#request.iterator({ destroyOnReturn: false });
    const step = (await this.#steps.next()) as Step;
    if (step.done === true ? !maybeTruncated(this.#request) : !this.#isWastefulWith(step.value)) return step;
    void this.return();
    throw new Error(step.done === true ? 'the request is incomplete' : 'the chunks are too small');
  }

  return(): Promise<Step> {
    if (!this.#isOver) {
      this.#isOver = true;
      void this.#steps?.return?.();
      this.#drain();
    }
    return Promise.resolve(DONE);
  }

  #drain(): void {
    const request = this.#request;
    const isWasteful = this.#isWasteful;
    if (isWasteful) request.pause();
    else request.on('data', this.#drop).resume();
    if (request.complete || request.destroyed) return;
    this.#response.once('finish', () => {
      // In this turn: until the event loop turns, Node would read on.
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
}

/** As long as other servers wait for the rest of a body that nobody reads. */
const LINGER_MS = 30_000;

/** Chunks of any size that a body may have, beside one for each 16 bytes. */
const FREE_CHUNKS = 500;
const MIN_BYTES_PER_CHUNK = 16;
