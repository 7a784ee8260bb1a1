import { channel } from 'node:diagnostics_channel';
import { redactor } from '../../domain/shared/redaction.js';
import type { VariableHint } from '../../domain/shared/setting.js';
import type { Clock } from '../../ports/clock.js';
import type { HeaderFields, HttpUpstream, UpstreamRequest } from '../../ports/http.js';
import type { ObservedCall, ObservedRequest, Telemetry, TelemetryEvent } from '../../ports/telemetry.js';
import { currentRequestId, currentSecrets, inRequest, newRequestId } from './request-scope.js';

/** The toolkit whose events are reported. */
export interface ReportingToolkit {
  readonly name: string;
  /** Every secret of its configuration, as it would appear in a text. */
  readonly secrets: readonly string[];
  readonly variables?: VariableHint | undefined;
}

/** Redacts secrets in the texts of events, and names their toolkit. */
export class RedactedTelemetry {
  readonly #secrets = new Set<string>();
  #toolkit: ReportingToolkit;
  /** Removes the secrets of the configuration from a text. */
  protected redactor: ReturnType<typeof redactor> = redactor([]);

  constructor(toolkit: ReportingToolkit) {
    this.#toolkit = toolkit;
    this.#add(toolkit.secrets);
  }

  protected get name(): string {
    return this.#toolkit.name;
  }

  /** Continues with another configuration, and redacts its secrets too; a text may still quote earlier ones. */
  learn(toolkit: ReportingToolkit): void {
    this.#toolkit = toolkit;
    this.#add(toolkit.secrets);
  }

  /**
   * With the name of the toolkit. A warning with a fix names the environment variables too; an error already does, for
   * its response.
   */
  protected named(event: TelemetryEvent): TelemetryEvent {
    const { name: toolkit, variables } = this.#toolkit;
    if (event.type !== 'warning' || event.summary === undefined || event.fields === undefined) {
      return { toolkit, ...event };
    }
    const { summary: before, detail, block = 'configureServer', fields } = event;
    const summary = before + (variables?.(block, fields) ?? '');
    return { toolkit, ...event, summary, detail: detail.replace(before, () => summary) };
  }

  /** The redacted text, also without these secrets. Redact before shortening: half a secret is not recognised. */
  redact(text: string, secrets: readonly string[]): string {
    return this.redactor(text, [...secrets, ...currentSecrets()]);
  }

  #add(secrets: readonly string[]): void {
    for (const secret of secrets) this.#secrets.add(secret);
    this.redactor = redactor([...this.#secrets]);
  }
}

/** Passes redacted events to the listeners, with the id of their request. A listener that throws loses its own event only. */
export class OperatorTelemetry extends RedactedTelemetry implements Telemetry {
  readonly chatEvents: boolean;
  readonly #listeners: readonly Telemetry[];

  constructor(listeners: readonly Telemetry[], toolkit: ReportingToolkit) {
    super(toolkit);
    this.#listeners = listeners;
    this.chatEvents = listeners.some(({ chatEvents }) => chatEvents === true);
  }

  emit(event: TelemetryEvent): void {
    const requestId = currentRequestId();
    const named = this.named(event);
    const redacted = this.#redacted(requestId === undefined ? named : { requestId, ...named });
    for (const listener of this.#listeners)
      if (event.type !== 'chat' || listener.chatEvents === true) ignoreErrors(() => listener.emit(redacted));
  }

  runRequest<Result>(request: ObservedRequest, work: () => Result): Result {
    const observed = { ...request, path: this.redactor(request.path) };
    const wrapped = this.#listeners.reduceRight<() => Result>(
      (inner, listener) => () => runOnce((once) => listener.runRequest?.(observed, once), inner),
      work,
    );
    return inRequest(request, wrapped);
  }

  runCall<Result>(send: () => Result): Result {
    return this.#listeners.reduceRight<() => Result>(
      (inner, listener) => () => runOnce((once) => listener.runCall?.(once), inner),
      send,
    )();
  }

