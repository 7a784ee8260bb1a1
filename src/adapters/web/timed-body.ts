import { RequestError } from '../../domain/errors.js';
import { isStream } from '../../domain/upstream/body-kind.js';
import type { HttpBody } from '../../ports/http.js';

/** What a deadline is for: the whole body, or each of its pauses. */
export type TimedPart = 'body' | 'pause';

/** The same body, whose reader does not wait for a browser that stopped sending; 0 waits for ever. */
export function timedBody(body: HttpBody, ms: number, part: TimedPart): HttpBody {
  return isStream(body) && ms > 0 ? new TimedBody(body, ms, part) : body;
}

/** The error of a body that came too late for its reader; whoever read it may have taken it for something else. */
export function lateness(body: HttpBody): RequestError | undefined {
  return body instanceof TimedBody && body.isLate ? late() : undefined;
}

class TimedBody implements AsyncIterableIterator<Uint8Array> {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #ms: number;
  readonly #part: TimedPart;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #expire: ((error: RequestError) => void) | undefined;
  #isLate = false;

  constructor(body: AsyncIterable<Uint8Array>, ms: number, part: TimedPart) {
    this.#source = body[Symbol.asyncIterator]();
    this.#ms = ms;
    this.#part = part;
  }

  get isLate(): boolean {
    return this.#isLate;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#isLate) return Promise.reject(late());
    this.#start();
    return new Promise((resolve, reject) => {
      this.#expire = reject;
      this.#source.next().then(
        (step) => {
          if (step.done === true || this.#part === 'pause') this.#stop();
          resolve(step);
        },
        (error: unknown) => {
          this.#stop();
          reject(error as Error);
        },
      );
    });
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#stop();
    const ended = this.#source.return?.();
    // A source that is silent ends when it speaks again, and nobody waits for that.
    if (this.#isLate) ended?.catch(() => undefined);
    else await ended;
    return { done: true, value: undefined };
  }

  #start(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#isLate = true;
      this.#expire?.(late());
      void this.return();
    }, this.#ms);
    this.#timer.unref?.();
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

function late(): RequestError {
  return new RequestError('body_timeout', {
    detail: 'The request body did not arrive in time.',
    hint: 'Send it again.',
    retryable: true,
    log: 'the browser stopped sending: see "timeouts.requestBodyMs"',
  });
}
