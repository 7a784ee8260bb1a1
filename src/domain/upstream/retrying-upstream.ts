import type { HttpUpstream, UpstreamOutcome, UpstreamRequest } from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { isStream } from '../shared/body.js';

/** What requests are tried again with. */
export interface RetryingUpstreamDependencies {
  readonly upstream: HttpUpstream;
  readonly telemetry: Telemetry;
  /** Resolves after so many milliseconds, or when the signal is aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Long enough for a port that is just being opened again, short enough for a visitor. */
const PAUSE_MS = 100;

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Sends a request a second time, and never a third, when that can do nothing twice. The only place that decides so:
 *
 * - nothing was sent, because there was no connection: any method, after a pause;
 * - it was sent on a connection that the platform may have closed before: GET and HEAD, on a new one.
 *
 * Everything else may have been done already: what is sent once stays sent once.
 */
export class RetryingUpstream implements HttpUpstream {
  readonly #deps: RetryingUpstreamDependencies;

  constructor(dependencies: RetryingUpstreamDependencies) {
    this.#deps = dependencies;
  }

  async send(request: UpstreamRequest): Promise<UpstreamOutcome> {
    const { upstream, telemetry, pause } = this.#deps;
    const outcome = await upstream.send(request);
    if (outcome.kind === 'response') return outcome;
    const cause = retryCause(request, outcome);
    if (cause === undefined) return outcome;
    telemetry.emit({ type: 'retry', method: request.method, cause, detail: outcome.detail });
    if (cause === 'no_connection') await pause(PAUSE_MS, request.signal);
    return upstream.send(request);
  }

  close(options?: { readonly graceMs: number }): Promise<void> {
    return this.#deps.upstream.close(options);
  }
}

type Failure = Extract<UpstreamOutcome, { kind: 'failure' }>;

function retryCause(
  { method, body }: UpstreamRequest,
  { reason, sent }: Failure,
): 'no_connection' | 'stale_connection' | undefined {
  if (isStream(body)) return undefined;
  // A deadline is over, and an aborted request is wanted by nobody.
  if (sent === 'nothing') return reason === 'unreachable' || reason === 'reset' ? 'no_connection' : undefined;
  return sent === 'on-stale-connection' && SAFE_METHODS.has(method) ? 'stale_connection' : undefined;
}
