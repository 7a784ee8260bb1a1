import { bytes } from './browser-request.js';

/** A stream that the test feeds, for one reader at a time. */
export class PushStream implements AsyncIterableIterator<Uint8Array> {
  /** True once the reader has ended it. */
  returned = false;
  /** The error with which it did. */
  reason: Error | undefined;
  /** Number of times the reader asked for more. */
  pulls = 0;
  readonly #ready: (() => Promise<IteratorResult<Uint8Array>>)[] = [];
  #waiting: ((result: Promise<IteratorResult<Uint8Array>>) => void) | undefined;

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    this.pulls += 1;
    const ready = this.#ready.shift();
    if (ready !== undefined) return ready();
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  return(reason?: Error): Promise<IteratorResult<Uint8Array>> {
    this.returned = true;
    this.reason = reason;
    return Promise.resolve({ done: true, value: undefined });
  }

  push(chunk: string): void {
    this.#give(() => Promise.resolve({ done: false, value: bytes(chunk) }));
  }

  end(): void {
    this.#give(() => Promise.resolve({ done: true, value: undefined }));
  }

  break(error: Error): void {
    this.#give(() => Promise.reject(error));
  }

  #give(result: () => Promise<IteratorResult<Uint8Array>>): void {
    const waiting = this.#waiting;
    if (waiting === undefined) {
      this.#ready.push(result);
      return;
    }
    this.#waiting = undefined;
    waiting(result());
  }
}
