import type { Clock } from '../../ports/clock.js';
import type { HttpResponse, HttpUpstream, UpstreamOutcome, UpstreamRequest } from '../../ports/http.js';
import { networkFault } from '../../domain/shared/network-fault.js';
import { mediaType } from '../../domain/upstream/header-policy.js';

/** What became of one call to the platform. */
export interface WatchedCall {
  readonly origin: string;
  /** Without its query. */
  readonly path: string;
  /** Absent when there was no answer. */
  readonly answer?: Pick<HttpResponse, 'status' | 'headers'>;
  /** Why there was no answer. */
  readonly failure?: string;
  /** How far the local clock is ahead of the one that wrote the answer's `Date`, in milliseconds; absent without that field. */
  readonly aheadMs?: number;
}

/** An upstream whose calls are noted down. */
export class RecordingUpstream implements HttpUpstream {
  readonly calls: WatchedCall[] = [];
  readonly #upstream: HttpUpstream;
  readonly #clock: Clock;

  constructor(upstream: HttpUpstream, clock: Clock) {
    this.#upstream = upstream;
    this.#clock = clock;
  }

  async send(request: UpstreamRequest): Promise<UpstreamOutcome> {
    const outcome = await this.#upstream.send(request);
    const { origin, path } = request;
    this.calls.push({ origin, path: path.split('?', 1)[0] ?? '', ...this.#became(outcome) });
    return outcome;
  }

  close(options?: { readonly graceMs: number }): Promise<void> {
    return this.#upstream.close(options);
  }

  #became(outcome: UpstreamOutcome): Omit<WatchedCall, 'origin' | 'path'> {
    if (outcome.kind === 'failure') return { failure: failureOf(outcome) };
    const { status, headers } = outcome.response;
    const written = Date.parse(String(headers['date'] ?? ''));
    return {
      answer: { status, headers },
      ...(Number.isNaN(written) ? {} : { aheadMs: this.#clock.now() - written }),
    };
  }
}

/** A call in words; addresses come from the configuration and hold no secret. */
export function described({ origin, path, answer, failure }: WatchedCall): string {
  if (answer === undefined) return `${origin} gives no answer: ${failure ?? 'unknown'}`;
  const { status, headers } = answer;
  return `${origin}${path} answers ${String(status)}${status === 200 ? ` with ${mediaType(headers) || 'no content type'}` : ''}`;
}

/** The code of the network's error and what it means; the rest of its text may hold anything. */
function failureOf({ reason, detail }: Extract<UpstreamOutcome, { kind: 'failure' }>): string {
  const [code] = /^[A-Z][A-Z0-9_]{3,}(?=:)/.exec(detail) ?? [];
  const fault = code === undefined ? undefined : networkFault(code);
  return code === undefined || fault === undefined ? reason : `${code}, ${fault}`;
}
