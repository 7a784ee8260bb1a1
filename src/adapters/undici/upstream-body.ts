import type { Dispatcher } from 'undici';
import type { BodySink, Flow, FlowingBody } from '../../domain/shared/flow.js';

type Step = IteratorResult<Uint8Array>;
interface Waiting {
  resolve(step: Step): void;
  reject(error: Error): void;
}

// Enough to keep the socket busy while the reader takes a turn; small, because each open stream may hold this much.
const HIGH_WATER_BYTES = 65_536;

const DONE: Step = { done: true, value: undefined };

/**
 * The body of one answer, read as it comes.
 * When the reader is slow the socket is paused; when the reader stops early the request is aborted.
 */
export class UpstreamBody implements AsyncIterableIterator<Uint8Array>, FlowingBody, Flow {
  readonly #controller: Dispatcher.DispatchController;
  readonly #idleMs: number;
  #chunks: Uint8Array[] = [];
  #size = 0;
  #waiting: Waiting | undefined;
  #sink: BodySink | undefined;
  /** Whether chunks go straight to the sink. */
  #isFlowing = false;
  #ended = false;
  #error: Error | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** What is left of the time for the whole body; 0 when it may take for ever. */
  #leftMs: number;
  #watchedAt = 0;
  #total: NodeJS.Timeout | undefined;

  /** Milliseconds of silence, and for the whole body; 0 allows any. */
  constructor(controller: Dispatcher.DispatchController, idleMs: number, totalMs: number) {
    this.#controller = controller;
    this.#idleMs = idleMs;
    this.#leftMs = totalMs;
  }

  /** The time runs from now, while the platform has something to send. */
  watch(): void {
    if (this.#ended || this.#error !== undefined || this.#controller.paused) return;
    this.#watch();
  }

  /** All of it in one piece, when it came in one and is complete. Whoever takes this reads nothing else. */
  whole(): Uint8Array | undefined {
    return this.#ended && this.#chunks.length === 1 ? this.#chunks[0] : undefined;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    const chunk = this.#shift();
    if (chunk !== undefined) return Promise.resolve({ done: false, value: chunk });
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#ended) return Promise.resolve(DONE);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  return(): Promise<Step> {
    this.#chunks = [];
    this.#size = 0;
    if (!this.#ended && this.#error === undefined) {
      this.end();
      this.#controller.abort(new Error('the reader stopped'));
    }
    return Promise.resolve(DONE);
  }

  flowTo(sink: BodySink): Flow {
    this.#sink = sink;
    this.resume();
    return this;
  }

  resume(): void {
    const sink = this.#sink;
    if (sink === undefined || this.#isFlowing) return;
    for (let chunk = this.#shift(); chunk !== undefined; chunk = this.#shift()) if (!sink.write(chunk)) return;
    this.#isFlowing = true;
    if (this.#error !== undefined) sink.fail(this.#error);
    else if (this.#ended) sink.end();
  }

  cancel(): void {
    this.#isFlowing = false;
    this.#sink = undefined;
    void this.return();
  }

  push(chunk: Uint8Array): void {
    if (this.#ended) return;
    this.#idle?.refresh();
    if (this.#isFlowing) {
      this.#isFlowing = this.#sink?.write(chunk) === true;
      return;
    }
    const waiting = this.#waiting;
    if (waiting !== undefined) {
      this.#waiting = undefined;
      waiting.resolve({ done: false, value: chunk });
      return;
    }
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size >= HIGH_WATER_BYTES) {
      this.#controller.pause();
      // A reader that takes its time is no silence of the platform.
      this.#unwatch();
    }
  }

  end(): void {
    this.#ended = true;
    this.#unwatch();
    if (this.#isFlowing) this.#sink?.end();
    this.#waiting?.resolve(DONE);
    this.#waiting = undefined;
  }

  fail(error: Error): void {
    this.#unwatch();
    if (this.#ended) return;
    this.#error = error;
    if (this.#isFlowing) this.#sink?.fail(error);
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }

  /** The chunk that has waited longest; a platform that was paused goes on when its reader has caught up. */
  #shift(): Uint8Array | undefined {
    if (this.#chunks.length === 0) return undefined;
    const chunk = this.#chunks.shift();
    this.#size -= chunk?.length ?? 0;
    if (this.#size < HIGH_WATER_BYTES && this.#controller.paused) {
      this.#watch();
      this.#controller.resume();
    }
    return chunk;
  }

  #watch(): void {
    if (this.#idleMs > 0) this.#idle = this.#abortAfter(this.#idleMs, 'the platform sent nothing for too long');
    if (this.#leftMs === 0) return;
    this.#watchedAt = performance.now();
    this.#total = this.#abortAfter(this.#leftMs, 'the platform took too long for its whole answer');
  }

  #unwatch(): void {
    clearTimeout(this.#idle);
    if (this.#total === undefined) return;
    clearTimeout(this.#total);
    this.#total = undefined;
    this.#leftMs = Math.max(1, this.#leftMs - (performance.now() - this.#watchedAt));
  }

  #abortAfter(ms: number, why: string): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.#controller.abort(new Error(why));
    }, ms);
    timer.unref();
    return timer;
  }
}
