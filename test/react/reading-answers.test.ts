import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { AgentClient, readCard, type WireRequest } from '../../react/src/chat/agent-client.js';
import { type Answer, AnswerBrokenOff, emptyAnswer, type SeenBefore } from '../../react/src/chat/answer.js';
import { partsOfAnswer, seenAfter, settled, takeEvent } from '../../react/src/chat/answer-events.js';
import { AnswerReader, type ReaderClock } from '../../react/src/chat/answer-reader.js';
import { textOfParts } from '../../react/src/chat/message-parts.js';
import { readEvent } from '../../react/src/chat/wire.js';

/** One response of a made-up agent: the results of a stream, one result, an error, or a connection that breaks behind some. */
type Reply =
  | { stream: readonly unknown[]; breaks?: boolean }
  | { result: unknown }
  | { error: { code: number; message: string }; status?: number }
  | { text: string; type?: string; status?: number; headers?: Record<string, string> };

const GONE: Reply = { text: '', status: 0 };

class Agent {
  readonly calls: string[] = [];
  readonly versions: (string | null)[] = [];
  readonly params: Record<string, unknown>[] = [];
  readonly pauses: number[] = [];
  readonly reconnecting: boolean[] = [];
  readonly states: string[] = [];
  answer!: Answer;
  readonly #replies: Record<string, readonly Reply[]>;

  constructor(replies: Record<string, Reply | readonly Reply[]>) {
    this.#replies = Object.fromEntries(Object.entries(replies).map(([method, reply]) => [method, [reply].flat()]));
  }

  async ask(
    { card = CARD_1, taskId = '', seen, text = 'Hello' }: Partial<Question> = {},
    timeoutMs = 600_000,
  ): Promise<Answer> {
    await this.#reader(card, emptyAnswer('m1', taskId, '', seen), timeoutMs).send({ ...REQUEST, taskId, text });
    return this.answer;
  }

  async resume(answer: Answer, timeoutMs = 600_000): Promise<Answer> {
    await this.#reader(CARD_1, answer, timeoutMs).resume();
    return this.answer;
  }

  /** What a visitor reads: each part by its type. */
  get shown(): string[] {
    return partsOfAnswer(this.answer).map((part) => {
      const text = textOfParts([part]) || ('text' in part ? part.text : '');
      return part.type === 'text' ? text : `${part.type}: ${text}`;
    });
  }

  #reader(card: unknown, answer: Answer, timeoutMs: number): AnswerReader {
    let nowMs = 0;
    this.answer = answer;
    const clock: ReaderClock = {
      now: () => nowMs,
      pause: async (ms) => {
        this.pauses.push(ms);
        nowMs += ms;
      },
      visible: async () => undefined,
    };
    const client = new AgentClient('https://site.example/api/a2a', this.#fetch, readCard(card));
    const listener = {
      onAnswer: (grown: Answer) => {
        this.answer = grown;
        this.states.push(grown.state);
      },
      onReconnecting: (isReconnecting: boolean) => void this.reconnecting.push(isReconnecting),
    };
    return new AnswerReader(client, answer, timeoutMs, listener, new AbortController().signal, clock);
  }

  readonly #fetch: typeof fetch = async (_url, init) => {
    const { id, method, params } = JSON.parse(String(init?.body)) as { id: number; method: string; params: never };
    const replies = this.#replies[method] ?? [{ error: { code: -32601, message: `No ${method}` } }];
    const reply = replies[Math.min(this.calls.filter((call) => call === method).length, replies.length - 1)] ?? GONE;
    this.calls.push(method);
    this.versions.push(new Headers(init?.headers).get('a2a-version'));
    this.params.push(params);
    if (reply === GONE) throw new TypeError('Failed to fetch');
    return response(reply, id);
  };
}

interface Question {
  card: unknown;
  taskId: string;
  seen: SeenBefore;
  text: string;
}

const REQUEST: WireRequest = { id: 'm1', contextId: '', taskId: '', text: 'Hello', file: undefined };

