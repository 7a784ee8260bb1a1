import type { ServerResponse } from 'node:http';
import type { StallWatch, StallWatchOptions } from './stall-watch.js';

/**
 * Watches a response for a browser that takes nothing of it (decision 84). What looks is loaded when bytes first wait:
 * most processes that mount routes never need it, and its spans are long.
 */
export class SendWatch {
  /** Bytes of the body handed over, from any moment on. */
  written = 0;
  readonly #response: ServerResponse;
  readonly #options: StallWatchOptions;
  /** `null` until it is known whether it is needed, and loaded. */
  #watch: StallWatch | null | undefined;

  constructor(response: ServerResponse, options: StallWatchOptions) {
    this.#response = response;
    this.#options = options;
  }

  /** Bytes wait: from now on it is looked whether the browser takes any, until none wait any more. */
  begin(): void {
    if (this.#watch !== undefined) {
      this.#watch?.begin();
      return;
    }
    this.#watch = null;
    // Mostly the system has taken them by then.
    const response = this.#response;
    const options = this.#options;
    setImmediate(() => {
      if (response.writableLength + (options.front?.readableLength ?? 0) === 0) this.#watch = undefined;
      else
        void import('./stall-watch.js').then(({ StallWatch }) => {
          this.#watch = new StallWatch(response, options, this);
          this.#watch.begin();
        });
    });
  }

  /** Watches what a response that was handed over whole leaves waiting; a framework or a compressor may end it later. */
  watchRest(): void {
    const response = this.#response;
    if (response.writableLength > 0 && response.writableEnded) this.begin();
    else if (!response.writableEnded) response.once('prefinish', () => this.watchRest());
  }
}
