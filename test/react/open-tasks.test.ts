import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import { emptyAnswer } from '../../react/src/chat/answer.js';
import type { Conversation } from '../../react/src/chat/turn.js';
import { partsOf } from '../../react/src/chat/message-parts.js';
import { isConversation, keepConversation } from '../../react/src/chat/kept-conversation.js';
import { last, openPage, reloaded, result, Site, task, until } from './chat-site.js';

beforeEach(openPage);

describe('a chat that is left', () => {
  it('in the middle of an answer resumes it when shown again', async () => {
    const site = new Site();
    site
      .on('SendStreamingMessage', site.openStream)
      .on('SubscribeToTask', result({ task: task('COMPLETED', 'It is 42.') }));
    const session = site.session();
    void session.send('Hello');
    await site.write({ task: task('WORKING', 'It is') });
    await until(() => expect(last(session)).toMatchObject({ text: 'It is' }));
    session.leave();
    await until(() => expect(session.getState().phase).toBe('idle'));
    expect(last(session)).toMatchObject({ text: 'It is', state: 'working' });
    session.enter();
    await until(() => expect(last(session)).toMatchObject({ text: 'It is 42.', state: 'complete' }));
    expect(site.calls).toEqual(['SendStreamingMessage', 'SubscribeToTask']);
    expect(site.errors).toEqual([]);
  });

  it('before the agent has created a task keeps its connection until then', async () => {
    const site = new Site();
    site.on('SendStreamingMessage', site.openStream).on('SubscribeToTask', result({ task: task('COMPLETED', '42') }));
    const session = site.session();
    void session.send('Hello');
    session.leave();
    await site.write({ task: task('WORKING') });
    await until(() => expect(session.getState().phase).toBe('idle'));
    session.enter();
    await until(() => expect(last(session)).toMatchObject({ text: '42' }));
  });

  it('and re-entered at once, as in StrictMode, keeps its connection', async () => {
    const site = new Site();
    site.on('SendStreamingMessage', site.openStream);
    const session = site.session();
    const sent = session.send('Hello');
    session.leave();
    session.enter();
    await site.end({ task: task('COMPLETED', '42') });
    await sent;
    expect(last(session)).toMatchObject({ text: '42', state: 'complete' });
    expect(site.calls).toHaveLength(1);
  });

  it('for another page continues there with all its messages', async () => {
    const site = new Site();
    site.on('SendStreamingMessage', site.openStream).on('SubscribeToTask', result({ task: task('COMPLETED') }));
    const session = site.session();
    void session.send('Hello');
    await site.write({ task: task('WORKING', 'It is 42.') });
    await until(() => expect(last(session)).toMatchObject({ text: 'It is 42.' }));
    const next = reloaded(site, session);
    next.enter();
    await until(() => expect(last(next)).toMatchObject({ text: 'It is 42.', state: 'complete' }));
    expect(next.getState().messages).toHaveLength(2);
  });

  it('while the agent waits for a reply sends the reply to the same task', async () => {
    const site = new Site();
    site.on(
      'SendStreamingMessage',
      result({ task: task('INPUT_REQUIRED', 'Where to?') }),
      result({ task: task('COMPLETED', 'Booked.') }),
    );
    const session = site.session();
    await session.send('A trip');
    session.leave();
    session.enter();
    expect(session.getConversation().openTask).toMatchObject({ id: 't1' });
    await session.send('Lisbon');
    expect(last(session)).toMatchObject({ text: 'Booked.', state: 'complete' });
    expect(session.getConversation().openTask).toBeUndefined();
  });
});