  callStarted(started: ObservedCall): Readonly<Record<string, string>> {
    const call = { ...started, path: this.redactor(started.path) };
    let fields: Readonly<Record<string, string>> = {};
    for (const listener of this.#listeners) {
      ignoreErrors(() => {
        const own = listener.callStarted?.(call);
        fields = { ...fields, ...own };
        return own;
      });
    }
    return fields;
  }

  /**
   * Only these texts come from elsewhere; all others are written by this package. A detail may quote the request, so
   * the request's secrets are only computed here.
   */
  #redacted(event: TelemetryEvent): TelemetryEvent {
    if ('detail' in event && event.detail !== undefined) {
      const secrets = currentSecrets();
      const detail = this.redactor(event.detail, secrets);
      // The summary of an error may quote the visitor.
      return event.type === 'error'
        ? { ...event, detail, summary: this.redactor(event.summary, secrets) }
        : { ...event, detail };
    }
    return event.type === 'upstream' ? { ...event, path: this.redactor(event.path) } : event;
  }
}

/** The work's own outcome, whatever the listener does: it can neither prevent the work nor run it twice. */
function runOnce<Result>(listener: (work: () => Result) => unknown, work: () => Result): Result {
  let outcome: { readonly result: Result } | { readonly error: unknown } | undefined;
  const once = (): Result => {
    outcome ??= attempt(work);
    if ('error' in outcome) throw outcome.error;
    return outcome.result;
  };
  ignoreErrors(() => {
    const returned = listener(once);
    // The caller handles the promise of the work itself.
    return outcome !== undefined && 'result' in outcome && outcome.result === returned ? undefined : returned;
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

/** A broken listener must not break the site, even if it is an async function: an unhandled rejection ends the process. */
function ignoreErrors(tell: () => unknown): void {
  try {
    const told = tell() as Partial<PromiseLike<unknown>> | undefined;
    if (typeof told?.then === 'function') told.then(undefined, () => undefined);
  } catch {
    // Its own event is lost.
  }
}

/** undici publishes it for each request. Tracing in the process subscribes to it, and adds its own trace fields. */
const CREATED = channel('undici:request:create');
const TRACE_FIELDS = ['traceparent', 'tracestate', 'baggage'];

/** The request with one trace context: that of a listener, else of the process's own instrumentation, else the browser's. */
function traced(request: UpstreamRequest, fields: HeaderFields = {}): UpstreamRequest {
  if (Object.keys(fields).length > 0) return { ...request, headers: { ...request.headers, ...fields } };
  if (!CREATED.hasSubscribers) return request;
  const headers = Object.entries(request.headers).filter(([name]) => !TRACE_FIELDS.includes(name));
  return { ...request, headers: Object.fromEntries(headers) };
}

/** An upstream that reports every call to operators, if they listen, and sends one trace context with it. */
export function observedUpstream(upstream: HttpUpstream, telemetry: Telemetry, clock: Clock): HttpUpstream {
  const close: HttpUpstream['close'] = (options) => upstream.close(options);
  if (telemetry.callStarted === undefined) {
    return { send: (request) => upstream.send(CREATED.hasSubscribers ? traced(request) : request), close };
  }
  return {
    send: async (request) => {
      const { method, origin } = request;
      const path = request.path.split('?', 1)[0] ?? request.path;
      const callId = newRequestId();
      const startedAt = clock.now();
      const fields = telemetry.callStarted?.({ callId, method, origin, path });
      const send = (): ReturnType<HttpUpstream['send']> => upstream.send(traced(request, fields));
      const outcome = await (telemetry.runCall === undefined ? send() : telemetry.runCall(send));
      telemetry.emit({
        type: 'upstream',
        callId,
        method,
        origin,
        path,
        // An upstream of the site may return nothing, which the caller refuses.
        ...(outcome?.kind === 'response' ? { status: outcome.response.status } : { failure: outcome?.reason }),
        durationMs: clock.now() - startedAt,
      });
      return outcome;
    },
    close,
  };
}

/** Telemetry without listeners. */
export const silentTelemetry: Telemetry = { emit: () => undefined };
