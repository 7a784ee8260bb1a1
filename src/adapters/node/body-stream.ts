import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { cancel, isStream } from '../../domain/shared/body.js';
import type { HttpBody } from '../../ports/http.js';
import { abortResponse } from './http2-response.js';
import { SendDeadline } from './send-deadline.js';

/** A body for frameworks that write to the socket themselves. */
export type NodeBody = BodyStream | Buffer | string | null;

/** Converts a body for such a framework; a stream remains a stream. */
export function toNodeBody(body: HttpBody, response: ServerResponse, sendIdleMs: number): NodeBody {
  if (body === null) return null;
  if (isStream(body)) return new BodyStream(body, response, sendIdleMs);
  new SendDeadline(response, { idleMs: sendIdleMs }).startAtEnd();
  return typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

/** A body as a Node stream. Reads on demand, and cancels its source when destroyed. */
export class BodyStream extends Readable {
  /** The error that broke the source, as opposed to the one its reader destroyed it with. */
  failure: Error | undefined;
  /** The error that disconnected a stalled browser. */
  stall: Error | undefined;
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #response: ServerResponse;
  readonly #deadline: SendDeadline;
  #isAsked = false;

  /** Takes the milliseconds a browser may accept no bytes while some are waiting; 0 means no limit. */
  constructor(body: AsyncIterable<Uint8Array>, response: ServerResponse, idleMs: number) {
    super();
    this.#source = body[Symbol.asyncIterator]();
    this.#response = response;
    const onStalled = (reason: Error): void => {
      this.stall = reason;
      this.destroy(reason);
    };
    this.#deadline = new SendDeadline(response, { idleMs, onStalled, front: this });
  }

  override _read(): void {
    // The framework has set the head by the time it reads the body, and the first chunk may take long.
    if (!this.#response.headersSent) this.#response.flushHeaders();
    if (!this.#response.writableNeedDrain) this.#deadline.stop();
    if (!this.#isAsked) void this.#pull();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    // Some frameworks do not destroy the response, and a clean end would claim that it is complete.
    if (error !== null) abortResponse(this.#response);
    void cancel(this.#source, this.stall);
    callback(error);
  }

  async #pull(): Promise<void> {
    this.#isAsked = true;
    try {
      const { done, value } = await this.#source.next();
      this.#isAsked = false;
      if (this.destroyed) return;
      this.#deadline.written += value?.length ?? 0;
      const hasRoom = this.push(done === true ? null : value);
      // At the end the framework still writes what was read before.
      if (!hasRoom || this.#response.writableNeedDrain) this.#deadline.start();
    } catch (error) {
      if (this.destroyed) return;
      this.failure = error instanceof Error ? error : new Error('the body broke', { cause: error });
      this.destroy(this.failure);
    }
  }
}
