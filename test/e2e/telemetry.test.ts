import * as api from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { createToolkit, openTelemetry, type ServerConfig } from 'agent-bff';
import { FakeIdentityProvider, RecordingTelemetry } from 'agent-bff/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
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
  const site = await nodeHttpSite('a site').start({ toolkit, cache: { enabled: true } });
  onTestFinished(async () => {
    await site.close();
    await upstream.close();
    await toolkit.close();
  });
  return { url: site.url, upstream, provider };
}

describe('what operators hear of one message', () => {
  it('is the token, the call and the request, all under the name of the request', async () => {
    const telemetry = new RecordingTelemetry();
    const { url } = await startSite({ telemetry });
    await (await visit(url)).text();
    const [request] = telemetry.of('request');
    expect(telemetry.events.map(({ type }) => type)).toEqual(['token', 'upstream', 'request']);
    expect(new Set(telemetry.events.map(({ requestId }) => requestId))).toEqual(new Set([request?.requestId]));
    expect(telemetry.of('upstream')).toMatchObject([{ method: 'POST', path: '/agent', status: 200 }]);
  });

  it('goes to every listener', async () => {
    const listeners = [new RecordingTelemetry(), new RecordingTelemetry()];
    const { url } = await startSite({ telemetry: listeners });
    await (await visit(url)).text();
    expect(listeners[0]?.events).toHaveLength(3);
    expect(listeners[1]?.events).toEqual(listeners[0]?.events);
  });

  it('includes whether a widget was kept or rendered', async () => {
    const telemetry = new RecordingTelemetry();
    const { url } = await startSite({ telemetry });
    const render = { path: '/api/service-surfaces/poll/render', body: '{}' };
    for (let turn = 0; turn < 2; turn += 1) await (await visit(url, render)).text();
    expect(telemetry.of('cache').map(({ outcome, route }) => `${route} ${outcome}`)).toEqual([
      'surface miss',
      'surface hit',
    ]);
  });
});

describe('the trace of one message', () => {
  const spans = new InMemorySpanExporter();

  beforeAll(() => {
    api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    api.propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    api.trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }));
  });
  afterAll(() => {
    for (const part of [api.context, api.propagation, api.trace]) part.disable();
  });

  it("goes on behind the site: the platform's parent is the site's call, whose trace is the browser's", async () => {
    const { url, upstream } = await startSite({ telemetry: openTelemetry(api) });
    await (await visit(url, { headers: { traceparent: BROWSER } })).text();
    const [call, request] = ['POST', 'POST chat'].map((name) =>
      spans.getFinishedSpans().find((span) => span.name === name),
    );
    const { traceId, spanId } = call!.spanContext();
    expect(traceId).toBe('0af7651916cd43dd8448eb211c80319c');
    expect(call!.parentSpanContext?.spanId).toBe(request!.spanContext().spanId);
    expect(Object.fromEntries(upstream.requests[0]!.fields)['traceparent']).toBe(`00-${traceId}-${spanId}-01`);
  });

  it("is the browser's own where the site has no tracing", async () => {
    const { url, upstream } = await startSite({});
    await (await visit(url, { headers: { traceparent: BROWSER, tracestate: 'a=b' } })).text();
    expect(Object.fromEntries(upstream.requests[0]!.fields)).toMatchObject({ traceparent: BROWSER, tracestate: 'a=b' });
  });
});