it('an answer grows on the page when the clock of the device is set back', async () => {
  const site = new Site().on('SendStreamingMessage', () => site.openStream());
  const session = site.session();
  const sent = session.send('Hello');
  await site.write({ task: task('WORKING', 'It is') });
  await until(() => expect(last(session)).toMatchObject({ text: 'It is' }));
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
  onTestFinished(() => void vi.useRealTimers());
  const artifact = { artifactId: 'a', parts: [{ text: ' 42.' }] };
  await site.write({ artifactUpdate: { taskId: 't1', contextId: 'c1', artifact, append: true } });
  await until(() => expect(last(session)).toMatchObject({ text: 'It is 42.' }));
  await site.end({ task: task('COMPLETED', 'It is 42.') });
  await sent;
});

it('a completed answer closes a stream that the agent leaves open', async () => {
  const site = new Site().on('SendStreamingMessage', () => site.openStream());
  const session = site.session();
  const sent = session.send('Hello');
  await site.write({ task: task('COMPLETED', '42') });
  await sent;
  expect(last(session)).toMatchObject({ text: '42', state: 'complete' });
  expect(site.signal?.aborted).toBe(true);
});

describe('a stored conversation', () => {
  const message = { id: '1', role: 'agent', text: 'Hi', state: 'complete' };

  const part = { id: 'p', type: 'text', text: 'Hi' };
  const file = { id: 'p', type: 'file', name: 'a', mediaType: 'b', bytes: 'c' };
  const seen = { messages: ['m'], artifacts: { a: 'b' } };
  const words = [{ id: 'w', parts: [part] }];
  const opening = { state: 'input-required', words };
  const answer = { ...emptyAnswer('m', 't', 'c'), artifacts: words, said: words, words, seen, opening };
  const sent = { id: 's', contextId: '', taskId: '', text: 'Hi', page: '{}', seen };
  const whole = {
    contextId: 'c',
    messages: [
      { ...message, parts: [part, file, { id: 'q', type: 'data', name: '' }, { ...file, bytes: undefined, url: 'u' }] },
      { id: '2', role: 'user', text: '', fileName: 'a.txt' },
    ],
    openTask: { id: 't', seen },
    unfinished: { answerId: 'a', answer },
    sent,
  };

  it('is read with all that is open in it', () => {
    expect(isConversation(whole)).toBe(true);
    expect(isConversation({ contextId: '', messages: [] })).toBe(true);
    const ofText = ['text', 'thought', 'question', 'error', 'status'].map((type) => ({ ...part, type }));
    expect(isConversation({ ...whole, messages: [{ ...message, parts: ofText }] })).toBe(true);
    expect(isConversation({ ...whole, unfinished: { answerId: 'a', answer: { ...answer, opening: null } } })).toBe(
      true,
    );
    for (const state of ['working', 'complete', 'input-required', 'auth-required', 'failed', 'stopped'])
      expect(isConversation({ ...whole, messages: [{ ...message, state }] })).toBe(true);
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['a text', '{}'],
    ['no context', { ...whole, contextId: undefined }],
    ['no messages', { ...whole, messages: undefined }],
    ['a null entry', { ...whole, messages: [null] }],
    ...[
      { id: 7 },
      { text: null },
      { state: 'x' },
      { role: 'x' },
      { role: 'user', fileName: 7 },
      { parts: 'x' },
      { parts: [null] },
      { parts: [{ ...part, id: 7 }] },
      { parts: [{ ...part, type: 'x' }] },
      { parts: [{ ...part, text: 7 }] },
      { parts: [{ id: 'p', type: 'data' }] },
      { parts: [{ ...file, name: 7 }] },
      { parts: [{ ...file, mediaType: 7 }] },
      { parts: [{ ...file, bytes: 7 }] },
      { parts: [{ ...file, url: 7 }] },
    ].map((one): [string, unknown] => [
      `a message of ${JSON.stringify(one)}`,
      { ...whole, messages: [{ ...message, ...one }] },
    ]),
    ...[null, { id: 7, seen }, { id: 't' }, { id: 't', seen: { ...seen, messages: [7] } }].map(
      (openTask): [string, unknown] => [`an open task of ${JSON.stringify(openTask)}`, { ...whole, openTask }],
    ),
    ['artifacts that are no texts', { ...whole, openTask: { id: 't', seen: { ...seen, artifacts: { a: 7 } } } }],
    ['artifacts that are no object', { ...whole, openTask: { id: 't', seen: { ...seen, artifacts: null } } }],
    ['no unfinished answer in its place', { ...whole, unfinished: null }],
    ['an unfinished answer without an id', { ...whole, unfinished: { answer } }],
    ['an unfinished answer that is none', { ...whole, unfinished: { answerId: 'a', answer: null } }],
    ...[
      { messageId: 7 },
      { taskId: 7 },
      { contextId: 7 },
      { state: 'x' },
      { artifacts: 'x' },
      { said: [null] },
      { words: [{ id: 7, parts: [] }] },
      { words: [{ id: 'w', parts: 'x' }] },
      { seen: null },
      { opening: undefined },
      { opening: { ...opening, state: 'x' } },
      { opening: { ...opening, words: 'x' } },
    ].map((one): [string, unknown] => [
      `an answer with ${JSON.stringify(one)}`,
      { ...whole, unfinished: { answerId: 'a', answer: { ...answer, ...one } } },
    ]),
    ...[{ id: 7 }, { contextId: 7 }, { taskId: 7 }, { text: 7 }, { page: 7 }, { seen: null }].map(
      (one): [string, unknown] => [
        `a sent message with ${JSON.stringify(one)}`,
        { ...whole, sent: { ...sent, ...one } },
      ],
    ),
    ['a sent message that is none', { ...whole, sent: null }],
  ])('is ignored with %s', (_what, value) => {
    expect(isConversation(value)).toBe(false);
  });

  it('may come from a version without parts', () => {
    const kept: unknown = {
      contextId: 'c',
      messages: [message, { id: '2', role: 'user', text: '', fileName: 'a.txt' }],
    };
    if (!isConversation(kept)) throw new Error('It is none.');
    expect(kept.messages.flatMap(partsOf).map(({ type }) => type)).toEqual(['text', 'file']);
  });
});

