import type { RequestError } from '../../domain/shared/errors.js';
import { closing } from '../../domain/shared/message-fields.js';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../ports/http.js';
import { refusedForNow } from './error-response.js';

/** Limits of a gate. */
export interface RequestGateSettings {
  /** Maximum number of running requests, not counting open event streams; 0 means no limit. */
  readonly maxInFlight: number;
  /** Milliseconds a browser may accept no bytes while some are waiting; 0 means no limit. */
  readonly sendIdleMs: number;
}

/**
 * Counts the requests of a site, from their start to the end of their response; rejects requests beyond the limit, and
 * all requests once the site closes.
 */
export class RequestGate {
  readonly #settings: RequestGateSettings;
  #inFlight = 0;
  #openStreams = 0;
  #isClosed = false;
  readonly #waiting: (() => void)[] = [];

  constructor(settings: RequestGateSettings) {
    this.#settings = settings;
  }

  /** Running requests, without those whose response is an open event stream. */
  get inFlight(): number {
    return this.#inFlight;
  }

  get openStreams(): number {
    return this.#openStreams;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** A handler behind this gate; `refuse` responds to rejected requests. */
  guard(handler: HttpHandler, refuse: (request: HttpRequest, error: RequestError) => HttpResponse): HttpHandler {
    return async (request) => {
      if (this.#isClosed)
        return closing(refuse(request, refusedForNow('server_closing', 'The server is shutting down.')));
      const { maxInFlight, sendIdleMs } = this.#settings;
      if (maxInFlight > 0 && this.#inFlight >= maxInFlight) {
        const log = 'the number of running requests has reached "maxInFlight"';
        return refuse(request, refusedForNow('server_busy', 'The server is handling too many requests.', log));
      }
      this.#inFlight += 1;
      try {
        // Properties after a spread are many times slower than those before it.
        const response = { sendIdleMs, ...(await handler(request)) };
        return this.#isClosed ? closing(response) : response;
      } finally {
        this.#inFlight -= 1;
        if (this.#waiting.length > 0) this.#look();
      }
    };
  }

  /** Rejects all further requests. */
  close(): void {
    this.#isClosed = true;
  }

  /** Resolves when no request is running. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#look();
    });
  }

  /** Counts a response body that is still coming, until `bodyEnded`. */
  bodyOpened(isEvents: boolean): void {
    this.#add(isEvents, 1);
  }

  bodyEnded(isEvents: boolean): void {
    this.#add(isEvents, -1);
  }

  #add(isEvents: boolean, count: 1 | -1): void {
    if (isEvents) this.#openStreams += count;
    else this.#inFlight += count;
    if (this.#waiting.length > 0) this.#look();
  }

  /** Resolves pending `idle()` calls if no request is running. */
  #look(): void {
    if (this.#inFlight + this.#openStreams > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
