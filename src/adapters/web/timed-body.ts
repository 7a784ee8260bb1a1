import { RequestError } from '../../domain/shared/errors.js';
import { isStream } from '../../domain/shared/body.js';
import type { HttpBody } from '../../ports/http.js';

/** Milliseconds a browser has for a body; 0 is any time. */
export interface BodyDeadlines {
  /** For its next bytes, while its reader waits for them. */
  readonly idleMs: number;
  /** For all of it. */
  readonly totalMs: number;
}

/** The same body, whose reader does not wait for a browser that stopped sending. */
export function timedBody(body: HttpBody, deadlines: BodyDeadlines): HttpBody {
  const isTimed = isStream(body) && deadlines.idleMs + deadlines.totalMs > 0;
  return isTimed ? new TimedBody(body, deadlines) : body;
}

/** The error of a body that came too late for its reader, who may have taken it for something else. */
export function timeoutError(body: HttpBody): RequestError | undefined {
  return body instanceof TimedBody ? body.cutBy : undefined;
}

/** A body that can be cut while its reader waits: by its deadlines, or by somebody else. */
export class TimedBody implements AsyncIterableIterator<Uint8Array> {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #deadlines: BodyDeadlines;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #total: ReturnType<typeof setTimeout> | undefined;
  #refuse: ((error: RequestError) => void) | undefined;
  #cutBy: RequestError | undefined;

  constructor(body: AsyncIterable<Uint8Array>, deadlines: BodyDeadlines) {
    this.#source = body[Symbol.asyncIterator]();
    this.#deadlines = deadlines;
  }

  get cutBy(): RequestError | undefined {
    return this.#cutBy;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#cutBy !== undefined) return Promise.reject(this.#cutBy);
    this.#start();
    return new Promise((resolve, reject) => {
      this.#refuse = reject;
      this.#source.next().then(
        (step) => {
          clearTimeout(this.#idle);
          if (step.done === true) this.#stop();
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
    if (this.#cutBy !== undefined) ended?.catch(() => undefined);
    else await ended;
    return { done: true, value: undefined };
  }

  /** Gives the reader this error immediately, and ends the source. */
  cut(error: RequestError): void {
    this.#cutBy = error;
    this.#refuse?.(error);
    void this.return();
  }

  #start(): void {
    const { idleMs, totalMs } = this.#deadlines;
    if (idleMs > 0) this.#idle = this.#cutAfter(idleMs, 'requestIdleMs');
    if (totalMs > 0) this.#total ??= this.#cutAfter(totalMs, 'requestBodyMs');
  }

  #stop(): void {
    clearTimeout(this.#idle);
    clearTimeout(this.#total);
  }

  #cutAfter(ms: number, field: string): ReturnType<typeof setTimeout> {
    const timer = setTimeout(() => {
      this.cut(late(`the browser stopped sending: see "timeouts.${field}"`));
    }, ms);
    timer.unref?.();
    return timer;
  }
}

/** The error of a body that is not waited for; `log` says to operators why. */
export function late(log: string): RequestError {
  return new RequestError('body_timeout', {
    detail: 'The request body did not arrive in time.',
    hint: 'Send it again.',
    retryable: true,
    log,
  });
}
