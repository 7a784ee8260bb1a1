import type { ObservedCall, ObservedRequest, Telemetry, TelemetryEvent } from '../../ports/telemetry.js';
import { RedactedTelemetry } from './redacted-telemetry.js';
import { currentRequestId, currentSecrets, inRequest } from './request-scope.js';

/**
 * What stands between the package and its listeners. The one place where events are redacted.
 * Adds the name of the request an event belongs to. A listener that throws costs its own event and nothing else.
 */
export class OperatorTelemetry extends RedactedTelemetry implements Telemetry {
  readonly #listeners: readonly Telemetry[];

  constructor(listeners: readonly Telemetry[], secrets: readonly string[]) {
    super(secrets);
    this.#listeners = listeners;
  }

  emit(event: TelemetryEvent): void {
    const requestId = currentRequestId();
    const told = this.#redacted(requestId === undefined ? event : { requestId, ...event });
    for (const listener of this.#listeners)
      ignoreErrors(() => {
        listener.emit(told);
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

/** Nobody listens. */
export const silentTelemetry: Telemetry = { emit: () => undefined };
