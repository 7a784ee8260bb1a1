import type { BodySink, FlowingBody } from './body.js';

type Step = IteratorResult<Uint8Array>;
interface Waiting {
  resolve(step: Step): void;
  reject(error: unknown): void;
}

const DONE: Step = { done: true, value: undefined };

/** A flowing body that can be read by its iterator too, as sites and the domain do. */
export abstract class ReadableFlow implements FlowingBody {
  #reader: FlowReader | undefined;

  [Symbol.asyncIterator](): AsyncIterableIterator<Uint8Array> {
    this.#reader ??= new FlowReader(this);
    return this.#reader;
  }

  abstract flowTo(sink: BodySink): void;
  abstract cancel(reason?: Error): void;
}

/** Reads a flowing body by the steps of an iterator: a chunk flows when it is asked for. */
class FlowReader implements AsyncIterableIterator<Uint8Array>, BodySink {
  readonly #body: FlowingBody;
  #isOver = false;
  #waiting: Waiting | undefined;
  /** What came while nobody waited. */
  readonly #early: (() => Promise<Step>)[] = [];

  constructor(body: FlowingBody) {
    this.#body = body;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    const early = this.#early.shift();
    if (early !== undefined) return early();
    if (this.#isOver) return Promise.resolve(DONE);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#body.flowTo(this);
    });
  }

  return(reason?: Error): Promise<Step> {
    this.#isOver = true;
    this.#early.length = 0;
    this.#body.cancel(reason);
    this.#taken()?.resolve(DONE);
    return Promise.resolve(DONE);
  }

  write(chunk: Uint8Array): boolean {
    const waiting = this.#taken();
    if (waiting === undefined) this.#early.push(() => Promise.resolve({ done: false, value: chunk }));
    else waiting.resolve({ done: false, value: chunk });
    return false;
  }

  end(): void {
    this.#isOver = true;
    this.#taken()?.resolve(DONE);
  }

  fail(error: unknown): void {
    this.#isOver = true;
    const waiting = this.#taken();
    if (waiting === undefined) this.#early.push(() => Promise.reject(error as Error));
    else waiting.reject(error);
  }

  /** The one who waits for a step, which is given now. */
  #taken(): Waiting | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting;
  }
}