function response(reply: Reply, id: number): Response {
  if ('text' in reply)
    return new Response(reply.text, {
      status: reply.status ?? 200,
      headers: { 'content-type': reply.type ?? 'text/event-stream', ...reply.headers },
    });
  if ('error' in reply)
    return Response.json({ jsonrpc: '2.0', id, error: reply.error }, { status: reply.status ?? 200 });
  if ('result' in reply) return Response.json({ jsonrpc: '2.0', id, result: reply.result });
  const events = reply.stream.map((result) => `data: ${JSON.stringify({ jsonrpc: '2.0', id, ...bodyOf(result) })}\n\n`);
  const chunks = events.values();
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = chunks.next();
      if (done !== true) controller.enqueue(new TextEncoder().encode(value));
      else if (reply.breaks === true) controller.error(new TypeError('network error'));
      else controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

function bodyOf(result: unknown): object {
  return typeof result === 'object' && result !== null && 'error' in result ? result : { result };
}

const CARD_1 = {
  name: 'Agent',
  capabilities: { streaming: true },
  supportedInterfaces: [{ url: '/api/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
};
const CARD_03 = { name: 'Agent', url: '/api/a2a', protocolVersion: '0.3.0', capabilities: { streaming: true } };
const SILENT_CARD = { ...CARD_1, capabilities: {} };

// Events as A2A 1.0 writes them.
const words = (text: string, messageId = text) => ({ messageId, role: 'ROLE_AGENT', parts: [{ text }] });
const own = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] };
const status = (state: string, text?: string, messageId?: string) => ({
  state: `TASK_STATE_${state}`,
  ...(text !== undefined && { message: words(text, messageId) }),
});
const task = (state: string, more: object = {}, text?: string) => ({
  task: { id: 't1', contextId: 'c1', status: status(state, text), ...more },
});
const update = (state: string, text?: string, messageId?: string) => ({
  statusUpdate: { taskId: 't1', contextId: 'c1', status: status(state, text, messageId) },
});
const artifact = (text: string, append = false, artifactId = 'a1') => ({
  artifactUpdate: { taskId: 't1', contextId: 'c1', append, artifact: { artifactId, parts: [{ text }] } },
});
const whole = (...texts: string[]) => ({ artifacts: [{ artifactId: 'a1', parts: texts.map((text) => ({ text })) }] });
const got = (state: string, more: object = {}, text?: string): Reply => ({ result: task(state, more, text).task });

describe('the version of the protocol', () => {
  const old03 = { stream: [{ kind: 'message', role: 'agent', messageId: 'x', parts: [{ kind: 'text', text: 'Hi' }] }] };
  const new10 = { stream: [{ message: words('Hi') }] };

  it.each([
    ['1.0', CARD_1, 'SendStreamingMessage'],
    ['0.3.0', CARD_03, 'message/stream'],
    ['0.2.0', { ...CARD_03, protocolVersion: '0.2.0' }, 'message/stream'],
    ['0.1.0', { ...CARD_03, protocolVersion: '0.1.0' }, 'message/stream'],
    ['none', { ...CARD_03, protocolVersion: undefined }, 'message/stream'],
    ['both', { ...CARD_03, ...CARD_1 }, 'SendStreamingMessage'],
    ['0.3 in its interfaces only', { ...CARD_1, supportedInterfaces: [{ protocolVersion: '0.3' }] }, 'message/stream'],
    ['none, without a card', null, 'SendStreamingMessage'],
  ])('is that of the card: %s', async (_version, card, method) => {
    const agent = new Agent({ SendStreamingMessage: new10, 'message/stream': old03 });
    await agent.ask({ card });
    expect(agent.calls).toEqual([method]);
    expect(agent.versions).toEqual([method === 'message/stream' ? null : '1.0']);
    expect(agent.shown).toEqual(['Hi']);
  });

  it.each<[string, unknown, Reply, string[]]>([
    [
      '1.0, with error -32601',
      CARD_1,
      { error: { code: -32601, message: 'No' } },
      ['SendStreamingMessage', 'message/stream'],
    ],
    [
      '1.0, with status 400',
      CARD_1,
      { text: '{"error":"Invalid"}', type: 'application/json', status: 400 },
      ['SendStreamingMessage', 'message/stream'],
    ],
    [
      '0.3, with an invalid request',
      CARD_03,
      { error: { code: -32600, message: 'No' }, status: 400 },
      ['message/stream', 'SendStreamingMessage'],
    ],
  ])('is the other one for an agent that refuses %s', async (_what, card, refusal, calls) => {
    const replies = card === CARD_1 ? [refusal, old03] : [new10, refusal];
    const agent = new Agent({ SendStreamingMessage: replies[0] as Reply, 'message/stream': replies[1] as Reply });
    await agent.ask({ card });
    expect(agent.calls).toEqual(calls);
    expect(agent.shown).toEqual(['Hi']);
  });

  it('stays what it is when the agent refuses both', async () => {
    const agent = new Agent({ SendStreamingMessage: { error: { code: -32602, message: 'Too long' } } });
    await expect(agent.ask()).rejects.toThrow('Too long');
  });

  it.each([-32004, -32601])('an agent that refuses to stream with %i gets the message without', async (code) => {
    const agent = new Agent({
      SendStreamingMessage: { error: { code, message: 'No' } },
      SendMessage: { result: { message: words('Hi') } },
    });
    await agent.ask({ card: null });
    expect(agent.calls.filter((call) => call === 'SendMessage')).toHaveLength(1);
    expect(agent.shown).toEqual(['Hi']);
  });

  it('sends the tenant of the card, and each part as the version writes it', async () => {
    const agent = new Agent({ SendStreamingMessage: new10, 'message/stream': old03 });
    await agent.ask({ card: { ...CARD_1, supportedInterfaces: [{ protocolVersion: '1.0', tenant: 'acme' }] } });
    await agent.ask({ card: CARD_03, taskId: 't1' });
    expect(agent.params).toEqual([
      { tenant: 'acme', message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] } },
      {
        message: {
          kind: 'message',
          messageId: 'm1',
          taskId: 't1',
          role: 'user',
          parts: [{ kind: 'text', text: 'Hello' }],
        },
      },
    ]);
  });
});

