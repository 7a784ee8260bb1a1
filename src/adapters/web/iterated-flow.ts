import type { BodySink, Flow, FlowingBody } from '../../domain/shared/flow.js';

/** The same body, handing its chunks on by itself. */
export function flowing(body: AsyncIterable<Uint8Array>): FlowingBody {
  return 'flowTo' in body ? (body as FlowingBody) : new IteratedFlow(body);
}

/** Gives up a body; nobody is left to be told what it says of its end. */
export function stop(source: AsyncIterator<Uint8Array> | undefined): void {
  source?.return?.().catch(() => undefined);
}

/** Reads a body chunk by chunk for a sink, and no further than the sink wants. */
class IteratedFlow implements FlowingBody, Flow {
  readonly #body: AsyncIterable<Uint8Array>;
  #source: AsyncIterator<Uint8Array> | undefined;
  #sink: BodySink | undefined;
  #isAsked = false;

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#body = body;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this.#body[Symbol.asyncIterator]();
  }

  flowTo(sink: BodySink): Flow {
    this.#sink = sink;
    this.#source = this.#body[Symbol.asyncIterator]();
    this.resume();
    return this;
  }

  resume(): void {
    if (this.#isAsked || this.#sink === undefined) return;
    this.#isAsked = true;
    try {
      this.#source?.next().then(this.#take, this.#break);
    } catch (error) {
      this.#break(error);
    }
  }

  cancel(): void {
    this.#sink = undefined;
    stop(this.#source);
  }

  readonly #take = ({ done, value }: IteratorResult<Uint8Array>): void => {
    this.#isAsked = false;
    const sink = this.#sink;
    if (done === true) {
      this.#sink = undefined;
      sink?.end();
    } else if (sink?.write(value) === true) {
      this.resume();
    }
  };

  readonly #break = (error: unknown): void => {
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.fail(error);
  };
}
