import type { Clock } from '../../ports/clock.js';
import type { HttpUpstream, UpstreamOutcome, UpstreamRequest } from '../../ports/http.js';

/** A response of the platform. */
export interface WatchedResponse {
  /** Address, without its query. */
  readonly url: string;
  readonly status: number;
  /** How far the local clock is ahead of the one that wrote the field `Date`, in milliseconds; `NaN` without that field. */
  readonly aheadMs: number;
}

/** An upstream whose responses are noted down. */
export class RecordingUpstream implements HttpUpstream {
  readonly responses: WatchedResponse[] = [];
  readonly #upstream: HttpUpstream;
  readonly #clock: Clock;

  constructor(upstream: HttpUpstream, clock: Clock) {
    this.#upstream = upstream;
    this.#clock = clock;
  }

  async send(request: UpstreamRequest): Promise<UpstreamOutcome> {
    const outcome = await this.#upstream.send(request);
    if (outcome.kind === 'response') {
      const { status, headers } = outcome.response;
      const url = `${request.origin}${request.path.split('?', 1)[0] ?? ''}`;
      const aheadMs = this.#clock.now() - Date.parse(String(headers['date']));
      this.responses.push({ url, status, aheadMs });
    }
    return outcome;
  }

  close(options?: { readonly graceMs: number }): Promise<void> {
    return this.#upstream.close(options);
  }
}
