import { RequestError } from '../../domain/errors.js';
import { isStream } from '../../domain/upstream/body-kind.js';
import { isEventStream } from '../../domain/upstream/header-policy.js';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../ports/http.js';
import { EventStream } from './event-stream.js';
import { stop } from './iterated-flow.js';

/** How many requests a gate lets in. */
export interface RequestGateSettings {
  /** Most requests under way, open event streams not counted; 0 sets no limit. */
  readonly maxInFlight: number;
  /** Milliseconds a browser may take nothing while bytes wait for it; 0 allows any. */
  readonly sendIdleMs: number;
}

/** What a route does beside answering. */
export interface GuardedRoute {
  /** Answers those who are not let in. */
  readonly refuse: (request: HttpRequest, error: RequestError) => Promise<HttpResponse>;
  /** Called once when a body breaks on its way to the browser; `side` is absent where the request's signal tells it. */
  readonly onBroken: (request: HttpRequest, error: unknown, side?: 'browser') => void;
}

const AGAIN_MS = 1_000;

/** Statuses whose responses have no body, whatever the platform sends (RFC 9110 §6.4.1, §15.3.6). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** Counts the requests of a site, from their start to the end of their answer; lets no more in than may be, and none when the site closes. */
export class RequestGate {
  readonly #maxInFlight: number;
  readonly #sendIdleMs: number;
  #inFlight = 0;
  #openStreams = 0;
  #isClosed = false;
  readonly #waiting: (() => void)[] = [];

  constructor({ maxInFlight, sendIdleMs }: RequestGateSettings) {
    this.#maxInFlight = maxInFlight;
    this.#sendIdleMs = sendIdleMs;
  }

  /** Requests under way, without those whose answer is an open event stream. */
  get inFlight(): number {
    return this.#inFlight;
  }

  get openStreams(): number {
    return this.#openStreams;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** A handler behind this gate. */
  guard(handler: HttpHandler, { refuse, onBroken }: GuardedRoute): HttpHandler {
    return async (request) => {
      const refusal = this.#refusal();
      if (refusal !== undefined) return refuse(request, refusal);
      this.#inFlight += 1;
      try {
        return this.#counted(await handler(request), (error, side) => onBroken(request, error, side));
      } finally {
        this.#inFlight -= 1;
        this.#look();
      }
    };
  }

  /** Lets nobody in any more. */
  close(): void {
    this.#isClosed = true;
  }

  /** Resolves when nothing is under way. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#look();
    });
  }

  #refusal(): RequestError | undefined {
    if (this.#isClosed) {
      return new RequestError('server_closing', {
        detail: 'The server is shutting down.',
        hint: 'Send the request again.',
        retryable: true,
        retryAfterMs: AGAIN_MS,
      });
    }
    if (this.#maxInFlight === 0 || this.#inFlight < this.#maxInFlight) return undefined;
    return new RequestError('server_busy', {
      detail: 'The server has too many requests under way.',
      hint: 'Send the request again in a moment.',
      retryable: true,
      retryAfterMs: AGAIN_MS,
      log: 'as many requests are under way as "maxInFlight" allows',
    });
  }

  #counted(answer: HttpResponse, onBroken: (error: unknown, side?: 'browser') => void): HttpResponse {
    if (WITHOUT_BODY.has(answer.status)) return withoutBody(answer);
    const sendIdleMs = this.#sendIdleMs;
    const { body } = answer;
    if (!isStream(body)) return { ...answer, sendIdleMs };
    const isEvents = isEventStream(answer.headers);
    this.#add(isEvents, 1);
    const onEnd = (): void => this.#add(isEvents, -1);
    // An event stream tells by itself how it ended, also of what it could still say to the browser.
    if (!(body instanceof EventStream)) return { ...answer, sendIdleMs, body: new CountedBody(body, onEnd, onBroken) };
    body.whenOver(onEnd);
    return { ...answer, sendIdleMs };
  }

  #add(isEvents: boolean, count: 1 | -1): void {
    if (isEvents) this.#openStreams += count;
    else this.#inFlight += count;
    this.#look();
  }

  #look(): void {
    if (this.#waiting.length === 0 || this.#inFlight + this.#openStreams > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** A length that is told waits for bytes in some hosts; only 304 tells that of a response it does not hold. */
function withoutBody({ status, headers, body }: HttpResponse): HttpResponse {
  if (isStream(body)) stop(body[Symbol.asyncIterator]());
  return { status, headers: status === 304 ? headers : { ...headers, 'content-length': undefined }, body: null };
}

/** A body that tells when it is over, and how. */
class CountedBody implements AsyncIterableIterator<Uint8Array> {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #onBroken: (error: unknown, side?: 'browser') => void;
  #onEnd: (() => void) | undefined;

  constructor(
    body: AsyncIterable<Uint8Array>,
    onEnd: () => void,
    onBroken: (error: unknown, side?: 'browser') => void,
  ) {
    this.#source = body[Symbol.asyncIterator]();
    this.#onEnd = onEnd;
    this.#onBroken = onBroken;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const step = this.#source.next();
    // Beside the reader, who is given the step itself: this is the hot path of every stream.
    step.then(this.#see, this.#break);
    return step;
  }

  /** `reason` where the browser did not leave by itself. */
  async return(reason?: Error): Promise<IteratorResult<Uint8Array>> {
    if (reason !== undefined && this.#onEnd !== undefined) this.#onBroken(reason, 'browser');
    this.#end();
    await this.#source.return?.();
    return { done: true, value: undefined };
  }

  readonly #see = (step: IteratorResult<Uint8Array>): void => {
    if (step.done === true) this.#end();
  };

  readonly #break = (error: unknown): void => {
    if (this.#onEnd !== undefined) this.#onBroken(error);
    this.#end();
  };

  readonly #end = (): void => {
    this.#onEnd?.();
    this.#onEnd = undefined;
  };
}
