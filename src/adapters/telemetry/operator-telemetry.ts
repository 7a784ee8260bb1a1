import { redactor } from '../../domain/shared/redaction.js';
import type { Clock } from '../../ports/clock.js';
import type { HttpUpstream } from '../../ports/http.js';
import type { ObservedCall, ObservedRequest, Telemetry, TelemetryEvent } from '../../ports/telemetry.js';
import { currentRequestId, currentSecrets, inRequest, newRequestId } from './request-scope.js';

/** Takes secrets out of the texts of events. */
export class RedactedTelemetry {
  readonly #secrets = new Set<string>();
  /** The text without the secrets of the configuration. */
  protected redactor: ReturnType<typeof redactor> = redactor([]);

  /** `secrets`: every secret of the configuration, as it would appear in a text. */
  constructor(secrets: readonly string[]) {
    this.#add(secrets);
  }

  /** Takes out the secrets of another configuration too; a text may still quote the earlier ones. */
  learn(secrets: readonly string[]): void {
    this.#add(secrets);
  }

  /** The text as an event would have it, also without these secrets. Half a secret is recognised by nobody: what is to be shortened is redacted first. */
  redact(text: string, secrets: readonly string[]): string {
    return this.redactor(text, [...secrets, ...currentSecrets()]);
  }

  #add(secrets: readonly string[]): void {
    for (const secret of secrets) this.#secrets.add(secret);
    this.redactor = redactor([...this.#secrets]);
  }
}

/**
 * Hands events to the listeners, redacted, with the name of the request they belong to.
 * A listener that throws loses its own event and nothing else.
 */
export class OperatorTelemetry extends RedactedTelemetry implements Telemetry {
  readonly #listeners: readonly Telemetry[];

  constructor(listeners: readonly Telemetry[], secrets: readonly string[]) {
    super(secrets);
    this.#listeners = listeners;
  }

  emit(event: TelemetryEvent): void {
    const requestId = currentRequestId();
    const redacted = this.#redacted(requestId === undefined ? event : { requestId, ...event });
    for (const listener of this.#listeners)
      ignoreErrors(() => {
        listener.emit(redacted);
      });
  }

  runRequest<Result>(request: ObservedRequest, work: () => Result): Result {
    const wrapped = this.#listeners.reduceRight<() => Result>(
      (inner, listener) => () => runOnce(listener, request, inner),
      work,
    );
    return inRequest(request, wrapped);
  }

  callStarted(call: ObservedCall): Readonly<Record<string, string>> {
    let fields: Readonly<Record<string, string>> = {};
    for (const listener of this.#listeners) {
      ignoreErrors(() => {
        fields = { ...fields, ...listener.callStarted?.(call) };
      });
    }
    return fields;
  }

  /** Only these texts come from elsewhere; all others are words of this package. A detail may quote the request, whose secrets are looked up only here. */
  #redacted(event: TelemetryEvent): TelemetryEvent {
    if ('detail' in event && event.detail !== undefined) {
      return { ...event, detail: this.redactor(event.detail, currentSecrets()) };
    }
    return event.type === 'upstream' ? { ...event, path: this.redactor(event.path) } : event;
  }
}

/** The work's own outcome, whatever the listener does: it may neither keep the work from running nor run it twice. */
function runOnce<Result>(listener: Telemetry, request: ObservedRequest, work: () => Result): Result {
  if (listener.runRequest === undefined) return work();
  let outcome: { readonly result: Result } | { readonly error: unknown } | undefined;
  const once = (): Result => {
    outcome ??= attempt(work);
    if ('error' in outcome) throw outcome.error;
    return outcome.result;
  };
  ignoreErrors(() => {
    listener.runRequest?.(request, once);
  });
  return once();
}

function attempt<Result>(work: () => Result): { readonly result: Result } | { readonly error: unknown } {
  try {
    return { result: work() };
  } catch (error) {
    return { error };
  }
}

function ignoreErrors(tell: () => void): void {
  try {
    tell();
  } catch {
    // A broken listener must not break the site it listens to.
  }
}

/** An upstream that reports every call to operators, and sends their trace along. */
export function observedUpstream(upstream: HttpUpstream, telemetry: Telemetry, clock: Clock): HttpUpstream {
  return {
    send: async (request) => {
      const { method, origin, path } = request;
      const callId = newRequestId();
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
    },
    close: (options) => upstream.close(options),
  };
}

/** Telemetry without listeners. */
export const silentTelemetry: Telemetry = { emit: () => undefined };
