import * as api from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { isTracingSuppressed, W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  AggregationTemporality,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_REQUEST_METHOD_ORIGINAL,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_RPC_METHOD,
  ATTR_SERVER_ADDRESS,
  ATTR_SERVER_PORT,
  ATTR_URL_FULL,
  ATTR_URL_PATH,
  ATTR_URL_SCHEME,
  HTTP_REQUEST_METHOD_VALUE_OTHER,
} from '@opentelemetry/semantic-conventions';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openTelemetry } from '../../../src/adapters/telemetry/opentelemetry.js';
import { telemetryContract } from '../../contracts/telemetry.contract.js';

const exported = new InMemorySpanExporter();
const meters = new MeterProvider();

beforeAll(() => {
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  api.propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  api.trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exported)] }));
  api.metrics.setGlobalMeterProvider(meters);
});
beforeEach(() => {
  exported.reset();
});
afterAll(async () => {
  await meters.shutdown();
  for (const part of [api.context, api.propagation, api.trace, api.metrics]) part.disable();
});

const BROWSER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const REQUEST = {
  requestId: 'r-1',
  method: 'POST',
  headers: { traceparent: BROWSER },
  publicUrl: 'https://site.example/api/a2a',
  path: '/config',
};
const CALL = { callId: 'c-1', method: 'POST', origin: 'https://agent.example', path: '/a2a' };

/** One request with one call; returns the header fields of the call. */
async function exchange(end: { status: number } | { failure: string } = { status: 200 }, status = 200) {
  const telemetry = openTelemetry(api);
  const answer = telemetry.runRequest?.(REQUEST, async () => {
    await Promise.resolve();
    const fields = telemetry.callStarted?.(CALL);
    await Promise.resolve();
    telemetry.emit({ type: 'upstream', requestId: 'r-1', ...CALL, ...end, durationMs: 1 });
    telemetry.emit({ type: 'request', requestId: 'r-1', route: 'chat', method: 'POST', status, durationMs: 2 });
    return fields;
  });
  const [call, request] = await answer!.then((fields) => {
    sent = fields;
    return exported.getFinishedSpans();
  });
  return { sent, call: call!, request: request! };
}
let sent: Readonly<Record<string, string>> | undefined;

const traceOf = (span: ReadableSpan): string => span.spanContext().traceId;

telemetryContract('OpenTelemetry', () => openTelemetry(api));

describe('the span of a request', () => {
  it("is a server span in the browser's trace when the host has none", async () => {
    const { request } = await exchange();
    expect(request).toMatchObject({ name: 'POST chat', kind: api.SpanKind.SERVER });
    expect(traceOf(request)).toBe('0af7651916cd43dd8448eb211c80319c');
    expect(request.parentSpanContext?.spanId).toBe('b7ad6b7169203331');
  });

  it("is an inner span below the host's own", async () => {
    const host = api.trace.getTracer('the host').startSpan('GET /');
    const { request } = await api.context.with(api.trace.setSpan(api.context.active(), host), () => exchange());
    expect(request).toMatchObject({
      kind: api.SpanKind.INTERNAL,
      parentSpanContext: { spanId: host.spanContext().spanId },
    });
  });

  it('has the error code of a failure', async () => {
    const telemetry = openTelemetry(api);
    telemetry.runRequest?.(REQUEST, () => {
      telemetry.emit({
        type: 'error',
        requestId: 'r-1',
        route: 'chat',
        status: 502,
        code: 'upstream_unreachable',
        summary: 's',
        detail: 'd',
      });
      telemetry.emit({ type: 'request', requestId: 'r-1', route: 'chat', method: 'POST', status: 502, durationMs: 2 });
    });
    expect(exported.getFinishedSpans()[0]).toMatchObject({
      status: { code: api.SpanStatusCode.ERROR },
      attributes: { 'error.type': 'upstream_unreachable' },
    });
  });
});

