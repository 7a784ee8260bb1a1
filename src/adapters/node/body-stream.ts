import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { BodySink, Flow, FlowingBody } from '../../ports/flow.js';
import type { HttpBody } from '../../ports/http.js';
import { cutOff } from './http2-exchange.js';

/** A body as frameworks send it that write to the socket themselves. */
export type NodeBody = BodyStream | Buffer | string | null;

/** Hands a body over to such a framework; what comes as a stream goes on as a stream. */
export function toNodeBody(body: HttpBody, response: ServerResponse): NodeBody {
  if (body === null || typeof body === 'string') return body;
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return new BodyStream(body, response);
}

/** A body that comes in pieces. Reads only as fast as it is read, and stops its source when it is given up. */
export class BodyStream extends Readable {
  /** Why the source broke, as opposed to why whoever reads gave it up. */
  failure: Error | undefined;
  readonly #body: AsyncIterable<Uint8Array> | FlowingBody;
  readonly #response: ServerResponse;
  #flow: Flow | undefined;
  #source: AsyncIterator<Uint8Array> | undefined;
  #isWriting = false;

  constructor(body: AsyncIterable<Uint8Array> | FlowingBody, response: ServerResponse) {
    super();
    this.#body = body;
    this.#response = response;
  }

  override _read(): void {
    // The framework has finished the head by the time it asks for the body, and the first chunk may be long in coming.
    if (!this.#response.headersSent) this.#response.flushHeaders();
    if (this.#isWriting) return; // `write` tells.
    if (this.#flow !== undefined) this.#flow.resume();
    else if ('flowTo' in this.#body) this.#flow = this.#body.flowTo(this.#sink);
    else this.#step(this.#body);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    // Not every framework does: a clean end would claim that the answer was complete.
    if (error !== null) cutOff(this.#response);
    if (this.#flow !== undefined) this.#flow.cancel();
    else (this.#source ?? this.#body[Symbol.asyncIterator]()).return?.().catch(() => undefined);
    callback(error);
  }

  /** Apart from the stream: what has a `write` passes for a writable one. */
  readonly #sink: BodySink = {
    write: (chunk) => {
      this.#isWriting = true;
      const hasRoom = this.push(chunk);
      this.#isWriting = false;
      return hasRoom;
    },
    end: () => {
      this.push(null);
    },
    fail: (error) => {
      this.#break(error);
    },
  };

  #step(body: AsyncIterable<Uint8Array>): void {
    this.#source ??= body[Symbol.asyncIterator]();
    this.#source.next().then(
      ({ done, value }) => {
        this.push(done === true ? null : value);
      },
      (error: unknown) => {
        this.#break(error);
      },
    );
  }

  #break(error: unknown): void {
    this.failure = error instanceof Error ? error : new Error('the body broke', { cause: error });
    this.destroy(this.failure);
  }
}
