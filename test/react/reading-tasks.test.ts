import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { AgentClient, readCard } from '../../react/src/chat/agent-client.js';
import { AnswerReader } from '../../react/src/chat/answer-reader.js';
import { type Answer, AnswerBrokenOff, emptyAnswer } from '../../react/src/chat/answer.js';
import { partsOfAnswer, seenAfter, settled, takeEvent } from '../../react/src/chat/answer-events.js';
import { textOfParts } from '../../react/src/chat/message-parts.js';
import { EventStreamParser } from '../../react/src/chat/event-stream.js';
import { readEvent } from '../../react/src/chat/wire.js';
import { processorTime } from '../support/stopwatch.js';
import { type Reply, GONE, Agent, SILENT_CARD, words, own, task, update, artifact, whole, got } from './read-agent.js';

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

  it('continues when its stream begins with the old task, and shows only new parts', async () => {
    const opening = task('INPUT_REQUIRED', before, 'Where to?');
    const agent = await reply([opening, update('WORKING'), artifact('Booked.', false, 'b'), update('COMPLETED')]);
    expect(agent.shown).toEqual(['Booked.']);
    expect(agent.states).not.toContain('input-required');
  });

  it('does not repeat an artifact or question of the previous turn', async () => {
    const artifacts = [...before.artifacts, { artifactId: 'b', parts: [{ text: 'Booked.' }] }];
    const agent = await reply([task('COMPLETED', { ...history, artifacts })]);
    expect(agent.shown).toEqual(['Booked.']);
  });

  it('shows only the new end of a continued artifact', async () => {
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

  it('may be the same question again, after polling for a while', async () => {
    const opening = task('INPUT_REQUIRED', before, 'Where to?');
    const agent = await reply([opening], { GetTask: got('INPUT_REQUIRED', before, 'Where to?') });
    expect(agent.answer.state).toBe('input-required');
    expect(agent.shown).toEqual(['question: Where to?']);
    expect(agent.calls.length).toBeLessThan(10);
  });

  it('may be the same question again when the agent does not name the task', async () => {
    const opening = task('INPUT_REQUIRED', before, 'Where to?');
    const agent = await reply([opening], { GetTask: { error: { code: -32603, message: 'No' } } });
    expect(agent.answer.state).toBe('input-required');
    expect(agent.shown).toEqual(['question: Where to?']);
    expect(agent.calls).toEqual(['SendStreamingMessage', 'SubscribeToTask', 'GetTask']);
  });

  it('is read from the task when the stream ends with the old task', async () => {
    const opening = task('INPUT_REQUIRED', before, 'Where to?');
    const agent = await reply([opening], {
      GetTask: [got('INPUT_REQUIRED', before, 'Where to?'), got('COMPLETED', { ...history }, 'Booked.')],
    });
    expect(agent.shown).toEqual(['Booked.']);
  });
});

