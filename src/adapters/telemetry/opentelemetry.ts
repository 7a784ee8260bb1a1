import type { Context, Counter, Histogram, Meter, Span, Tracer } from '@opentelemetry/api';
import { accept, checkArgument, flag, hasMethods, type OptionShape, readOptions } from '../../domain/shared/options.js';
import type { EventOf, ObservedCall, Telemetry, TelemetryEvent } from '../../ports/telemetry.js';

const NAME = 'agent-bff';

const API = accept(
  (api) => hasMethods((Object(api) as Partial<OpenTelemetryLike>).trace, ['getTracer']),
  'the module "@opentelemetry/api"',
);
const OPTIONS: OptionShape<'metricsByToolkit'> = { options: { metricsByToolkit: flag } };

/** Values of `SpanKind` and `SpanStatusCode` (OpenTelemetry specification, trace API). */
const INTERNAL = 0;
const SERVER = 1;
const CLIENT = 2;
const FAILED = 2;
/** The SDK makes no spans in a context with this key, and sends no trace fields (`suppressTracing` of `@opentelemetry/core`). */
const SUPPRESSED = Symbol.for('OpenTelemetry SDK Context Key SUPPRESS_TRACING');
/** Maximum number of open spans: spans whose end event never arrives are evicted. */
const MAX_OPEN_SPANS = 10_000;

/**
 * Spans and metrics for OpenTelemetry; pass it to `telemetry`. One span per request (a child of the host's own, if
 * instrumented), one per call to the platform, with W3C trace context sent along, and one per requested token. Calls to
 * the platform are hidden from instrumentation of undici, which would trace them again. The span of a request ends with its response, even if that is a stream. Metrics: `agent_bff.request.duration`,
 * `agent_bff.upstream.duration`, `agent_bff.stream.duration`, `agent_bff.chat.duration` and `agent_bff.chat.first_event` (seconds), `agent_bff.streams.open`, and the counters
 * `agent_bff.errors`, `agent_bff.tokens`, `agent_bff.cache`, `agent_bff.retries` and `agent_bff.streams.broken`.
 * Attributes follow the semantic conventions; `agent_bff.toolkit` is the `name` of the toolkit, which spans have;
 * with `metricsByToolkit: true` every metric has it too, hence a series per toolkit (default false).
 *
 * @throws ConfigurationError (code `configuration_invalid`) for another `api`, and an option that is unknown or invalid.
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
export function openTelemetry(
  api: OpenTelemetryLike,
  options?: { readonly metricsByToolkit?: boolean | undefined },
): Telemetry {
  checkArgument('openTelemetry', 'api', api, API);
  const { metricsByToolkit = false } = readOptions('openTelemetry', OPTIONS, options);
  const tracer = api.trace.getTracer(NAME) as Tracer;
  const count = siteMetrics(api.metrics.getMeter(NAME) as Meter, metricsByToolkit);
  const requests = new OpenSpans();
  /** Spans of open streams: as many as there are streams, each of which ends. */
  const streaming = new Map<string, Span>();
  const calls = new OpenSpans();
  const spanOf = ({ requestId }: { readonly requestId: string }): Span | undefined =>
    requests.get(requestId) ?? streaming.get(requestId);
  /** Spans whose `error.type` is a code of this package. */
  const errors = new WeakSet<Span>();

  return {
    chatEvents: true,
    runRequest: ({ requestId, method, headers, publicUrl, path }, work) => {
      const active: Context = api.context.active();
      // An instrumented host already has a span for this request; otherwise the browser's trace is continued here.
      const hosted = api.trace.getSpan(active) !== undefined;
      const parent: Context = hosted ? active : api.propagation.extract(active, headers);
      const kind = hosted ? INTERNAL : SERVER;
      const attributes = { ...methodOf(method), ...addressOf(publicUrl, path) };
      const span = tracer.startSpan(`${NAME} ${method}`, { kind, attributes }, parent);
      requests.open(requestId, span);
      return api.context.with(api.trace.setSpan(parent, span), work);
    },
    runCall: (send) => api.context.with(api.context.active().setValue(SUPPRESSED, true), send),
    callStarted: ({ callId, method, origin, path }: ObservedCall) => {
      const parent: Context = api.context.active();
      const attributes = { ...methodOf(method), ...serverOf(origin), 'url.full': origin + path };
      const span = tracer.startSpan(method, { kind: CLIENT, attributes }, parent);
      calls.open(callId, span);
      const fields: Record<string, string> = {};
      api.propagation.inject(api.trace.setSpan(parent, span), fields);
      return fields;
    },
    emit: (event) => {
      count(event);
      if (event.type === 'request') {
        const { requestId, streams = false, continues = false } = event;
        const span = requests.close(requestId);
        describeRequest(span, event, errors);
        if (!streams && !continues) span?.end();
        else if (span !== undefined) streaming.set(requestId, span);
      }
      if (event.type === 'chat') describeChat(spanOf(event), event);
      // The first of the two events ends the span.
      if (event.type === 'stream_ended' || event.type === 'chat') {
        const span = streaming.get(event.requestId);
        streaming.delete(event.requestId);
        span?.setAttribute('agent_bff.outcome', event.outcome);
        if (event.outcome === 'upstream') span?.setStatus({ code: FAILED });
        span?.end();
      }
      if (event.type === 'upstream') endCall(calls.close(event.callId), event);
      if (event.type === 'error') {
        const span = spanOf(event);
        span?.setAttribute('error.type', event.code);
        if (span !== undefined) errors.add(span);
      }
      if (event.type !== 'token' || event.durationMs === undefined) return;
      const startTime = Date.now() - event.durationMs;
      const attributes = { ...ofToolkit(event), 'agent_bff.block': event.block, 'agent_bff.outcome': event.outcome };
      tracer.startSpan('token', { kind: CLIENT, startTime, attributes }, api.context.active()).end();
    },
  };
}

