import type { BodySink, Flow, FlowingBody } from '../../../src/domain/shared/flow.js';
import { bytes } from './browser-request.js';

/** A flowing body the test feeds by hand. */
export class PushFlow implements FlowingBody, Flow {
  /** Whether the sink gave it up. */
  returned = false;
  /** How often the sink asked for more. */
  resumed = 0;
  #sink: BodySink | undefined;

  [Symbol.asyncIterator](): never {
    throw new Error('this body flows');
  }

  flowTo(sink: BodySink): Flow {
    this.#sink = sink;
    return this;
  }

  resume(): void {
    this.resumed += 1;
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