describe('an answer in a stream', () => {
  it.each<[string, readonly unknown[], string[], string?]>([
    [
      'pieces of an artifact',
      [task('WORKING'), artifact('One '), artifact('two.', true), update('COMPLETED')],
      ['One two.'],
    ],
    [
      'an artifact whose first piece is already appended',
      [task('WORKING'), artifact('One ', true), artifact('two.', true), artifact('One two.'), update('COMPLETED')],
      ['One two.'],
    ],
    [
      'artifacts of their own',
      [artifact('One', false, 'a'), artifact('Two', false, 'b'), update('COMPLETED')],
      ['One', 'Two'],
    ],
    [
      'progress, then a bare end',
      [task('SUBMITTED'), update('WORKING', 'Looking'), update('WORKING', 'It is 42.'), update('COMPLETED')],
      ['status: Looking', 'It is 42.'],
    ],
    [
      'progress that was the answer, then the artifact',
      [update('WORKING', 'It is 42.'), artifact('It is 42.'), update('COMPLETED')],
      ['It is 42.'],
    ],
    [
      'pieces as messages of their own',
      [task('WORKING'), update('WORKING', 'It'), update('WORKING', ' is 42.'), update('COMPLETED')],
      ['It is 42.'],
    ],
    [
      'whole tasks, the text growing in one message',
      [
        task('WORKING', {}, ''),
        { task: { id: 't1', status: status('WORKING', 'It is', 'x') } },
        { task: { id: 't1', status: status('WORKING', 'It is 42.', 'x') } },
        { task: { id: 't1', status: status('COMPLETED', 'It is 42.', 'x') } },
      ],
      ['It is 42.'],
    ],
    ['an answer in the history only', [task('COMPLETED', { history: [own, words('It is 42.')] })], ['It is 42.']],
    [
      'an answer in the history and as last word',
      [task('SUBMITTED', { history: [own, words('42')] }), update('COMPLETED', '42', '42')],
      ['42'],
    ],
    [
      'progress in the form of data',
      [update('WORKING', '{"role":"tool"}'), update('COMPLETED', 'It is 42.')],
      ['thought: {"role":"tool"}', 'It is 42.'],
    ],
    ['artifact and last word the same', [artifact('Done.'), update('COMPLETED', 'Done.')], ['Done.']],
    [
      'an artifact in chunks',
      [
        {
          artifactUpdate: {
            taskId: 't1',
            artifact: { artifactId: 'a', parts: [{ text: 'Hello ' }, { text: 'the' }, { text: 're.' }] },
          },
        },
        update('COMPLETED'),
      ],
      ['Hello there.'],
    ],
    ['an empty last chunk', [artifact('Done.'), artifact('', true), update('COMPLETED')], ['Done.']],
    ['two messages', [{ message: words('One.') }, { message: words('Two.') }], ['One.', 'Two.']],
    ['nothing', [update('COMPLETED')], []],
    ['a refusal', [task('WORKING'), update('REJECTED', 'Not that.')], ['error: Not that.'], 'failed'],
    ['words, then a failure', [update('WORKING', 'It is'), update('FAILED')], ['It is'], 'failed'],
    ['a question', [task('WORKING'), update('INPUT_REQUIRED', 'Where to?')], ['question: Where to?'], 'input-required'],
    [
      'a sign-in',
      [update('AUTH_REQUIRED', 'Connect your calendar.')],
      ['question: Connect your calendar.'],
      'auth-required',
    ],
    [
      'a question that is answered elsewhere',
      [update('AUTH_REQUIRED', 'Connect.'), update('WORKING', 'Thanks.'), update('COMPLETED', 'Done.')],
      ['status: Connect.', 'status: Thanks.', 'Done.'],
    ],
  ])('%s', async (_what, stream, shown, state = 'complete') => {
    const agent = new Agent({ SendStreamingMessage: { stream } });
    expect((await agent.ask()).state).toBe(state);
    expect(agent.shown).toEqual(shown);
    expect(agent.calls).toHaveLength(1);
  });

  it('keeps the task’s own id where its updates have another', async () => {
    const other = { statusUpdate: { taskId: 'other', status: status('INPUT_REQUIRED', 'Where?') } };
    const agent = new Agent({ SendStreamingMessage: { stream: [task('WORKING'), other] } });
    expect((await agent.ask()).taskId).toBe('t1');
  });

  it.each([
    ['a record separator before an event', '\u001Edata: {"result":BODY}\n\n'],
    ['a record separator in the data', 'data: \u001E{"result":BODY}\n\n'],
    ['JSON texts without fields', '\u001E{"result":BODY}\n'],
    ['no empty line at the end', ': hello\r\nevent: x\r\ndata: {"result":BODY}'],
    ['an event without JSON-RPC around it', 'data: BODY\r\r'],
    ['data on two lines', 'data: {"result":\ndata: BODY}\n\n'],
  ])('with %s', async (_what, text) => {
    const body = JSON.stringify({ message: words('Hi') });
    const agent = new Agent({ SendStreamingMessage: { text: text.replace('BODY', body) } });
    await agent.ask();
    expect(agent.shown).toEqual(['Hi']);
  });

  it('skips what is no event', async () => {
    const agent = new Agent({ SendStreamingMessage: { stream: [{ kind: 'weather' }, { message: words('Hi') }] } });
    await agent.ask();
    expect(agent.shown).toEqual(['Hi']);
  });

  it('that cannot be read is said to be so', async () => {
    const agent = new Agent({ SendStreamingMessage: { text: 'data: {"result":{"hello":1}}\n\n' } });
    await expect(agent.ask()).rejects.toMatchObject({
      code: 'unreadable',
      cause: expect.objectContaining({ message: expect.stringContaining('hello') }),
    });
  });

  it('ends with the last event of A2A 0.3, whatever follows', async () => {
    const final = { kind: 'status-update', taskId: 't1', status: { state: 'completed' }, final: true };
    const agent = new Agent({
      'message/stream': { stream: [final, { kind: 'status-update', taskId: 't1', status: { state: 'failed' } }] },
    });
    expect((await agent.ask({ card: CARD_03 })).state).toBe('complete');
  });

  it('has what comes behind a completion that is not final', async () => {
    const early = { kind: 'status-update', taskId: 't1', status: { state: 'completed' }, final: false };
    const late = {
      kind: 'artifact-update',
      taskId: 't1',
      artifact: { artifactId: 'a', parts: [{ kind: 'text', text: 'Late.' }] },
    };
    const agent = new Agent({ 'message/stream': { stream: [early, late] } });
    await agent.ask({ card: CARD_03 });
    expect(agent.shown).toEqual(['Late.']);
  });

  it('fails where the agent says so in an error', async () => {
    const error = { error: { code: -32603, message: 'Out of order.' } };
    const agent = new Agent({ SendStreamingMessage: { stream: [task('WORKING'), artifact('It is'), error] } });
    await expect(agent.ask()).rejects.toThrow('Out of order.');
    expect(agent.answer.state).toBe('failed');
    expect(agent.shown).toEqual(['It is']);
    expect(agent.calls).toHaveLength(1);
  });
});