/** The toolkit as an attribute. */
function ofToolkit({ toolkit }: TelemetryEvent): Attributes {
  return toolkit === undefined ? {} : { 'agent_bff.toolkit': toolkit };
}

function describeRequest(span: Span | undefined, event: EventOf<'request'>, errors: WeakSet<Span>): void {
  if (span === undefined) return;
  span.updateName(`${event.method} ${event.route}`);
  span.setAttribute('http.response.status_code', event.status);
  span.setAttribute('agent_bff.request_id', event.requestId);
  if (event.toolkit !== undefined) span.setAttribute('agent_bff.toolkit', event.toolkit);
  span.setAttribute('agent_bff.route', event.route);
  if (event.status < 500) return;
  span.setStatus({ code: FAILED });
  if (!errors.has(span)) span.setAttribute('error.type', String(event.status));
}

/** The stable attributes of OpenTelemetry for an RPC; those for generative AI are not stable yet. */
function describeChat(span: Span | undefined, event: EventOf<'chat'>): void {
  const { visitor, context, task, state, errorCode, firstEventMs, usage = {} } = event;
  const attributes: Record<string, string | number | undefined> = {
    'rpc.method': event.method,
    'rpc.status_code': errorCode === undefined ? undefined : String(errorCode),
    'agent_bff.visitor': visitor,
    'agent_bff.context': context,
    'agent_bff.task': task,
    'agent_bff.state': state,
    'agent_bff.first_event_ms': firstEventMs,
    'agent_bff.events': event.events,
    'agent_bff.bytes': event.bytes,
    'agent_bff.input_tokens': usage.inputTokens,
    'agent_bff.output_tokens': usage.outputTokens,
  };
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) span?.setAttribute(key, value);
}

function endCall(span: Span | undefined, event: EventOf<'upstream'>): void {
  if (span === undefined) return;
  if (event.status !== undefined) span.setAttribute('http.response.status_code', event.status);
  if (event.toolkit !== undefined) span.setAttribute('agent_bff.toolkit', event.toolkit);
  const refused = (event.status ?? 0) >= 400 ? String(event.status) : undefined;
  const type = event.failure ?? refused;
  if (type !== undefined) span.setAttribute('error.type', type);
  // A browser that leaves is not a failure.
  if (type !== undefined && type !== 'aborted') span.setStatus({ code: FAILED });
  span.end();
}

/** Spans that have begun, by the id in their end event. */
class OpenSpans {
  readonly #spans = new Map<string, Span>();

  open(name: string, span: Span): void {
    this.#spans.set(name, span);
    const [oldest = name] = this.#spans.keys();
    if (this.#spans.size > MAX_OPEN_SPANS) this.close(oldest)?.end();
  }

  get(name: string): Span | undefined {
    return this.#spans.get(name);
  }

  close(name: string): Span | undefined {
    const span = this.#spans.get(name);
    this.#spans.delete(name);
    return span;
  }
}

type Attributes = Record<string, string | number>;

/** Seconds, as recommended by OpenTelemetry's semantic conventions for HTTP; a stream may last minutes. */
const RESPONSE_S = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const STREAM_S = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/** All other methods are `_OTHER`: visitors choose them, and each name would create a series. */
const METHODS: ReadonlySet<string> = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);

function knownMethod(method: string): string {
  return METHODS.has(method) ? method : '_OTHER';
}

function methodOf(method: string): Attributes {
  const known = knownMethod(method);
  return { 'http.request.method': known, ...(known !== method && { 'http.request.method_original': method }) };
}

/** The address of a request, in the parts that the conventions name. The route is the mount path. */
function addressOf(publicUrl: string, path: string): Attributes {
  if (!URL.canParse(publicUrl)) return { 'url.path': path };
  const { origin, protocol, pathname } = new URL(publicUrl);
  const route = pathname === '/' ? '' : pathname;
  return {
    ...serverOf(origin),
    'url.scheme': protocol.slice(0, -1),
    'url.path': route + path || '/',
    'http.route': route || '/',
  };
}

