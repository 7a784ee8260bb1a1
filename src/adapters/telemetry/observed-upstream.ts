import type { Clock } from '../../ports/clock.js';
import type { HttpUpstream, UpstreamOutcome, UpstreamRequest } from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';

/** What the observer is made of. */
export interface ObservedUpstreamDependencies {
  readonly upstream: HttpUpstream;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  /** A name for one call. */
  readonly newCallId: () => string;
}

/** An upstream that tells operators of every call, and sends their trace along. */
export class ObservedUpstream implements HttpUpstream {
  readonly #deps: ObservedUpstreamDependencies;

  constructor(dependencies: ObservedUpstreamDependencies) {
    this.#deps = dependencies;
  }

  async send(request: UpstreamRequest): Promise<UpstreamOutcome> {
    const { upstream, telemetry, clock, newCallId } = this.#deps;
    const { method, origin, path } = request;
    const callId = newCallId();
    const startedAt = clock.now();
    const fields = telemetry.callStarted?.({ callId, method, origin });
    const traced = fields === undefined ? request : { ...request, headers: { ...request.headers, ...fields } };
    const outcome = await upstream.send(traced);
    telemetry.emit({
      type: 'upstream',
      callId,
      method,
      origin,
      path: path.split('?', 1)[0] ?? path,
      ...(outcome.kind === 'response' ? { status: outcome.response.status } : { failure: outcome.reason }),
      durationMs: clock.now() - startedAt,
    });
    return outcome;
  }

  close(options?: { readonly graceMs: number }): Promise<void> {
    return this.#deps.upstream.close(options);
  }
}
