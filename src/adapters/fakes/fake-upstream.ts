import type { HttpResponse, HttpUpstream, UpstreamOutcome, UpstreamRequest } from '../../ports/http.js';

/**
 * Answers one upstream request.
 *
 * @public
 */
export type FakeAnswer = (
  request: UpstreamRequest,
) => HttpResponse | UpstreamOutcome | Promise<HttpResponse | UpstreamOutcome>;

/**
 * A platform that records what it is sent and answers as told.
 *
 * @public
 */
export class FakeUpstream implements HttpUpstream {
  /** Every request so far, oldest first. */
  readonly requests: UpstreamRequest[] = [];
  /** Whether `close` was called. */
  closed = false;
  #answer: FakeAnswer;

  /** Answers each request by `answer`. Default: 200 with an empty JSON object. */
  constructor(
    answer: FakeAnswer = () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: '{}' }),
  ) {
    this.#answer = answer;
  }

  /** Answers later requests another way. */
  willAnswer(answer: FakeAnswer): void {
    this.#answer = answer;
  }

  /** Records the request and answers it. */
  async send(request: UpstreamRequest): Promise<UpstreamOutcome> {
    this.requests.push(request);
    const answer = await this.#answer(request);
    return 'kind' in answer ? answer : { kind: 'response', response: answer };
  }

  /** Remembers that it was called. */
  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }
}
