import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { type BodySink, flowing, type FlowingBody, type HttpBody, isStream } from '../../domain/shared/body.js';
import { abortResponse, tellsProgress } from './http2-exchange.js';
import { type SendBudget, SendWatch } from './send-budget.js';

/** A body as frameworks send it that write to the socket themselves. */
export type NodeBody = BodyStream | Buffer | string | null;

/** Hands a body over to such a framework; what comes as a stream goes on as a stream. */
export function toNodeBody(body: HttpBody, response: ServerResponse, sendIdleMs: number, budget: SendBudget): NodeBody {
  if (body === null) return null;
  if (isStream(body)) return new BodyStream(body, response, sendIdleMs, budget);
  new SendWatch(response, { idleMs: tellsProgress(response) ? sendIdleMs : 0, budget }).watchRest();
  return typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

/** A body that comes in pieces. Reads only as fast as it is read, and stops its source when it is given up. */
export class BodyStream extends Readable {
  /** Why the source broke, as opposed to why its reader gave it up. */
  failure: Error | undefined;
  /** Why the browser was given up. */
  stall: Error | undefined;
  readonly #body: FlowingBody;
  readonly #response: ServerResponse;
  readonly #watch: SendWatch;
  #isWriting = false;

  /** Milliseconds a browser may take nothing while bytes wait; 0 allows any. */
  constructor(body: AsyncIterable<Uint8Array>, response: ServerResponse, idleMs: number, budget: SendBudget) {
    super();
    this.#body = flowing(body);
    this.#response = response;
    const onStalled = (reason: Error): void => {
      this.stall = reason;
      this.destroy(reason);
    };
    this.#watch = new SendWatch(response, { idleMs, budget, onStalled, front: this });
  }

  override _read(): void {
    // The framework has finished the head by the time it asks for the body, and the first chunk may be long in coming.
    if (!this.#response.headersSent) this.#response.flushHeaders();
    if (this.#isWriting) return; // `write` tells.
    this.#watch.release();
    this.#body.flowTo(this.#sink);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    // Not every framework does: a clean end would claim that the response was complete.
    if (error !== null) abortResponse(this.#response);
    this.#body.cancel(this.stall);
    callback(error);
  }

  /** Kept outside the stream: Node treats any object with `write` as a Writable. */
  readonly #sink: BodySink = {
    write: (chunk) => {
      this.#isWriting = true;
      const waits = this.#response.writableLength > 0;
      const hasRoom = this.push(chunk);
      this.#watch.written += chunk.length;
      if (waits || !hasRoom) this.#watch.begin();
      if (!hasRoom) this.#watch.hold();
      this.#isWriting = false;
      return hasRoom;
    },
    end: () => {
      this.push(null);
      // The rest still goes through the framework's hands.
      if (this.#response.closed) return;
      this.#watch.begin();
      if (this.readableLength > 0) this.#watch.hold();
    },
    fail: (error) => {
      this.failure = error instanceof Error ? error : new Error('the body broke', { cause: error });
      this.destroy(this.failure);
    },
  };
}
