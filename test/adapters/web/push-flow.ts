import type { BodySink, FlowingBody } from '../../../src/domain/shared/body.js';
import { bytes } from './browser-request.js';

/** A flowing body the test feeds by hand. */
export class PushFlow implements FlowingBody {
  /** Whether the sink gave it up. */
  returned = false;
  /** How often the sink asked for more. */
  resumed = 0;
  #sink: BodySink | undefined;

  [Symbol.asyncIterator](): never {
    throw new Error('this body flows');
  }

  flowTo(sink: BodySink): void {
    if (this.#sink !== undefined) this.resumed += 1;
    this.#sink = sink;
  }

  cancel(): void {
    this.returned = true;
  }

  /** What the sink answers. */
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