describe('parts', () => {
  const show = async (...parts: object[]) => {
    const agent = new Agent({ SendStreamingMessage: { stream: [{ message: { role: 'ROLE_AGENT', parts } }] } });
    return partsOfAnswer(await agent.ask()).map(({ id: _id, ...part }) => part);
  };

  it.each<[string, object, object]>([
    [
      'bytes of A2A 1.0',
      { raw: 'aGk=', filename: 'a.png', mediaType: 'image/png' },
      { type: 'file', name: 'a.png', mediaType: 'image/png', bytes: 'aGk=', size: 2 },
    ],
    [
      'bytes of A2A 0.3',
      { kind: 'file', file: { bytes: 'aGk=', mimeType: 'image/png' } },
      { type: 'file', name: '', mediaType: 'image/png', bytes: 'aGk=', size: 2 },
    ],
    [
      'an address of A2A 1.0',
      { url: 'https://x.example/a.pdf', filename: 'a.pdf' },
      { type: 'file', name: 'a.pdf', mediaType: '', url: 'https://x.example/a.pdf' },
    ],
    [
      'an address of A2A 0.3',
      { kind: 'file', file: { uri: 'https://x.example/a', name: 'a' } },
      { type: 'file', name: 'a', mediaType: '', url: 'https://x.example/a' },
    ],
    ['data', { data: { total: 3 } }, { type: 'data', data: { total: 3 }, name: '', isThought: false }],
    [
      'a tool call',
      { kind: 'data', data: { id: 1 }, metadata: { adk_type: 'function_call' } },
      { type: 'data', data: { id: 1 }, name: '', isThought: true },
    ],
    ['a thought', { text: 'Hm.', metadata: { adk_thought: true } }, { type: 'thought', text: 'Hm.' }],
  ])('%s', async (_what, sent, part) => {
    expect(await show(sent)).toEqual([part]);
  });

  it.each([
    ['of one text stay together', ['One ', 'two ', 'three'], ['One two three']],
    ['that an agent has set apart stay apart', ['Hello', 'World'], ['Hello', 'World']],
    ['of one word stay together', ['Mün', 'chen'], ['München']],
  ])('%s', async (_what, texts, shown) => {
    const agent = new Agent({ SendStreamingMessage: { stream: [task('COMPLETED', whole(...texts))] } });
    await agent.ask();
    expect(agent.shown).toEqual(shown);
  });

  it.each([null, 7, 'x', { text: 7 }, { file: null }, {}])('that are no parts are left out: %j', async (part) => {
    expect(await show({ text: 'Hi' }, part as object)).toEqual([{ type: 'text', text: 'Hi' }]);
  });

  it('keep their ids while they grow', async () => {
    const ids: string[] = [];
    const agent = new Agent({
      SendStreamingMessage: {
        stream: [task('WORKING'), artifact('One '), artifact('two', true), task('COMPLETED', whole('One ', 'two'))],
      },
    });
    await agent.ask();
    for (const { id } of partsOfAnswer(agent.answer)) ids.push(id);
    expect(ids).toEqual(['a1/0']);
  });
});

