import type { BodySink, FlowingBody } from '../../../src/domain/shared/body.js';
import { bytes } from './browser-request.js';

/** A flowing body that the test feeds. */
export class PushFlow implements FlowingBody {
  /** True once the sink has cancelled it. */
  returned = false;
  /** The error with which it did. */
  reason: Error | undefined;
  /** Number of times the sink asked for more. */
  resumed = 0;
  #sink: BodySink | undefined;

  [Symbol.asyncIterator](): never {
    throw new Error('this body flows');
  }

  flowTo(sink: BodySink): void {
    if (this.#sink !== undefined) this.resumed += 1;
    this.#sink = sink;
  }

  cancel(reason?: Error): void {
    this.returned = true;
    this.reason = reason;
  }

  /** Returns the response of the sink. */
  push(chunk: string): boolean | undefined {
    return this.#sink?.write(bytes(chunk));
  }

  end(): void {
    this.#sink?.end();
  }

  break(error: Error): void {
    this.#sink?.fail(error);
  }
}
