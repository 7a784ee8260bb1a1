import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../src/adapters/fakes/fakes.js';
import { ChatWatch, type WatchedCall } from '../../../src/domain/chat/chat-watch.js';

const encoder = new TextEncoder();
const CALL: WatchedCall = { method: 'message/stream' };

/** The event of a call whose response comes in these chunks, one each 10 ms. */
function eventOf(call: WatchedCall, chunks: readonly (string | Uint8Array)[], kind: 'events' | 'finished' | 'zipped') {
  const clock = new FakeClock(1_000);
  const watch = new ChatWatch({ clock, digest: (text) => `#${text}` }, call);
  watch.begin(kind === 'events', kind !== 'zipped');
  for (const chunk of chunks) {
    clock.advance(10);
    watch.push(typeof chunk === 'string' ? encoder.encode(chunk) : chunk);
  }
  clock.advance(10);
  return watch.end('complete', 'r-1', 'chat');
}

function sse(...results: readonly unknown[]): string {
  return results.map((result) => `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result })}\n\n`).join('');
}

const status = (state: string, more: object = {}) => ({
  kind: 'status-update',
  taskId: 't1',
  contextId: 'c1',
  status: { state },
  ...more,
});
const V03 = sse({ kind: 'task', id: 't1', contextId: 'c1', status: { state: 'submitted' } }, status('completed'));
const V10 = sse(
  { task: { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_WORKING' } } },
  { statusUpdate: { taskId: 't1', contextId: 'c1', status: { state: 'TASK_STATE_INPUT_REQUIRED' } } },
);
const FACTS = { context: '#context c1', task: '#task t1' };

describe('the event of a chat call', () => {
  it.each<[string, readonly string[], object]>([
    ['has task, context and last state, from v0.3', [V03], { ...FACTS, state: 'completed', events: 2 }],
    ['from v1.0', [V10], { ...FACTS, state: 'input-required', events: 2 }],
    ['from v1.0 over HTTP+JSON', [`data: {"task":{"id":"t1","contextId":"c1"}}\r\n\r\n`], { ...FACTS, events: 1 }],
    ['has no state that A2A does not know', [sse(status('dreaming'))], { ...FACTS, events: 1 }],
    ['whatever the chunks are', V03.split(''), { ...FACTS, state: 'completed', events: 2 }],
    ['with CRLF cut in two', ['data: {"jsonrpc":"2.0","error":{"code":-32001}}\r\n\r', '\n'], { errorCode: -32_001 }],
    ['counts no comment', [': keep-alive\n\n', V03], { events: 2, firstEventMs: 20 }],
    ['does not count an event that is cut', [V03.slice(0, -1)], { events: 1 }],
    ['counts what is not JSON', ['data: {\n\n'], { events: 1 }],
    [
      'reads on after an event too long to read',
      [`data: ${'x'.repeat(300_000)}`, '\n\n', V03],
      { ...FACTS, events: 3 },
    ],
  ])('%s', (_what, chunks, facts) => {
    const bytes = encoder.encode(chunks.join('')).length;
    const durationMs = 10 * (chunks.length + 1);
    expect(eventOf(CALL, chunks, 'events')).toMatchObject({
      type: 'chat',
      method: 'SendStreamingMessage',
      outcome: 'complete',
      durationMs,
      bytes,
      ...facts,
    });
  });

  it.each<[string, object, object | undefined]>([
    ['of most agents', { usage: { inputTokens: 3, output_tokens: 5 } }, { inputTokens: 3, outputTokens: 5 }],
    ['of OpenAI', { usage: { prompt_tokens: 3, completion_tokens: 5 } }, { inputTokens: 3, outputTokens: 5 }],
    [
      'of ADK',
      { adk_usage_metadata: { promptTokenCount: 7, candidatesTokenCount: 1 } },
      { inputTokens: 7, outputTokens: 1 },
    ],
    ['that is no number', { usage: { inputTokens: '3', outputTokens: -1 } }, undefined],
    ['that is absent', { other: 1 }, undefined],
  ])('has the usage %s', (_what, metadata, usage) => {
    for (const place of [{ metadata }, { status: { state: 'completed', message: { metadata } } }]) {
      expect(eventOf(CALL, [sse(status('completed', place))], 'events').usage).toEqual(usage);
    }
  });

  it('of a finished response has state and bytes, and no first event', () => {
    const body = '{"jsonrpc":"2.0","id":1,"result":{"kind":"message","messageId":"m","contextId":"c1","parts":[]}}';
    expect(eventOf({ method: 'SendMessage' }, [body.slice(0, 30), body.slice(30)], 'finished')).toEqual({
      type: 'chat',
      requestId: 'r-1',
      route: 'chat',
      method: 'SendMessage',
      context: '#context c1',
      outcome: 'complete',
      durationMs: 30,
      events: 0,
      bytes: body.length,
    });
  });

  it('names visitor, context and task of the message if the response has none', () => {
    const call = { method: 'tasks/cancel', visitor: 'secret', contextId: 'c2', taskId: 't2' };
    expect(eventOf(call, ['zipped'], 'zipped')).toMatchObject({
      method: 'CancelTask',
      visitor: '#visitor secret',
      context: '#context c2',
      task: '#task t2',
      bytes: 6,
    });
  });

  it('has a closed set of methods, since visitors can make up any', () => {
    expect(eventOf({ method: 'made/up' }, [], 'finished').method).toBe('_OTHER');
  });
});