describe('the attributes that the conventions require', () => {
  it('of a server span: method, path, scheme, route and status', async () => {
    const { request } = await exchange();
    expect(request.attributes).toEqual({
      'agent_bff.request_id': 'r-1',
      'agent_bff.route': 'chat',
      [ATTR_HTTP_REQUEST_METHOD]: 'POST',
      [ATTR_URL_PATH]: '/api/a2a/config',
      [ATTR_URL_SCHEME]: 'https',
      [ATTR_HTTP_ROUTE]: '/api/a2a',
      [ATTR_SERVER_ADDRESS]: 'site.example',
      [ATTR_SERVER_PORT]: 443,
      [ATTR_HTTP_RESPONSE_STATUS_CODE]: 200,
    });
  });

  it("of a client span: method, address, port, URL and status; an error's type is the status", async () => {
    const { call, request } = await exchange({ status: 400 }, 500);
    expect(call.attributes).toEqual({
      [ATTR_HTTP_REQUEST_METHOD]: 'POST',
      [ATTR_SERVER_ADDRESS]: 'agent.example',
      [ATTR_SERVER_PORT]: 443,
      [ATTR_URL_FULL]: 'https://agent.example/a2a',
      [ATTR_HTTP_RESPONSE_STATUS_CODE]: 400,
      [ATTR_ERROR_TYPE]: '400',
    });
    expect(request.attributes).toMatchObject({ [ATTR_ERROR_TYPE]: '500' });
  });

  it.each([
    ['http://[::1]', '', ['http', '::1', 80, '/', '/']],
    ['https://site.example:8443/', '/x', ['https', 'site.example', 8_443, '/', '/x']],
    ['https://site.example/api/a2a', '', ['https', 'site.example', 443, '/api/a2a', '/api/a2a']],
  ])('of a server span at %s with "%s": scheme, address, port, route and path', (publicUrl, path, values) => {
    const telemetry = openTelemetry(api);
    telemetry.runRequest?.({ ...REQUEST, publicUrl, path }, () =>
      telemetry.emit({ type: 'request', requestId: 'r-1', route: 'chat', method: 'GET', status: 200, durationMs: 2 }),
    );
    const [span] = exported.getFinishedSpans();
    const names = [ATTR_URL_SCHEME, ATTR_SERVER_ADDRESS, ATTR_SERVER_PORT, ATTR_HTTP_ROUTE, ATTR_URL_PATH];
    expect(names.map((name) => span?.attributes[name])).toEqual(values);
  });

  it('of an unknown method: _OTHER, and the method as it was sent', () => {
    const telemetry = openTelemetry(api);
    telemetry.runRequest?.({ ...REQUEST, method: 'BREW', publicUrl: '//' }, () =>
      telemetry.emit({ type: 'request', requestId: 'r-1', route: 'chat', method: 'BREW', status: 405, durationMs: 2 }),
    );
    expect(exported.getFinishedSpans()[0]?.attributes).toMatchObject({
      [ATTR_HTTP_REQUEST_METHOD]: HTTP_REQUEST_METHOD_VALUE_OTHER,
      [ATTR_HTTP_REQUEST_METHOD_ORIGINAL]: 'BREW',
      [ATTR_URL_PATH]: '/config',
    });
  });
});

describe('the span of a call to the platform', () => {
  it('is a client span below the request and sends its own trace context', async () => {
    const { sent, call, request } = await exchange();
    expect(call).toMatchObject({ name: 'POST', kind: api.SpanKind.CLIENT });
    expect(call.parentSpanContext?.spanId).toBe(request.spanContext().spanId);
    expect(sent?.['traceparent']).toBe(`00-${traceOf(call)}-${call.spanContext().spanId}-01`);
  });

  it('is the only one: instrumentation of the process makes none while it is sent', () => {
    expect(openTelemetry(api).runCall?.(() => isTracingSuppressed(api.context.active()))).toBe(true);
    expect(isTracingSuppressed(api.context.active())).toBe(false);
  });

  it.each([
    ['a response', { status: 200 }, api.SpanStatusCode.UNSET],
    ['a refusal', { status: 401 }, api.SpanStatusCode.ERROR],
    ['no response', { failure: 'timeout' }, api.SpanStatusCode.ERROR],
    ['a browser that left', { failure: 'aborted' }, api.SpanStatusCode.UNSET],
  ])('ends with %s', async (_what, end, code) => {
    const { call } = await exchange(end);
    expect(call.status.code).toBe(code);
  });
});

it('a requested token has a span of its duration', () => {
  openTelemetry(api).emit({ type: 'token', outcome: 'stale_served', block: 'idpA' });
  openTelemetry(api).emit({ type: 'token', outcome: 'acquired', block: 'idpA', durationMs: 250 });
  const [span, ...others] = exported.getFinishedSpans();
  expect(others).toEqual([]);
  expect(span).toMatchObject({ name: 'token', attributes: { 'agent_bff.block': 'idpA' } });
  expect(span!.duration[0] * 1e3 + span!.duration[1] / 1e6).toBeGreaterThanOrEqual(249);
});