describe('a task that continues after its stream has ended', () => {
  it('is polled at growing intervals and shown as working, not as reconnecting', async () => {
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
  ])('is polled when the stream breaks and the agent %s', async (_what, subscribe) => {
    const agent = new Agent({
      SendStreamingMessage: { stream: [task('WORKING'), artifact('It ')], breaks: true },
      SubscribeToTask: subscribe,
      GetTask: [got('WORKING', whole('It ')), got('COMPLETED', whole('It ', 'is 42.'))],
    });
    await agent.ask();
    expect(agent.shown).toEqual(['It is 42.']);
    expect(agent.calls.filter((call) => call === 'SendStreamingMessage')).toHaveLength(1);
  });

  it('is resubscribed when the stream breaks, without losing or repeating a word', async () => {
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

  it('keeps text that the agent has not stored', async () => {
    const agent = new Agent({
      SendStreamingMessage: { stream: [task('WORKING'), artifact('It is 42.')], breaks: true },
      SubscribeToTask: { stream: [task('COMPLETED')] },
    });
    await agent.ask();
    expect(agent.shown).toEqual(['It is 42.']);
  });

  it('fails when the connection does not come back', async () => {
    const agent = new Agent({
      SendStreamingMessage: { stream: [task('WORKING')], breaks: true },
      SubscribeToTask: GONE,
    });
    await expect(agent.ask()).rejects.toBeInstanceOf(AnswerBrokenOff);
    expect(agent.pauses).toEqual([500, 1000, 2000, 4000, 8000]);
  });

  it('fails when the agent no longer knows it', async () => {
    const unknown = { error: { code: -32001, message: 'Unknown task' } };
    const agent = new Agent({
      SendStreamingMessage: { stream: [task('WORKING')], breaks: true },
      SubscribeToTask: unknown,
      GetTask: unknown,
    });
    await expect(agent.ask()).rejects.toBeInstanceOf(AnswerBrokenOff);
    expect(agent.calls).toHaveLength(3);
  });

  const refused = { error: { code: -32603, message: 'No' } };
  const polled = (...replies: Reply[]) => new Agent({ SendMessage: { result: task('WORKING') }, GetTask: replies });

  it('fails when the agent refuses it three times in a row', async () => {
    const agent = polled(refused, refused, got('WORKING'), refused, refused, refused, got('COMPLETED'));
    await expect(agent.ask({ card: SILENT_CARD })).rejects.toMatchObject({ cause: { code: -32603 } });
    expect(agent.calls).toHaveLength(7);
  });

  it('is polled again after two refusals, not shown as reconnecting', async () => {
    const agent = polled(refused, refused, got('COMPLETED', whole('Done.')));
    await agent.ask({ card: SILENT_CARD });
    expect(agent.shown).toEqual(['Done.']);
    expect(agent.pauses).toEqual([1000, 1000, 2000]);
    expect(agent.reconnecting).not.toContain(true);
  });

  it('is polled again when the response is not a task', async () => {
    const agent = polled({ result: { message: words('Hi') } }, got('COMPLETED', whole('Done.')));
    await agent.ask({ card: SILENT_CARD });
    expect(agent.shown).toEqual(['Done.']);
    expect(agent.reconnecting).toContain(true);
  });

  it('is given up at once after an error of the page', async () => {
    const agent = polled({ throws: new TypeError('a bug') });
    const failure = agent.ask({ card: SILENT_CARD });
    await expect(failure).rejects.toBeInstanceOf(AnswerBrokenOff);
    await expect(failure).rejects.toMatchObject({ cause: { message: 'a bug' }, answer: { taskId: 't1' } });
    expect(agent.calls).toHaveLength(2);
  });

  it('is resubscribed as often as the connection breaks, if it delivers something each time', async () => {
    const piece = (index: number): Reply => ({ stream: [artifact(`${index} `, index > 0)], breaks: true });
    const agent = new Agent({
      SendStreamingMessage: { stream: [task('WORKING')], breaks: true },
      SubscribeToTask: [...[0, 1, 2, 3, 4, 5, 6].map(piece), { stream: [update('COMPLETED')] }],
    });
    await agent.ask();
    expect(agent.shown).toEqual(['0 1 2 3 4 5 6 ']);
    expect(agent.pauses.every((ms) => ms <= 1000)).toBe(true);
  });

  it('is resubscribed after each stream for taskTimeoutMs, counted from the end of that stream', async () => {
    const piece = (index: number): Reply => ({ stream: [artifact(`${index} `, index > 0)], breaks: true });
    const agent = new Agent({
      SendStreamingMessage: { stream: [task('WORKING')], breaks: true },
      SubscribeToTask: [...[0, 1, 2, 3, 4].map(piece), { stream: [artifact('5', true), update('COMPLETED')] }],
    });
    await agent.ask({}, 1_200);
    expect(agent.shown).toEqual(['0 1 2 3 4 5']);
  });

  it('is left after taskTimeoutMs when its streams only break', async () => {
    const agent = new Agent({
      SendStreamingMessage: { stream: [task('WORKING')], breaks: true },
      SubscribeToTask: { stream: [], breaks: true },
    });
    await expect(agent.ask({}, 2_000)).rejects.toMatchObject({ cause: { code: 'still_working' } });
  });

  it('is polled as often as the site is busy', async () => {
    const busy = { text: '{}', type: 'application/json', status: 429, headers: { 'retry-after': '2' } };
    const agent = polled(...Array.from({ length: 7 }, () => busy), got('COMPLETED', whole('Done.')));
    await agent.ask({ card: SILENT_CARD });
    expect(agent.shown).toEqual(['Done.']);
    expect(agent.pauses).toEqual([1000, ...Array.from({ length: 7 }, () => 2000)]);
  });

  it('is polled again only after Retry-After', async () => {
    const busy = { text: '{}', type: 'application/json', status: 429, headers: { 'retry-after': '30' } };
    const agent = new Agent({
      SendMessage: { result: task('WORKING') },
      GetTask: [busy, got('COMPLETED', whole('Done.'))],
    });
    await agent.ask({ card: SILENT_CARD });
    expect(agent.pauses).toEqual([1000, 30_000]);
    expect(agent.reconnecting).not.toContain(true);
  });

  it('is left after taskTimeoutMs and can be resumed later', async () => {
    const agent = new Agent({ SendMessage: { result: task('WORKING') }, GetTask: got('WORKING') });
    const failure = await agent.ask({ card: SILENT_CARD }, 60_000).catch((error: unknown) => error);
    expect(failure).toMatchObject({ cause: { code: 'still_working' } });
    const later = new Agent({ SubscribeToTask: { stream: [task('COMPLETED', whole('Done.'))] } });
    await later.resume((failure as AnswerBrokenOff).answer);
    expect(later.shown).toEqual(['Done.']);
  });
});

describe('a task polled by a page', () => {
  /** A page that polls a task which is complete; `isHidden` until it is shown. */
  function page(isHidden: boolean) {
    const document = new EventTarget();
    const online = new Set<() => void>();
    const seen = Object.assign(document, { visibilityState: isHidden ? 'hidden' : 'visible' });
    vi.stubGlobal('document', seen);
    vi.stubGlobal('addEventListener', (_name: string, listener: () => void) => online.add(listener));
    vi.stubGlobal('removeEventListener', (_name: string, listener: () => void) => online.delete(listener));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => {
      vi.useRealTimers();
      vi.unstubAllGlobals();
    });
    let polls = 0;
    const ask = async () => {
      polls += 1;
      return Response.json({ jsonrpc: '2.0', id: 1, result: task('COMPLETED', whole('Done.')).task });
    };
    const client = new AgentClient('https://site.example/api/a2a', ask, readCard(SILENT_CARD));
    const listener = { onAnswer: () => undefined, onReconnecting: () => undefined };
    const abort = new AbortController();
    const answer = emptyAnswer('m1', 't1', 'c1');
    const reading = new AnswerReader(client, answer, 60_000, listener, abort.signal).resume();
    return {
      reading,
      abort,
      polls: () => polls,
      online,
      goOnline: () => {
        for (const listener of online) listener();
      },
      show: (visibilityState: string) => {
        seen.visibilityState = visibilityState;
        document.dispatchEvent(new Event('visibilitychange'));
      },
    };
  }

  it('is polled after a second', async () => {
    const { polls, reading } = page(false);
    await vi.advanceTimersByTimeAsync(999);
    expect(polls()).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    await reading;
    expect(polls()).toBe(1);
  });

  it('is polled at once when the network is back', async () => {
    const { polls, reading, goOnline, online } = page(false);
    goOnline();
    await reading;
    expect(polls()).toBe(1);
    expect([vi.getTimerCount(), online.size]).toEqual([0, 0]);
  });

  it('is not polled while the page is hidden', async () => {
    const { polls, reading, show } = page(true);
    await vi.advanceTimersByTimeAsync(5_000);
    show('hidden');
    await vi.advanceTimersByTimeAsync(0);
    expect(polls()).toBe(0);
    show('visible');
    await reading;
    expect(polls()).toBe(1);
  });

  it.each([
    ['visible', false],
    ['hidden', true],
  ])('is not polled once its page, which is %s, has left', async (_state, isHidden) => {
    const { polls, reading, abort } = page(isHidden);
    if (isHidden) await vi.advanceTimersByTimeAsync(1_000);
    abort.abort();
    await expect(reading).rejects.toMatchObject({ code: 'connection_lost' });
    expect([polls(), vi.getTimerCount()]).toEqual([0, 0]);
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

  const read = (events: readonly unknown[]): Answer =>
    events.reduce<Answer>(
      (known, sent, index) => {
        const event = readEvent(sent);
        return event === undefined ? known : takeEvent(known, event, index === 0);
      },
      emptyAnswer('m1', 't1'),
    );

  it('never throw, and become parts with unique ids and content of their type', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 6 }), (events) => {
        const answer = read(events);
        const parts = partsOfAnswer(settled(answer));
        expect(new Set(parts.map(({ id }) => id)).size).toBe(parts.length);
        for (const part of parts) {
          expect(part.id).toMatch(/\/\d+$/);
          if ('text' in part) expect(part.text).toBeTypeOf('string');
        }
        expect(textOfParts(partsOfAnswer(answer))).toBeTypeOf('string');
        JSON.stringify(seenAfter(answer));
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    [200, '['],
    [201, '…'],
    [100_000, '…'],
  ])('with data nested %d deep are shown: %s', (depth, shown) => {
    const data: unknown = JSON.parse('['.repeat(depth) + ']'.repeat(depth));
    const text = textOfParts(partsOfAnswer(read([{ message: { role: 'agent', parts: [{ text: 'Hi' }, { data }] } }])));
    expect(text).toContain('Hi');
    expect(text).toContain(shown);
  });

  const many = <Item>(item: (index: number) => Item): Item[] =>
    Array.from({ length: 6_000 }, (_, index) => item(index));
  const step = (index: number) => ({ role: 'agent', parts: [{ text: `{"step":${index}}` }] });
  it.each<[string, () => unknown]>([
    ['messages of a history', () => partsOfAnswer(read([task('WORKING', { history: many(step) })]))],
    [
      'messages of a working task',
      () => partsOfAnswer(read(many((at) => ({ statusUpdate: { status: { state: 'working', message: step(at) } } })))),
    ],
    ['lines of one JSON text', () => new EventStreamParser().push('[\n'.repeat(10_000))],
  ])('take time in proportion to their number: %s', (_what, reading) => {
    expect(processorTime(reading)).toBeLessThan(1000);
  });
});