describe('the reply to a question', () => {
  const asked = [task('WORKING'), artifact('Draft.', false, 'draft'), update('INPUT_REQUIRED', 'Where to?')];
  const history = { history: [own, words('Where to?'), { ...own, messageId: 'm2' }] };
  const before = { artifacts: [{ artifactId: 'draft', parts: [{ text: 'Draft.' }] }], ...history };

  async function reply(stream: readonly unknown[], more: Record<string, Reply | readonly Reply[]> = {}) {
    const first = new Agent({ SendStreamingMessage: { stream: asked } });
    const seen = seenAfter(await first.ask());
    const agent = new Agent({ SendStreamingMessage: { stream }, ...more });
    await agent.ask({ taskId: 't1', seen });
    return agent;
  }

  it('is not over when its stream begins with the task as it was, and shows only what is new', async () => {
    const opening = task('INPUT_REQUIRED', before, 'Where to?');
    const agent = await reply([opening, update('WORKING'), artifact('Booked.', false, 'b'), update('COMPLETED')]);
    expect(agent.shown).toEqual(['Booked.']);
    expect(agent.states).not.toContain('input-required');
  });

  it('has no artifact or question of the turn before in its last snapshot', async () => {
    const artifacts = [...before.artifacts, { artifactId: 'b', parts: [{ text: 'Booked.' }] }];
    const agent = await reply([task('COMPLETED', { ...history, artifacts })]);
    expect(agent.shown).toEqual(['Booked.']);
  });

  it('has only the new end of an artifact that goes on', async () => {
    const artifacts = [{ artifactId: 'draft', parts: [{ text: 'Draft.' }, { text: ' And more.' }] }];
    const agent = await reply([task('COMPLETED', { ...history, artifacts })]);
    expect(agent.shown).toEqual(['And more.']);
  });

  it('may be another question', async () => {
    const agent = await reply([task('INPUT_REQUIRED', before, 'When?')]);
    expect(agent.answer.state).toBe('input-required');
    expect(agent.shown).toEqual(['question: When?']);
    expect(agent.calls).toHaveLength(1);
  });

  it('may be the same question again, which is asked for a while', async () => {
    const opening = task('INPUT_REQUIRED', before, 'Where to?');
    const agent = await reply([opening], { GetTask: got('INPUT_REQUIRED', before, 'Where to?') });
    expect(agent.answer.state).toBe('input-required');
    expect(agent.shown).toEqual(['question: Where to?']);
    expect(agent.calls.length).toBeLessThan(10);
  });

  it('is read from the task where the stream ends with the task as it was', async () => {
    const opening = task('INPUT_REQUIRED', before, 'Where to?');
    const agent = await reply([opening], {
      GetTask: [got('INPUT_REQUIRED', before, 'Where to?'), got('COMPLETED', { ...history }, 'Booked.')],
    });
    expect(agent.shown).toEqual(['Booked.']);
  });
});