/** Telemetry with its own meter, and attributes and value of each series by instrument. */
function measuring(options?: { readonly metricsByToolkit: boolean }) {
  const measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: measured, exportIntervalMillis: 3_600_000 });
  const meters = new MeterProvider({ readers: [reader] });
  onTestFinished(() => meters.shutdown());
  const metrics = { getMeter: (name: string) => meters.getMeter(name) };
  return {
    telemetry: openTelemetry({ ...api, metrics }, options),
    measurements: () => measurementsOf(reader, measured),
  };
}

async function measurementsOf(
  reader: PeriodicExportingMetricReader,
  measured: InMemoryMetricExporter,
): Promise<Readonly<Record<string, readonly (readonly [object, unknown])[]>>> {
  await reader.forceFlush();
  const metrics =
    measured
      .getMetrics()
      .at(-1)
      ?.scopeMetrics.flatMap((scope) => scope.metrics) ?? [];
  return Object.fromEntries(
    metrics.map(({ descriptor: { name, unit }, dataPoints }) => [
      `${name} ${unit}${isHistogram(dataPoints[0]?.value) ? ` <= ${String(dataPoints[0].value.buckets.boundaries.at(-1))}` : ''}`,
      dataPoints.map(({ attributes, value }) => [attributes, isHistogram(value) ? value.sum : value]),
    ]),
  );
}
const isHistogram = (value: unknown): value is Histogram => Object(value) === value;

it('events are counted and measured under the names of the semantic conventions', async () => {
  const { telemetry, measurements } = measuring();
  const route = { 'agent_bff.route': 'chat' };
  const request = { type: 'request', requestId: 'r', route: 'chat', status: 200, durationMs: 7 } as const;
  telemetry.emit({ ...request, method: 'POST' });
  telemetry.emit({ ...request, method: 'INVENTED', status: 500 });
  telemetry.emit({ type: 'upstream', ...CALL, path: '/', status: 200, durationMs: 5 });
  telemetry.emit({
    type: 'upstream',
    ...CALL,
    origin: 'http://[::1]:8080',
    path: '/',
    failure: 'timeout',
    durationMs: 5,
  });
  const error = { type: 'error', requestId: 'r', route: 'chat', status: 502, summary: 's', detail: 'd' } as const;
  telemetry.emit({ ...error, code: 'upstream_timeout' });
  telemetry.emit({ type: 'token', outcome: 'renewed', block: 'idpB' });
  telemetry.emit({ type: 'cache', route: 'surface', outcome: 'hit' });
  telemetry.emit({ type: 'cache_fault', operation: 'get', detail: 'd' });
  telemetry.emit({ type: 'retry', method: 'GET', cause: 'stale_connection', detail: 'd' });
  telemetry.emit({ type: 'stream_broken', route: 'chat', side: 'upstream', detail: 'd' });
  telemetry.emit({ type: 'warning', code: 'w', detail: 'd' });
  const found = await measurements();
  expect(found).toStrictEqual({
    'agent_bff.request.duration s <= 10': [
      [{ ...route, [ATTR_HTTP_REQUEST_METHOD]: 'POST', [ATTR_HTTP_RESPONSE_STATUS_CODE]: 200 }, 0.007],
      [
        {
          ...route,
          [ATTR_HTTP_REQUEST_METHOD]: HTTP_REQUEST_METHOD_VALUE_OTHER,
          [ATTR_HTTP_RESPONSE_STATUS_CODE]: 500,
          [ATTR_ERROR_TYPE]: '500',
        },
        0.007,
      ],
    ],
    'agent_bff.upstream.duration s <= 10': [
      [
        {
          [ATTR_HTTP_REQUEST_METHOD]: 'POST',
          [ATTR_SERVER_ADDRESS]: 'agent.example',
          [ATTR_SERVER_PORT]: 443,
          [ATTR_HTTP_RESPONSE_STATUS_CODE]: 200,
        },
        0.005,
      ],
      [
        {
          [ATTR_HTTP_REQUEST_METHOD]: 'POST',
          [ATTR_SERVER_ADDRESS]: '::1',
          [ATTR_SERVER_PORT]: 8080,
          [ATTR_ERROR_TYPE]: 'timeout',
        },
        0.005,
      ],
    ],
    'agent_bff.errors {error}': [[{ ...route, [ATTR_ERROR_TYPE]: 'upstream_timeout' }, 1]],
    'agent_bff.tokens {event}': [[{ 'agent_bff.block': 'idpB', 'agent_bff.outcome': 'renewed' }, 1]],
    'agent_bff.cache {render}': [
      [{ 'agent_bff.route': 'surface', 'agent_bff.outcome': 'hit' }, 1],
      [{ 'agent_bff.route': 'store', 'agent_bff.outcome': 'get failed' }, 1],
    ],
    'agent_bff.retries {call}': [[{ 'agent_bff.cause': 'stale_connection' }, 1]],
    'agent_bff.streams.broken {response}': [[{ ...route, 'agent_bff.side': 'upstream' }, 1]],
  });
});

