import * as api from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { createToolkit, openTelemetry, type ServerConfig } from 'agent-bff';
import { FakeIdentityProvider } from 'agent-bff/testing';
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
  const site = await nodeHttpSite('a site').start({ toolkit });
  onTestFinished(async () => {
    await site.close();
    await upstream.close();
    await toolkit.close();
  });
  return { url: site.url, upstream, provider };
}

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

  it("continues at the platform in the trace of the browser, with the site's call as parent", async () => {
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

  it('is forwarded unchanged when the site has no tracing', async () => {
    const { url, upstream } = await startSite({});
    await (await visit(url, { headers: { traceparent: BROWSER, tracestate: 'a=b' } })).text();
    expect(Object.fromEntries(upstream.requests[0]!.fields)).toMatchObject({ traceparent: BROWSER, tracestate: 'a=b' });
  });
});
