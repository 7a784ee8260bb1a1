import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import * as api from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { createToolkit, openTelemetry, type ServerConfig } from 'agent-bff';
import { FakeIdentityProvider } from 'agent-bff/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { nodeHttpSite } from '../site/frameworks/node-http.js';
import { RecordingUpstream } from '../support/recording-upstream.js';
import { visit } from '../support/visitor.js';

const BROWSER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

async function startSite(config: ServerConfig) {
  const upstream = await RecordingUpstream.start();
  const provider = new FakeIdentityProvider('visitor-service');
  const toolkit = createToolkit(
    {
      a2aUrl: `${upstream.origin}/agent`,
      serviceApiUrl: `${upstream.origin}/platform`,
      serviceAuthStrategy: 'demo',
      serviceApiKey: 'the-long-api-key',
      ...config,
    },
    { identityProviders: { demo: provider } },
  );
  const site = await nodeHttpSite('a site').start({ toolkit });
  onTestFinished(async () => {
    await site.close();
    await upstream.close();
    await toolkit.close();
  });
  return { url: site.url, upstream, provider };
}

const TRACE_FIELDS = ['traceparent', 'tracestate', 'baggage'];

/** Traces every request of undici for the rest of the test, as `@opentelemetry/instrumentation-undici` does. */
function instrumentUndici(): void {
  const created = (message: unknown): void => {
    const { request } = message as { request: { addHeader(name: string, value: string): void } };
    const active = api.context.active();
    const span = api.trace.getTracer('undici').startSpan('POST of undici', { kind: api.SpanKind.CLIENT }, active);
    const fields: Record<string, string> = {};
    api.propagation.inject(api.trace.setSpan(active, span), fields);
    for (const [name, value] of Object.entries(fields)) request.addHeader(name, value);
    span.end();
  };
  subscribe('undici:request:create', created);
  onTestFinished(() => void unsubscribe('undici:request:create', created));
}

describe('the trace of one message', () => {
  const spans = new InMemorySpanExporter();

  beforeAll(() => {
    api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    api.propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    api.trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }));
  });
  beforeEach(() => {
    spans.reset();
  });
  afterAll(() => {
    for (const part of [api.context, api.propagation, api.trace]) part.disable();
  });

  it.each([
    ['neither here nor by the process', undefined, false, []],
    ['by the process', undefined, true, ['POST of undici']],
    ['by the process, with a log here', { emit: () => undefined }, true, ['POST of undici']],
    ['here', openTelemetry(api), false, ['token', 'POST', 'POST chat']],
    ['here and by the process', openTelemetry(api), true, ['token', 'POST', 'POST chat']],
  ])('has one client span and one traceparent when calls are traced %s', async (_by, telemetry, isTraced, names) => {
    if (isTraced) instrumentUndici();
    const { url, upstream } = await startSite({ telemetry });
    const headers = { traceparent: BROWSER, tracestate: 'a=b', baggage: 'c=d' };
    await (await visit(url, { headers })).text();
    const fields = upstream.requests[0]!.fields.map(([name]) => name).filter((name) => TRACE_FIELDS.includes(name));
    expect(fields, 'no field twice').toEqual([...new Set(fields)]);
    expect(fields).toContain('traceparent');
    expect(spans.getFinishedSpans().map(({ name }) => name)).toEqual(names);
  });
});
