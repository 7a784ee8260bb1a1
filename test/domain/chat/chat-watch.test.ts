import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../src/adapters/fakes/fakes.js';
import { ChatWatch, type WatchedCall } from '../../../src/domain/chat/chat-watch.js';

const encoder = new TextEncoder();
const CALL: WatchedCall = { method: 'SendStreamingMessage' };

/** The event of a call whose response comes in these chunks, one each 10 ms. */
function eventOf(call: WatchedCall, chunks: readonly (string | Uint8Array)[], kind: 'events' | 'finished' | 'zipped') {
  const clock = new FakeClock(1_000);
  const watch = new ChatWatch({ clock, digest: (text) => `#${text}` }, call);
  watch.begin(kind !== 'finished', kind !== 'zipped');
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
const WORKING = { ...FACTS, state: 'working' };
/** The characters of the first event. */
const at = V03.indexOf('\n\n') + 2;

/** An event that its end makes this many characters long, except the end. */
const long = (characters: number) => {
  const event = sse(status('working', { pad: '' })).trimEnd();
  return event.replace('"pad":""', `"pad":"${'x'.repeat(characters - event.length)}"`);
};

describe('the event of a chat call', () => {
  it.each<[string, readonly string[], object]>([
    ['has task, context and last state, from v0.3', [V03], { ...FACTS, state: 'completed', events: 2 }],
    ['from v1.0', [V10], { ...FACTS, state: 'input-required', events: 2 }],
    ['from v1.0 over HTTP+JSON', [`data: {"task":{"id":"t1","contextId":"c1"}}\r\n\r\n`], FACTS],
    ['from a message', [sse({ message: { taskId: 't1', contextId: 'c1' } })], FACTS],
    ['from an artifact', [sse({ artifactUpdate: { taskId: 't1', contextId: 'c1' } })], FACTS],
    ['from a task without a state', [sse({ kind: 'task', id: 't1', contextId: 'c1' })], FACTS],
    ['from a bare task', [sse({ id: 't1', contextId: 'c1', status: {} })], FACTS],
    ['not from a member of v0.3', [sse({ ...status('working'), message: { contextId: 'c2' } })], WORKING],
    [
      'has no state that A2A does not know',
      [sse(status('dreaming'), status('worTASK_STATE_king'))],
      { ...FACTS, events: 2 },
    ],
    ['keeps what later events lack', [sse(status('working'), { status: { state: 'x' } })], { ...WORKING, events: 2 }],
    ['has no empty names', [sse(status('working'), { contextId: '', taskId: '' })], { ...WORKING, events: 2 }],
    ['has only names that are texts', [sse(status('working'), { contextId: 7, taskId: 7 })], { ...WORKING, events: 2 }],
    ['has nothing of other results', [sse(null, 'task', [])], { events: 3 }],
    ['has no code that is not an integer', ['data: {"error":{"code":1.5}}\n\n'], {}],
    ['whatever the chunks are', V03.split(''), { ...FACTS, state: 'completed', events: 2, firstEventMs: 10 * at }],
    ['with CRLF cut in two', ['data: {"error":{"code":-32001}}\r\n\r', '\n'], { errorCode: -32_001 }],
    ['counts no comment', [': keep-alive\n\n', V03], { ...FACTS, state: 'completed', events: 2, firstEventMs: 20 }],
    ['does not count an event that is cut', [V03.slice(0, -1)], { ...FACTS, state: 'submitted' }],
    ['does not read JSON in place of events', ['{"error":{"code":1}}'], { events: 0, firstEventMs: undefined }],
    ['counts what is not JSON', ['data: {\n\n'], {}],
    ['reads an event of 262,144 characters', [long(262_144), '\n\n'], { ...WORKING, firstEventMs: 20 }],
    [
      'reads on after a longer one',
      [long(262_145), '\n', '\n', V10],
      { ...FACTS, state: 'input-required', events: 3, firstEventMs: 30 },
    ],
    ['does not read that one', [long(262_145), '\n', '\n'], { firstEventMs: 30 }],
  ])('%s', (_what, chunks, facts) => {
    expect({ firstEventMs: undefined, ...eventOf(CALL, chunks, 'events') }).toStrictEqual({
      type: 'chat',
      requestId: 'r-1',
      route: 'chat',
      method: 'SendStreamingMessage',
      outcome: 'complete',
      durationMs: 10 * (chunks.length + 1),
      events: 1,
      firstEventMs: 10,
      bytes: encoder.encode(chunks.join('')).length,
      ...facts,
    });
  });

  it.each(['submitted', 'working', 'completed', 'failed', 'canceled', 'rejected', 'input-required', 'auth-required'])(
    'has the state %s, as v0.3 and v1.0 write it',
    (state) => {
      const current = `TASK_STATE_${state.toUpperCase().replace('-', '_')}`;
      for (const name of [state, current]) expect(eventOf(CALL, [sse(status(name))], 'events').state).toBe(state);
    },
  );

  it.each<[string, object, object | undefined]>([
    ['of most agents', { usage: { inputTokens: 3, outputTokens: 5 } }, { inputTokens: 3, outputTokens: 5 }],
    ['in snake_case', { usage: { input_tokens: 3, output_tokens: 5 } }, { inputTokens: 3, outputTokens: 5 }],
    ['of OpenAI', { usage: { prompt_tokens: 3, completion_tokens: 5 } }, { inputTokens: 3, outputTokens: 5 }],
    ['of its clients', { usage: { promptTokens: 3, completionTokens: 5 } }, { inputTokens: 3, outputTokens: 5 }],
    [
      'of Gemini',
      { usageMetadata: { promptTokenCount: 0, candidatesTokenCount: 0 } },
      { inputTokens: 0, outputTokens: 0 },
    ],
    [
      'of ADK',
      { adk_usage_metadata: { promptTokenCount: 7, candidatesTokenCount: 1 } },
      { inputTokens: 7, outputTokens: 1 },
    ],
    ['of the question alone', { usage: { inputTokens: 3 } }, { inputTokens: 3 }],
    ['of the answer alone', { usage: { outputTokens: 5 } }, { outputTokens: 5 }],
    ['that is no number', { usage: { inputTokens: '3', outputTokens: -1 } }, undefined],
    ['that is absent', { other: 1 }, undefined],
  ])('has the usage %s', (_what, metadata, usage) => {
    for (const place of [{ metadata }, { status: { state: 'completed', message: { metadata } } }]) {
      expect(eventOf(CALL, [sse(status('completed', place))], 'events').usage).toStrictEqual(usage);
    }
  });

  it('of a finished response has state and bytes, and no first event', () => {
    const body = encoder.encode('{"jsonrpc":"2.0","id":1,\n\n"result":{"kind":"message","contextId":"é","parts":[]}}');
    const cut = body.indexOf(0xc3) + 1;
    expect(eventOf({ method: 'SendMessage' }, [body.slice(0, cut), body.slice(cut)], 'finished')).toStrictEqual({
      type: 'chat',
      requestId: 'r-1',
      route: 'chat',
      method: 'SendMessage',
      context: '#context é',
      outcome: 'complete',
      durationMs: 30,
      events: 0,
      bytes: body.length,
    });
  });

  it('names visitor, context and task of the message if the response has none', () => {
    const call = { method: 'CancelTask', visitor: 'secret', contextId: 'c2', taskId: 't2' };
    expect(eventOf(call, [V03], 'zipped')).toMatchObject({
      method: 'CancelTask',
      visitor: '#visitor secret',
      context: '#context c2',
      task: '#task t2',
      events: 0,
      bytes: V03.length,
    });
  });

  it('has a closed set of methods, since visitors can make up any', () => {
    expect(eventOf({ method: 'made/up' }, [], 'finished').method).toBe('_OTHER');
  });
});
