import { describe, expect, it } from 'vitest';

import { partsOfAnswer } from '../../react/src/chat/answer-events.js';
import { AgentClient, readCard } from '../../react/src/chat/agent-client.js';
import {
  type Reply,
  GONE,
  Agent,
  CARD_1,
  CARD_03,
  words,
  own,
  status,
  task,
  update,
  artifact,
  whole,
} from './read-agent.js';

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
    [
      '0.3, with error -32601',
      CARD_03,
      { error: { code: -32601, message: 'No' } },
      ['message/stream', 'SendStreamingMessage'],
    ],
    [
      '1.0, without a card',
      null,
      { error: { code: -32601, message: 'No' } },
      ['SendStreamingMessage', 'message/stream'],
    ],
    ...[-32602, -32009].map((code): [string, unknown, Reply, string[]] => [
      `1.0, with error ${code}`,
      CARD_1,
      { error: { code, message: 'No' } },
      ['SendStreamingMessage', 'message/stream'],
    ]),
    ...[404, 405, 422, 501].map((status): [string, unknown, Reply, string[]] => [
      `1.0, with status ${status} that the site passes on`,
      CARD_1,
      { text: '{"code":"upstream_error"}', type: 'application/json', status },
      ['SendStreamingMessage', 'message/stream'],
    ]),
  ])('falls back to the other one when the agent rejects %s', async (_what, card, refusal, calls) => {
    const replies = card === CARD_03 ? [new10, refusal] : [refusal, old03];
    const agent = new Agent({ SendStreamingMessage: replies[0] as Reply, 'message/stream': replies[1] as Reply });
    await agent.ask({ card });
    expect(agent.calls).toEqual(calls);
    expect(agent.shown).toEqual(['Hi']);
  });

  it('stays the same when the agent rejects both', async () => {
    const agent = new Agent({ SendStreamingMessage: { error: { code: -32602, message: 'Too long' } } });
    await expect(agent.ask()).rejects.toThrow('Too long');
  });

  it.each<[string, Reply, Reply, string]>([
    ['a page of the site', { text: '<p>No', status: 403, type: 'text/html' }, GONE, 'This was not accepted.'],
    [
      'an error of the site',
      { text: '{"code":"body_invalid"}', type: 'application/json', status: 400 },
      GONE,
      'This was not accepted.',
    ],
    ['another error of the agent', { error: { code: -32000, message: 'First' } }, GONE, 'First'],
    [
      'the former one with another error',
      { error: { code: -32601, message: 'First' } },
      { error: { code: -32000, message: 'Second' } },
      'Second',
    ],
    [
      'the former one too, which says less',
      { error: { code: -32602, message: 'First' } },
      { error: { code: -32600, message: 'Second' } },
      'First',
    ],
  ])('is not tried again after %s', async (_what, first, second, says) => {
    const agent = new Agent({ SendStreamingMessage: first, 'message/stream': second });
    await expect(agent.ask()).rejects.toThrow(says);
    expect(agent.calls).toHaveLength(second === GONE ? 1 : 2);
  });

  it('is not tried again once the agent has understood it', async () => {
    const agent = new Agent({
      SendStreamingMessage: { stream: [task('WORKING')] },
      SubscribeToTask: { error: { code: -32601, message: 'No' } },
      GetTask: { result: task('COMPLETED', whole('Hi')).task },
    });
    await agent.ask();
    expect(agent.calls).toEqual(['SendStreamingMessage', 'SubscribeToTask', 'GetTask']);
  });

  it.each([-32004, -32601])(
    'an agent that rejects streaming with %i gets the message again without it',
    async (code) => {
      const agent = new Agent({
        SendStreamingMessage: { error: { code, message: 'No' } },
        SendMessage: { result: { message: words('Hi') } },
      });
      await agent.ask({ card: null });
      expect(agent.calls.filter((call) => call === 'SendMessage')).toHaveLength(1);
      expect(agent.shown).toEqual(['Hi']);
    },
  );

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
      'separate artifacts',
      [artifact('One', false, 'a'), artifact('Two', false, 'b'), update('COMPLETED')],
      ['One', 'Two'],
    ],
    [
      'progress, then an empty completion',
      [task('SUBMITTED'), update('WORKING', 'Looking'), update('WORKING', 'It is 42.'), update('COMPLETED')],
      ['status: Looking', 'It is 42.'],
    ],
    [
      'progress that was the answer, then the artifact',
      [update('WORKING', 'It is 42.'), artifact('It is 42.'), update('COMPLETED')],
      ['It is 42.'],
    ],
    [
      'pieces as separate messages',
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
      'an answer in the history and in the last message',
      [task('SUBMITTED', { history: [own, words('42')] }), update('COMPLETED', '42', '42')],
      ['42'],
    ],
    [
      'progress in the form of data',
      [update('WORKING', '{"role":"tool"}'), update('COMPLETED', 'It is 42.')],
      ['thought: {"role":"tool"}', 'It is 42.'],
    ],
    ['an artifact repeated in the last message', [artifact('Done.'), update('COMPLETED', 'Done.')], ['Done.']],
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
    [
      'a message twice, without an id',
      [{ message: { ...words('One.'), messageId: '' } }, { message: { ...words('One.'), messageId: '' } }],
      ['One.'],
    ],
    [
      'progress that continues under its id',
      [update('WORKING', 'It is', 'x'), update('WORKING', ' 42.', 'x'), update('COMPLETED')],
      ['It is 42.'],
    ],
    [
      'progress that is repeated under its id',
      [update('WORKING', 'It is 42.', 'x'), update('WORKING', 'It is 42.', 'x'), update('COMPLETED')],
      ['It is 42.'],
    ],
    ['progress without a task', [{ statusUpdate: { status: status('WORKING', 'It is 42.') } }], ['It is 42.']],
    ['two messages', [{ message: words('One.') }, { message: words('Two.') }], ['One.', 'Two.']],
    ['nothing', [update('COMPLETED')], []],
    ['a refusal', [task('WORKING'), update('REJECTED', 'Not that.')], ['error: Not that.'], 'failed'],
    ['text, then a failure', [update('WORKING', 'It is'), update('FAILED')], ['It is'], 'failed'],
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
    ['a JSON text on two lines', '{"result":\nBODY}\n\n'],
    ['carriage returns, comments and ids', ': hello\r\nretry: 10\r\n\r\nid: 7\r\ndata:{"result":BODY}\r\n\r\n'],
  ])('is read with %s', async (_what, text) => {
    const body = JSON.stringify({ message: words('Hi') });
    const agent = new Agent({ SendStreamingMessage: { text: text.replace('BODY', body) } });
    await agent.ask();
    expect(agent.shown).toEqual(['Hi']);
  });

  it('may be one JSON response in place of the stream', async () => {
    const agent = new Agent({ SendStreamingMessage: { result: { message: words('Hi') } } });
    await agent.ask();
    expect(agent.shown).toEqual(['Hi']);
  });

  const begun = { id: 't1', contextId: 'c1', status: { state: 'working' } };
  const said = {
    kind: 'artifact-update',
    taskId: 't1',
    contextId: 'c1',
    artifact: { artifactId: 'a1', parts: [{ kind: 'text', text: 'Hi' }] },
  };
  const end = (state: string) => ({ kind: 'status-update', taskId: 't1', contextId: 'c1', status: { state } });

  it.each<[string, readonly unknown[], string?]>([
    ['a task without its kind', [begun, said, end('completed')]],
    ['members that are null', [{ ...begun, artifacts: null, history: null, metadata: null }, said, end('completed')]],
    ['states in the spelling of A2A 1.0', [said, end('TASK_STATE_COMPLETED')]],
    ['the other spelling of "canceled"', [said, end('cancelled')], 'stopped'],
    ['events of another context', [begun, { ...said, contextId: 'another' }, end('completed')]],
  ])('of A2A 0.3 is read with %s', async (_what, stream, state = 'complete') => {
    const agent = new Agent({ 'message/stream': { stream } });
    expect((await agent.ask({ card: CARD_03 })).state).toBe(state);
    expect(agent.shown).toEqual(['Hi']);
  });

  it('is read by a browser that cannot read streams', async () => {
    const events = [update('WORKING', 'It is', 'a'), update('COMPLETED', '42', 'b')];
    const text = events.map((result) => `data: ${JSON.stringify({ result })}\n\n`).join('');
    const response = new Response(text, { headers: { 'content-type': 'text/event-stream' } });
    Object.defineProperty(response, 'body', { value: undefined });
    const client = new AgentClient('https://site.example/api/a2a', async () => response, readCard(CARD_1));
    const request = { id: 'm1', contextId: 'c1', taskId: '', text: 'Hello', file: undefined };
    const kinds: string[] = [];
    for await (const event of client.send(request, new AbortController().signal)) kinds.push(event.kind);
    expect(kinds).toEqual(['status', 'status']);
  });

  it.each<[string, string]>([
    ['an event', ''],
    ['an event, only comments', ': hello\n\n'],
  ])('without %s is reported as unreadable', async (_what, text) => {
    const failure = await new Agent({ SendStreamingMessage: { text } }).ask().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'unreadable', cause: { message: 'The response has no event.' } });
  });

  it('that is complete does not fail when its stream breaks', async () => {
    const agent = new Agent({ SendStreamingMessage: { stream: [task('COMPLETED', whole('Hi'))], breaks: true } });
    expect((await agent.ask()).state).toBe('complete');
    expect(agent.shown).toEqual(['Hi']);
  });

  it('skips what is not an event', async () => {
    const agent = new Agent({ SendStreamingMessage: { stream: [{ kind: 'weather' }, { message: words('Hi') }] } });
    await agent.ask();
    expect(agent.shown).toEqual(['Hi']);
  });

  it('that cannot be parsed is reported as unreadable', async () => {
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

  it('includes what follows a completion that is not final', async () => {
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

  it('fails when the agent sends an error', async () => {
    const error = { error: { code: -32603, message: 'Out of order.' } };
    const agent = new Agent({ SendStreamingMessage: { stream: [task('WORKING'), artifact('It is'), error] } });
    await expect(agent.ask()).rejects.toThrow('Out of order.');
    expect(agent.answer.state).toBe('failed');
    expect(agent.shown).toEqual(['It is']);
    expect(agent.calls).toHaveLength(1);
  });
});

describe('parts', () => {
  it('of progress that only begin like JSON are shown', async () => {
    const stream = [task('WORKING'), update('WORKING', '[1 of 2] Reading', 'a'), artifact('Read.')];
    const agent = new Agent({ SendStreamingMessage: { stream: [...stream, update('COMPLETED', '', 'b')] } });
    await agent.ask();
    expect(agent.shown).toContain('status: [1 of 2] Reading');
  });

  it('of progress that are JSON are folded, however many follow each other', async () => {
    const call = '{"role":"assistant","content":[]}';
    const outcome = '{"role":"tool","content":[]}';
    const agent = new Agent({
      SendStreamingMessage: {
        stream: [
          task('WORKING'),
          update('WORKING', call, 'a'),
          update('WORKING', outcome, 'b'),
          update('COMPLETED', '[1] Hello', 'c'),
        ],
      },
    });
    await agent.ask();
    expect(agent.shown).toEqual([`thought: ${call}`, `thought: ${outcome}`, '[1] Hello']);
  });

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
    [
      'a name without characters that reorder it',
      { url: 'https://x.example/a', filename: 'annual\u202efdp.e\u0000xe\u2066' },
      { type: 'file', name: 'annualfdp.exe', mediaType: '', url: 'https://x.example/a' },
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
    ['that an agent has separated stay separate', ['Hello', 'World'], ['Hello', 'World']],
    ['of one word stay together', ['Mün', 'chen'], ['München']],
  ])('%s', async (_what, texts, shown) => {
    const agent = new Agent({ SendStreamingMessage: { stream: [task('COMPLETED', whole(...texts))] } });
    await agent.ask();
    expect(agent.shown).toEqual(shown);
  });

  it.each([null, 7, 'x', { text: 7 }, { file: null }, {}])('that are invalid are left out: %j', async (part) => {
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