/** Records the metrics of a site from its events. No attribute has more values than a site has routes, codes, blocks and platforms. */
function siteMetrics(meter: Meter, isByToolkit: boolean): (event: TelemetryEvent) => void {
  const seconds = (name: string, description: string, explicitBucketBoundaries: number[]): Histogram =>
    meter.createHistogram(`agent_bff.${name}`, { unit: 's', description, advice: { explicitBucketBoundaries } });
  const counter = (name: string, unit: string, description: string): Counter =>
    meter.createCounter(`agent_bff.${name}`, { unit, description });
  const requests = seconds('request.duration', 'Time to the head of the response', RESPONSE_S);
  const streams = seconds('stream.duration', 'Time to the end of an event stream', STREAM_S);
  const calls = seconds('upstream.duration', "Time to the head of the platform's response", RESPONSE_S);
  const chats = seconds('chat.duration', 'Time to the end of the answer to a message', STREAM_S);
  const firstEvents = seconds('chat.first_event', 'Time to the first event of an answer', RESPONSE_S);
  const openStreams = meter.createUpDownCounter('agent_bff.streams.open', {
    unit: '{stream}',
    description: 'Open event streams',
  });
  const errors = counter('errors', '{error}', 'Error responses by route and code');
  const tokens = counter('tokens', '{event}', 'Token events by configuration block and outcome');
  const cache = counter('cache', '{render}', 'Renders by cache outcome');
  const retries = counter('retries', '{call}', 'Calls sent again, by cause');
  const broken = counter(
    'streams.broken',
    '{response}',
    'Responses that broke after their head, by the side that broke them',
  );
  const records: {
    readonly [Type in TelemetryEvent['type']]: (event: EventOf<Type>, of: Attributes) => void;
  } = {
    _OTHER: () => undefined,
    request: (event, of) => {
      requests.record(event.durationMs / 1_000, {
        ...of,
        'agent_bff.route': event.route,
        'http.request.method': knownMethod(event.method),
        'http.response.status_code': event.status,
        ...(event.status >= 500 && { 'error.type': String(event.status) }),
      });
      if (event.streams === true) openStreams.add(1, { ...of, 'agent_bff.route': event.route });
    },
    stream_ended: (event, of) => {
      const route = { ...of, 'agent_bff.route': event.route };
      openStreams.add(-1, route);
      streams.record(event.durationMs / 1_000, { ...route, 'agent_bff.outcome': event.outcome });
    },
    chat: (event, of) => {
      const method = { ...of, 'rpc.method': event.method };
      const state = event.state !== undefined && { 'agent_bff.state': event.state };
      chats.record(event.durationMs / 1_000, { ...method, ...state, 'agent_bff.outcome': event.outcome });
      if (event.firstEventMs !== undefined) firstEvents.record(event.firstEventMs / 1_000, method);
    },
    upstream: (event, of) => {
      calls.record(event.durationMs / 1_000, {
        ...of,
        'http.request.method': knownMethod(event.method),
        ...serverOf(event.origin),
        ...(event.status !== undefined && { 'http.response.status_code': event.status }),
        ...(event.failure !== undefined && { 'error.type': event.failure }),
      });
    },
    error: ({ route, code }, of) => errors.add(1, { ...of, 'agent_bff.route': route, 'error.type': code }),
    token: ({ block, outcome }, of) => tokens.add(1, { ...of, 'agent_bff.block': block, 'agent_bff.outcome': outcome }),
    cache: ({ route, outcome }, of) => cache.add(1, { ...of, 'agent_bff.route': route, 'agent_bff.outcome': outcome }),
    cache_fault: ({ operation }, of) =>
      cache.add(1, { ...of, 'agent_bff.route': 'store', 'agent_bff.outcome': `${operation} failed` }),
    stream_broken: ({ route, side }, of) => broken.add(1, { ...of, 'agent_bff.route': route, 'agent_bff.side': side }),
    retry: ({ cause }, of) => retries.add(1, { ...of, 'agent_bff.cause': cause }),
    warning: () => undefined,
  };
  return (event) => records[event.type](event as never, isByToolkit ? ofToolkit(event) : {});
}

/** `server.address` and `server.port` of an origin (OpenTelemetry semantic conventions, "Server"). */
function serverOf(origin: string): Attributes {
  const { protocol, hostname, port } = new URL(origin);
  return {
    'server.address': hostname.replace(/^\[(.*)\]$/, '$1'),
    'server.port': port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port),
  };
}

/**
 * The part of the module `@opentelemetry/api`, version 1, that is used. The site passes it, so that it is the one its
 * SDK configured. Values that are only passed between its functions are `any` here, since its own types are narrower.
 *
 * @public
 */
/* oxlint-disable typescript/no-explicit-any */
export interface OpenTelemetryLike {
  /** Contexts. */
  readonly context: { active(): any; with(context: any, work: () => any): any };
  /** Spans. */
  readonly trace: {
    getTracer(name: string): any;
    getSpan(context: any): unknown;
    setSpan(context: any, span: any): any;
  };
  /** Metrics. */
  readonly metrics: { getMeter(name: string): any };
  /** Trace context in header fields. */
  readonly propagation: { extract(context: any, carrier: unknown): any; inject(context: any, carrier: unknown): void };
}