describe('a chat that keeps its conversation in the tab', () => {
  /** A tab whose page dispatches events. */
  function openTab() {
    const stored = new Map<string, string>();
    const page = new EventTarget();
    vi.stubGlobal('sessionStorage', {
      getItem: (name: string) => stored.get(name) ?? null,
      setItem: (name: string, text: string) => stored.set(name, text),
      removeItem: (name: string) => stored.delete(name),
    });
    vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
    vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page));
    return {
      dispatch: (name: string) => page.dispatchEvent(new Event(name)),
      stored: () => [...stored.values()].join(''),
      texts: () =>
        (JSON.parse(stored.get('chat') ?? '{"messages":[]}') as Conversation).messages.map(({ text }) => text),
    };
  }
  const answering = () => new Site().on('SendStreamingMessage', result({ task: task('COMPLETED', '42') })).session();

  it('stores it when the page is hidden, since a phone may end it then', async () => {
    const tab = openTab();
    const session = answering();
    keepConversation(session, 'chat');
    await session.send('Hello');
    tab.dispatch('visibilitychange');
    expect(tab.texts()).toEqual(['Hello', '42']);
  });

  it('leaves what another chat on the page has stored, unless it was used itself', async () => {
    const tab = openTab();
    const [session, other] = [answering(), answering()];
    for (const one of [session, other]) keepConversation(one, 'chat');
    await session.send('Hello');
    tab.dispatch('pagehide');
    expect(tab.texts()).toEqual(['Hello', '42']);
    other.reset();
    tab.dispatch('pagehide');
    expect(tab.texts()).toEqual([]);
  });

  it('leaves nothing of a conversation in the tab when a new one begins', async () => {
    const tab = openTab();
    const session = answering();
    keepConversation(session, 'chat');
    await session.send('My balance?');
    tab.dispatch('visibilitychange');
    session.reset();
    expect(tab.stored()).toBe('');
  });
});