describe('the name of a toolkit', () => {
  const CALLED = { type: 'upstream', ...CALL, path: '/', status: 200, durationMs: 5 } as const;

  it('is an attribute of its spans', () => {
    const telemetry = openTelemetry(api);
    telemetry.runRequest?.(REQUEST, () => {
      telemetry.callStarted?.(CALL);
      telemetry.emit({ ...CALLED, toolkit: 'acme' });
      telemetry.emit({ type: 'token', toolkit: 'acme', outcome: 'acquired', block: 'idpB', durationMs: 1 });
      const answered = { type: 'request', requestId: 'r-1', route: 'chat', method: 'POST', status: 200 } as const;
      telemetry.emit({ ...answered, toolkit: 'acme', durationMs: 2 });
    });
    const spans = exported.getFinishedSpans().map(({ name, attributes }) => [name, attributes['agent_bff.toolkit']]);
    expect(spans).toEqual([
      ['POST', 'acme'],
      ['token', 'acme'],
      ['POST chat', 'acme'],
    ]);
  });

  it.each([
    ['no series of its own by default', undefined, {}],
    ['a series of its own on request', { metricsByToolkit: true }, { 'agent_bff.toolkit': 'acme' }],
  ])('has %s', async (_what, options, attributes) => {
    const { telemetry, measurements } = measuring(options);
    telemetry.emit({ type: 'retry', toolkit: 'acme', method: 'GET', cause: 'stale_connection', detail: 'd' });
    expect(await measurements()).toStrictEqual({
      'agent_bff.retries {call}': [[{ 'agent_bff.cause': 'stale_connection', ...attributes }, 1]],
    });
  });
});

describe('a stream of events', () => {
  const request = { type: 'request', requestId: 'r-1', route: 'chat', method: 'POST', status: 200 } as const;

  it('counts as open until it ends and then has a duration', async () => {
    const { telemetry, measurements } = measuring();
    telemetry.emit({ ...request, durationMs: 20, streams: true });
    expect(await measurements()).toMatchObject({
      'agent_bff.streams.open {stream}': [[{ 'agent_bff.route': 'chat' }, 1]],
    });
    telemetry.emit({ type: 'stream_ended', requestId: 'r-1', route: 'chat', outcome: 'complete', durationMs: 90_000 });
    expect(await measurements()).toMatchObject({
      'agent_bff.streams.open {stream}': [[{ 'agent_bff.route': 'chat' }, 0]],
      'agent_bff.stream.duration s <= 600': [[{ 'agent_bff.route': 'chat', 'agent_bff.outcome': 'complete' }, 90]],
    });
  });

  it.each([
    ['complete', api.SpanStatusCode.UNSET],
    ['browser', api.SpanStatusCode.UNSET],
    ['upstream', api.SpanStatusCode.ERROR],
  ] as const)('ends the span of its request when it ends: %s', (outcome, code) => {
    const telemetry = openTelemetry(api);
    telemetry.runRequest?.(REQUEST, () => telemetry.emit({ ...request, durationMs: 2, streams: true }));
    expect(exported.getFinishedSpans()).toHaveLength(0);
    telemetry.emit({ type: 'stream_ended', requestId: 'r-1', route: 'chat', outcome, durationMs: 9 });
    expect(exported.getFinishedSpans()[0]).toMatchObject({
      name: 'POST chat',
      status: { code },
      attributes: { 'agent_bff.outcome': outcome, [ATTR_HTTP_RESPONSE_STATUS_CODE]: 200 },
    });
  });
});

it("calls with a visitor's made-up methods share one series", () => {
  const recorded: unknown[] = [];
  const instrument = { add: () => undefined, record: (_value: number, labels: unknown) => recorded.push(labels) };
  const meter = {
    createCounter: () => instrument,
    createUpDownCounter: () => instrument,
    createHistogram: () => instrument,
  };
  const telemetry = openTelemetry({ ...api, metrics: { getMeter: () => meter } });
  for (let number = 0; number < 500; number += 1)
    telemetry.emit({
      type: 'upstream',
      ...CALL,
      method: `MADE${String(number)}`,
      path: '/',
      status: 200,
      durationMs: 1,
    });
  expect(new Set(recorded.map((labels) => JSON.stringify(labels))).size).toBe(1);
});

