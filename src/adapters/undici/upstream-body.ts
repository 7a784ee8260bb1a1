import type { Dispatcher } from 'undici';

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
export class UpstreamBody implements AsyncIterableIterator<Uint8Array> {
  readonly #controller: Dispatcher.DispatchController;
  readonly #idleMs: number;
  #chunks: Uint8Array[] = [];
  #size = 0;
  #waiting: Waiting | undefined;
  #ended = false;
  #error: Error | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(controller: Dispatcher.DispatchController, idleMs: number) {
    this.#controller = controller;
    this.#idleMs = idleMs;
    this.#watch();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) {
      this.#size -= chunk.length;
      if (this.#size < HIGH_WATER_BYTES && this.#controller.paused) {
        this.#watch();
        this.#controller.resume();
      }
      return Promise.resolve({ done: false, value: chunk });
    }
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

  push(chunk: Uint8Array): void {
    if (this.#ended) return;
    this.#idle?.refresh();
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
      clearTimeout(this.#idle);
    }
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#idle);
    this.#waiting?.resolve(DONE);
    this.#waiting = undefined;
  }

  fail(error: Error): void {
    clearTimeout(this.#idle);
    if (this.#ended) return;
    this.#error = error;
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }

  #watch(): void {
    if (this.#idleMs === 0) return;
    this.#idle = setTimeout(() => {
      this.#controller.abort(new Error('the platform sent nothing for too long'));
    }, this.#idleMs);
    this.#idle.unref();
  }
}
