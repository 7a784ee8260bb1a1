import type { HttpResponse, HttpUpstream, UpstreamOutcome, UpstreamRequest } from '../../ports/http.js';

/**
 * Responds to one upstream request.
 *
 * @public
 */
export type FakeResponder = (
  request: UpstreamRequest,
) => HttpResponse | UpstreamOutcome | Promise<HttpResponse | UpstreamOutcome>;

/**
 * A platform that records what it is sent and responds as told.
 *
 * @public
 */
export class FakeUpstream implements HttpUpstream {
  /** Every request so far, oldest first. */
  readonly requests: UpstreamRequest[] = [];
  /** Whether `close` was called. */
  closed = false;
  #respond: FakeResponder;

  /** Responds to each request with what `respond` gives. Default: 200 with an empty JSON object. */
  constructor(
    respond: FakeResponder = () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: '{}' }),
  ) {
    this.#respond = respond;
  }

  /** Responds to later requests another way. */
  willAnswer(respond: FakeResponder): void {
    this.#respond = respond;
  }

  /** Records the request and responds to it. */
  async send(request: UpstreamRequest): Promise<UpstreamOutcome> {
    this.requests.push(request);
    const given = await this.#respond(request);
    return 'kind' in given ? given : { kind: 'response', response: given };
  }

  /** Remembers that it was called. */
  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }
}