it('keeps the spans of 20,000 open streams until they end', () => {
  const telemetry = openTelemetry(api);
  const ids = Array.from({ length: 20_000 }, (_, index) => String(index));
  for (const requestId of ids) {
    telemetry.runRequest?.({ ...REQUEST, requestId }, () => undefined);
    telemetry.emit({
      type: 'request',
      requestId,
      route: 'chat',
      method: 'POST',
      status: 200,
      durationMs: 1,
      streams: true,
    });
  }
  expect(exported.getFinishedSpans()).toHaveLength(0);
  for (const requestId of ids)
    telemetry.emit({ type: 'stream_ended', requestId, route: 'chat', outcome: 'complete', durationMs: 2 });
  expect(exported.getFinishedSpans()).toHaveLength(20_000);
});

it('drops spans that never end', () => {
  const telemetry = openTelemetry(api);
  for (let number = 0; number <= 10_000; number += 1)
    telemetry.runRequest?.({ ...REQUEST, requestId: `r-${String(number)}` }, () => undefined);
  expect(exported.getFinishedSpans()).toMatchObject([{ name: 'agent-bff POST' }]);
});

describe('a chat call', () => {
  const request = { type: 'request', requestId: 'r-1', route: 'chat', method: 'POST', status: 200 } as const;
  const silent = {
    type: 'chat',
    requestId: 'r-1',
    route: 'chat',
    method: 'SendMessage',
    outcome: 'complete',
    durationMs: 1_500,
    events: 3,
    bytes: 99,
    usage: { inputTokens: 3, outputTokens: 5 },
  } as const;
  const chat = { ...silent, state: 'completed', firstEventMs: 250 } as const;

  it.each([
    ['an event stream', { streams: true, continues: true }],
    ['a finished response that is still coming', { continues: true }],
  ])('describes the span of its request and ends it: %s', (_what, body) => {
    const telemetry = openTelemetry(api);
    telemetry.runRequest?.(REQUEST, () => telemetry.emit({ ...request, durationMs: 2, ...body }));
    expect(exported.getFinishedSpans()).toHaveLength(0);
    telemetry.emit({ ...chat, outcome: 'upstream' });
    telemetry.emit({ type: 'stream_ended', requestId: 'r-1', route: 'chat', outcome: 'upstream', durationMs: 9 });
    expect(exported.getFinishedSpans().map(({ attributes }) => attributes)).toMatchObject([
      { [ATTR_RPC_METHOD]: 'SendMessage', 'agent_bff.input_tokens': 3, 'agent_bff.output_tokens': 5 },
    ]);
  });

  it('describes the span of its request by what the agent and the visitor did', () => {
    const telemetry = openTelemetry(api);
    const facts = { visitor: 'v', context: 'c', task: 't', errorCode: -32_601 };
    for (const event of [chat, { ...chat, ...facts }]) {
      telemetry.runRequest?.(REQUEST, () => telemetry.emit({ ...request, durationMs: 2, continues: true }));
      telemetry.emit(event);
    }
    const [without, span] = exported.getFinishedSpans().map(({ attributes }) => attributes);
    expect(span).toMatchObject({
      'rpc.status_code': '-32601',
      'agent_bff.visitor': 'v',
      'agent_bff.context': 'c',
      'agent_bff.task': 't',
      'agent_bff.state': 'completed',
      'agent_bff.first_event_ms': 250,
      'agent_bff.events': 3,
      'agent_bff.bytes': 99,
    });
    for (const name of ['rpc.status_code', 'agent_bff.visitor', 'agent_bff.context', 'agent_bff.task']) {
      expect(without).not.toHaveProperty([name]);
    }
  });

  it('is measured by method, state and outcome, and by nothing that a visitor chooses', async () => {
    const { telemetry, measurements } = measuring();
    telemetry.emit({ ...chat, visitor: 'v', context: 'c', task: 't' });
    telemetry.emit({ ...silent, outcome: 'upstream' });
    expect(telemetry.chatEvents).toBe(true);
    const method = { [ATTR_RPC_METHOD]: 'SendMessage' };
    expect(await measurements()).toStrictEqual({
      'agent_bff.chat.duration s <= 600': [
        [{ ...method, 'agent_bff.state': 'completed', 'agent_bff.outcome': 'complete' }, 1.5],
        [{ ...method, 'agent_bff.outcome': 'upstream' }, 1.5],
      ],
      'agent_bff.chat.first_event s <= 10': [[method, 0.25]],
    });
  });
});
