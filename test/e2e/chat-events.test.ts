import * as api from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { ATTR_RPC_METHOD, ATTR_RPC_STATUS_CODE } from '@opentelemetry/semantic-conventions';
import { createToolkit, openTelemetry, type Telemetry, type TelemetryEvent } from 'agent-bff';
import { createNodeHandler } from 'agent-bff/node';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { startTaskKeepingAgent, type TaskKeepingAgent } from '../support/task-keeping-agent.js';

const spans = new InMemorySpanExporter();
let agent: TaskKeepingAgent;

beforeAll(async () => {
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  api.trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }));
  agent = await startTaskKeepingAgent();
});
beforeEach(() => spans.reset());
afterAll(async () => {
  await agent?.close();
  for (const part of [api.context, api.trace]) part.disable();
});

async function startSite(telemetry: Telemetry | readonly Telemetry[]) {
  const toolkit = createToolkit({
    a2aUrl: agent.a2aUrl,
    serviceApiKey: 'the-api-key',
    bindings: ['JSONRPC', 'HTTP+JSON'],
    telemetry,
  });
  const site = await listeningSite(createNodeHandler({ toolkit, a2a: { conversations: 'visitor' } }));
  onTestFinished(async () => {
    await site.close();
    await toolkit.close();
  });
  return `${site.url}/api/a2a`;
}

const MESSAGE = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Hello there' }] };

function post(url: string, body: unknown, cookie = ''): Promise<Response> {
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', ...(cookie !== '' && { cookie }) };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
}

const rpc = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 1, method, params });

/** The attributes of the only span of a chat request. */
function chatSpan(): Record<string, unknown> {
  const [span, ...more] = spans.getFinishedSpans().filter(({ name }) => name.endsWith(' chat'));
  expect(more).toEqual([]);
  return span?.attributes ?? {};
}

const DIGEST = expect.stringMatching(/^[0-9a-f]{16}$/) as string;
const WHOSE = { 'agent_bff.visitor': DIGEST, 'agent_bff.context': DIGEST, 'agent_bff.task': DIGEST };

describe('the span of a chat call', () => {
  it.each([
    ['JSON-RPC', 'finished', '', 'SendMessage', rpc('SendMessage', { message: MESSAGE })],
    ['JSON-RPC', 'streaming', '', 'SendStreamingMessage', rpc('SendStreamingMessage', { message: MESSAGE })],
    ['HTTP+JSON', 'finished', '/message:send', 'SendMessage', { message: MESSAGE }],
    ['HTTP+JSON', 'streaming', '/message:stream', 'SendStreamingMessage', { message: MESSAGE }],
  ])('has method, digests, state and size: %s, %s', async (_binding, kind, path, method, body) => {
    const url = await startSite(openTelemetry(api));
    const text = await (await post(url + path, body)).text();
    await expect.poll(() => spans.getFinishedSpans().map(({ name }) => name)).toContain('POST chat');
    const size = { 'agent_bff.bytes': Buffer.byteLength(text) };
    const events = kind === 'streaming' ? text.split('\n\n').length - 1 : 0;
    const whole = { ...WHOSE, ...size, [ATTR_RPC_METHOD]: method, 'agent_bff.events': events };
    expect(chatSpan()).toMatchObject({ ...whole, 'agent_bff.state': 'completed' });
    expect('agent_bff.first_event_ms' in chatSpan()).toBe(kind === 'streaming');
  });

  it('has the code of a refusal', async () => {
    const url = await startSite(openTelemetry(api));
    await (await post(url, rpc('GetTask', { id: 'not-mine' }))).text();
    expect(chatSpan()).toMatchObject({ [ATTR_RPC_METHOD]: 'GetTask', [ATTR_RPC_STATUS_CODE]: '-32001' });
  });
});

describe('chat events', () => {
  it('tell two visitors and two conversations apart, and hold neither secrets nor ids', async () => {
    const events: TelemetryEvent[] = [];
    const url = await startSite({ chatEvents: true, emit: (event) => void events.push(event) });
    const first = await post(url, rpc('SendMessage', { message: MESSAGE }));
    const [cookie = ''] = (first.headers.get('set-cookie') ?? '').split(';');
    const texts = [await first.text()];
    const [, contextId] = /"contextId":"([^"]+)"/.exec(texts[0] ?? '') ?? [];
    for (const [message, jar] of [
      [{ ...MESSAGE, contextId }, cookie],
      [MESSAGE, cookie],
      [MESSAGE, ''],
    ] as const) {
      texts.push(await (await post(url, rpc('SendMessage', { message }), jar)).text());
    }
    const calls = events.filter((event) => event.type === 'chat');
    const [begun, continued, second, other] = calls;
    expect(calls).toHaveLength(4);
    expect([continued?.visitor, second?.visitor]).toEqual([begun?.visitor, begun?.visitor]);
    expect(continued?.context).toBe(begun?.context);
    expect(new Set([begun?.context, second?.context, other?.context]).size).toBe(3);
    expect(other?.visitor).not.toBe(begun?.visitor);
    const written = JSON.stringify(events);
    const ids = texts.flatMap((text) => [...text.matchAll(/"(?:id|contextId)":"([^"]{8,})"/g)].map(([, id]) => id));
    expect(ids.length).toBeGreaterThan(4);
    for (const secret of [...ids, cookie.split('=')[1]?.split('.')[0], 'Hello there'])
      expect(written).not.toContain(secret);
  });

  it('go only to the listeners that ask for them', async () => {
    const seen: string[] = [];
    const url = await startSite([
      { emit: (event) => void seen.push(`plain ${event.type}`) },
      { chatEvents: true, emit: (event) => void seen.push(`asking ${event.type}`) },
    ]);
    await (await post(url, rpc('SendMessage', { message: MESSAGE }))).text();
    expect(seen.filter((event) => event.endsWith('chat'))).toEqual(['asking chat']);
  });
});
