import type { ObservedCall, Telemetry, TelemetryEvent } from '../../ports/telemetry.js';
import type { MeterLike, OpenTelemetryLike, SpanLike, TracerLike } from './opentelemetry-like.js';
import { serverOf, SiteMetrics } from './site-metrics.js';

const NAME = 'agent-bff';
/** Values of `SpanKind` and `SpanStatusCode` (OpenTelemetry specification, trace API). */
const INTERNAL = 0;
const SERVER = 1;
const CLIENT = 2;
const FAILED = 2;
/** Spans of calls whose event never comes are let go of, so that nothing grows. */
const MAX_OPEN_SPANS = 10_000;

/**
 * Spans and metrics for OpenTelemetry; give it to `telemetry`. A span per request (below the one of the host's own instrumentation,
 * where there is one) and per call to the platform, with W3C trace context sent along, and one per token that was asked for.
 * The span of a request ends with its response, also when that is a stream.
 * Metrics: `agent_bff.request.duration`, `agent_bff.upstream.duration` and `agent_bff.stream.duration` (seconds), `agent_bff.streams.open`, and the counters
 * `agent_bff.errors`, `agent_bff.tokens`, `agent_bff.cache`, `agent_bff.retries` and `agent_bff.streams.broken`. Attributes follow the semantic conventions.
 *
 * @example
 * ```ts
 * import * as api from '@opentelemetry/api';
 * import { configureServer, openTelemetry } from 'agent-bff';
 *
 * configureServer({ telemetry: openTelemetry(api) });
 * ```
 *
 * @public
 */
export function openTelemetry(api: OpenTelemetryLike): Telemetry {
  const tracer = api.trace.getTracer(NAME) as TracerLike;
  const metrics = new SiteMetrics(api.metrics.getMeter(NAME) as MeterLike);
  const requests = new OpenSpans();
  const calls = new OpenSpans();

  return {
    runRequest: (request, work) => {
      const active: unknown = api.context.active();
      // An instrumented host has a span of this request already; else the browser's trace is joined here.
      const hosted = api.trace.getSpan(active) !== undefined;
      const parent: unknown = hosted ? active : api.propagation.extract(active, request.headers);
      const kind = hosted ? INTERNAL : SERVER;
      const span = tracer.startSpan(`${NAME} ${request.method}`, { kind }, parent);
      requests.open(request.requestId, span);
      return api.context.with(api.trace.setSpan(parent, span), work);
    },
    callStarted: ({ callId, method, origin }: ObservedCall) => {
      const parent: unknown = api.context.active();
      const attributes = { 'http.request.method': method, ...serverOf(origin) };
      const span = tracer.startSpan(method, { kind: CLIENT, attributes }, parent);
      calls.open(callId, span);
      const fields: Record<string, string> = {};
      api.propagation.inject(api.trace.setSpan(parent, span), fields);
      return fields;
    },
    emit: (event) => {
      metrics.count(event);
      if (event.type === 'request') {
        const { requestId, streams = false } = event;
        describeRequest(requests.get(requestId), event);
        if (!streams) requests.close(requestId)?.end();
      }
      if (event.type === 'stream_ended') {
        const span = requests.close(event.requestId);
        span?.setAttribute('agent_bff.outcome', event.outcome);
        if (event.outcome === 'upstream') span?.setStatus({ code: FAILED });
        span?.end();
      }
      if (event.type === 'upstream') endCall(calls.close(event.callId), event);
      if (event.type === 'error') requests.get(event.requestId)?.setAttribute('error.type', event.code);
      if (event.type !== 'token' || event.durationMs === undefined) return;
      const startTime = Date.now() - event.durationMs;
      const attributes = { 'agent_bff.block': event.block, 'agent_bff.outcome': event.outcome };
      tracer.startSpan('token', { kind: CLIENT, startTime, attributes }, api.context.active()).end();
    },
  };
}

function describeRequest(span: SpanLike | undefined, event: Extract<TelemetryEvent, { type: 'request' }>): void {
  if (span === undefined) return;
  span.updateName(`${event.method} ${event.route}`);
  span.setAttribute('http.response.status_code', event.status);
  span.setAttribute('agent_bff.request_id', event.requestId);
  if (event.status >= 500) span.setStatus({ code: FAILED });
}

function endCall(span: SpanLike | undefined, event: Extract<TelemetryEvent, { type: 'upstream' }>): void {
  if (span === undefined) return;
  if (event.status !== undefined) span.setAttribute('http.response.status_code', event.status);
  if (event.failure !== undefined) span.setAttribute('error.type', event.failure);
  // A browser that left is nobody's failure.
  const failed = event.failure === undefined ? (event.status ?? 0) >= 400 : event.failure !== 'aborted';
  if (failed) span.setStatus({ code: FAILED });
  span.end();
}

/** Spans that have begun, by the name their end will have. */
class OpenSpans {
  readonly #spans = new Map<string, SpanLike>();

  open(name: string, span: SpanLike): void {
    this.#spans.set(name, span);
    if (this.#spans.size <= MAX_OPEN_SPANS) return;
    for (const oldest of this.#spans.keys()) {
      this.close(oldest)?.end();
      break;
    }
  }

  get(name: string): SpanLike | undefined {
    return this.#spans.get(name);
  }

  close(name: string): SpanLike | undefined {
    const span = this.#spans.get(name);
    this.#spans.delete(name);
    return span;
  }
}