describe('a task that works on when its stream is over', () => {
  it('is asked for, at growing intervals, as working and not as reconnecting', async () => {
    const agent = new Agent({
      SendMessage: { result: task('WORKING') },
      GetTask: [...Array.from({ length: 12 }, () => got('WORKING')), got('COMPLETED', whole('Done.'))],
    });
    await agent.ask({ card: SILENT_CARD });
    expect(agent.shown).toEqual(['Done.']);
    expect(agent.reconnecting).not.toContain(true);
    expect(agent.pauses.slice(0, 3)).toEqual([1000, 1500, 2250]);
    expect(agent.pauses.at(-1)).toBe(15_000);
  });

  it.each<[string, Reply]>([
    ['has no resubscribe', { error: { code: -32601, message: 'No' } }],
    ['refuses resubscribe', { error: { code: -32004, message: 'No' } }],
    ['ends the new stream at once', { stream: [task('WORKING')] }],
  ])('is asked for when the stream breaks and the agent %s', async (_what, subscribe) => {
    const agent = new Agent({
      SendStreamingMessage: { stream: [task('WORKING'), artifact('It ')], breaks: true },
      SubscribeToTask: subscribe,
      GetTask: [got('WORKING', whole('It ')), got('COMPLETED', whole('It ', 'is 42.'))],
    });
    await agent.ask();
    expect(agent.shown).toEqual(['It is 42.']);
    expect(agent.calls.filter((call) => call === 'SendStreamingMessage')).toHaveLength(1);
  });

  it('is subscribed to again when the stream breaks, and no word is lost or twice there', async () => {
    const agent = new Agent({
      SendStreamingMessage: { stream: [task('WORKING'), artifact('One '), artifact('two ', true)], breaks: true },
      SubscribeToTask: {
        stream: [task('WORKING', whole('One ', 'two ', 'three ')), artifact('four', true), update('COMPLETED')],
      },
    });
    await agent.ask();
    expect(agent.shown).toEqual(['One two three four']);
    expect(agent.reconnecting).toContain(true);
    expect(agent.reconnecting.at(-1)).toBe(false);
  });

  it('keeps words that the agent has not stored', async () => {
    const agent = new Agent({
      SendStreamingMessage: { stream: [task('WORKING'), artifact('It is 42.')], breaks: true },
      SubscribeToTask: { stream: [task('COMPLETED')] },
    });
    await agent.ask();
    expect(agent.shown).toEqual(['It is 42.']);
  });

  it('is given up when the connection stays away', async () => {
    const agent = new Agent({
      SendStreamingMessage: { stream: [task('WORKING')], breaks: true },
      SubscribeToTask: GONE,
    });
    await expect(agent.ask()).rejects.toBeInstanceOf(AnswerBrokenOff);
    expect(agent.pauses).toEqual([500, 1000, 2000, 4000, 8000]);
  });

  it('is given up when the agent does not know it any more', async () => {
    const unknown = { error: { code: -32001, message: 'Unknown task' } };
    const agent = new Agent({
      SendStreamingMessage: { stream: [task('WORKING')], breaks: true },
      SubscribeToTask: unknown,
      GetTask: unknown,
    });
    await expect(agent.ask()).rejects.toBeInstanceOf(AnswerBrokenOff);
    expect(agent.calls).toHaveLength(3);
  });

  it('waits as long as Retry-After says', async () => {
    const busy = { text: '{}', type: 'application/json', status: 429, headers: { 'retry-after': '30' } };
    const agent = new Agent({
      SendMessage: { result: task('WORKING') },
      GetTask: [busy, got('COMPLETED', whole('Done.'))],
    });
    await agent.ask({ card: SILENT_CARD });
    expect(agent.pauses).toEqual([1000, 30_000]);
    expect(agent.reconnecting).not.toContain(true);
  });

  it('is left after taskTimeoutMs, and can be read on later', async () => {
    const agent = new Agent({ SendMessage: { result: task('WORKING') }, GetTask: got('WORKING') });
    const failure = await agent.ask({ card: SILENT_CARD }, 60_000).catch((error: unknown) => error);
    expect(failure).toMatchObject({ cause: { code: 'still_working' } });
    const later = new Agent({ SubscribeToTask: { stream: [task('COMPLETED', whole('Done.'))] } });
    await later.resume((failure as AnswerBrokenOff).answer);
    expect(later.shown).toEqual(['Done.']);
  });
});

