import type { ServerResponse } from 'node:http';
import type { SendBudget, SendShare } from './send-budget.js';
import type { StallWatch, StallWatchOptions } from './stall-watch.js';

/** Settings of a watch, besides the response. */
export interface SendWatchOptions extends StallWatchOptions {
  readonly budget: SendBudget;
}

/**
 * Follows the bytes of a response that wait for its browser: counts them (decision 130), and ends a browser that takes none (decision 84).
 * What looks for the latter is loaded when bytes first wait: most processes that mount routes never need it, and its spans are long.
 */
export class SendWatch {
  /** Bytes of the body handed over, from any moment on. */
  written = 0;
  readonly #response: ServerResponse;
  readonly #options: SendWatchOptions;
  #share: SendShare | undefined;
  /** `null` until it is known whether it is needed, and loaded. */
  #watch: StallWatch | null | undefined;

  constructor(response: ServerResponse, options: SendWatchOptions) {
    this.#response = response;
    this.#options = options;
  }

  /** Bytes wait: from now on it is looked whether the browser takes any, until none wait any more. */
  begin(): void {
    if (this.#watch !== undefined || this.#options.idleMs === 0) {
      this.#watch?.begin();
      return;
    }
    this.#watch = null;
    // Mostly the system has taken them by then.
    setImmediate(() => {
      if (this.#waiting === 0) this.#watch = undefined;
      else
        void import('./stall-watch.js').then(({ StallWatch }) => {
          this.#watch = new StallWatch(this.#response, this.#options, this);
          this.#watch.begin();
        });
    });
  }

  /** Counts what waits now, or so many bytes, until they are released or the response closes. */
  hold(bytes: number = this.#waiting): void {
    this.#share ??= this.#options.budget.share(this.#response);
    this.#share.set(bytes);
  }

  /** Nothing waits any more. */
  release(): void {
    this.#share?.set(0);
  }

  /** Follows what a response that was handed over whole leaves waiting; a framework or a compressor may end it later. */
  watchRest(): void {
    const response = this.#response;
    if (!response.writableEnded) {
      response.once('prefinish', () => {
        this.watchRest();
      });
    } else if (response.writableLength > 0) {
      if (this.#share === undefined) this.hold();
      this.begin();
    }
  }

  get #waiting(): number {
    return this.#response.writableLength + (this.#options.front?.readableLength ?? 0);
  }
}