describe('events of any shape', () => {
  const json = fc.jsonValue({ maxDepth: 3 });
  const text = fc.constantFrom('', 'a', 'a1', 't1', 'One ', '{', 'working', 'TASK_STATE_COMPLETED', 'input-required');
  const value = fc.oneof({ weight: 3, arbitrary: text }, { weight: 1, arbitrary: json });
  const listOf = (item: fc.Arbitrary<unknown>) =>
    fc.oneof({ weight: 4, arbitrary: fc.array(item, { maxLength: 4 }) }, json);
  const part = fc.record(
    {
      kind: value,
      text: value,
      data: json,
      raw: value,
      url: value,
      file: fc.record({ bytes: value, uri: value }),
      metadata: json,
    },
    { requiredKeys: [] },
  );
  const message = fc.record({ messageId: value, role: value, parts: listOf(part) }, { requiredKeys: [] });
  const artifactOf = fc.record({ artifactId: value, name: value, parts: listOf(part) }, { requiredKeys: [] });
  const event = fc.record(
    {
      id: value,
      taskId: value,
      status: fc.record({ state: value, message }, { requiredKeys: [] }),
      artifact: artifactOf,
      artifacts: listOf(artifactOf),
      history: listOf(message),
      append: fc.boolean(),
      final: value,
      parts: listOf(part),
      message,
      task: json,
    },
    { requiredKeys: [] },
  );

  it('never throw, and become parts with ids of their own and content of their type', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 6 }), (events) => {
        const answer = events.reduce<Answer>(
          (known, sent, index) => {
            const read = readEvent(sent);
            return read === undefined ? known : takeEvent(known, read, index === 0);
          },
          emptyAnswer('m1', 't1'),
        );
        for (const part of partsOfAnswer(settled(answer))) {
          expect(part.id).toMatch(/\/\d+$/);
          if ('text' in part) expect(part.text).toBeTypeOf('string');
        }
        expect(textOfParts(partsOfAnswer(answer))).toBeTypeOf('string');
        JSON.stringify(seenAfter(answer));
      }),
      { numRuns: 200 },
    );
  });

  it('with data nested 100,000 deep are shown without it', () => {
    const deep: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));
    const read = readEvent({ message: { role: 'agent', parts: [{ text: 'Hi' }, { data: deep }] } });
    if (read === undefined) throw new Error('It is no event.');
    expect(textOfParts(partsOfAnswer(takeEvent(emptyAnswer('m1'), read)))).toContain('Hi');
  });
});
