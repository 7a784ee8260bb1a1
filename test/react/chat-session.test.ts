import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import { emptyAnswer } from '../../react/src/chat/answer.js';
import { isTooLarge, MAX_FILE_BYTES } from '../../react/src/chat/file-part.js';
import { lost } from '../../react/src/chat-error.js';
import { describeSize } from '../../react/src/labels.js';
import { CONFIG, last, openPage, refusal, result, Site, task, TEXT, until } from './chat-site.js';

beforeEach(openPage);

const offline = (): Response => lost(new TypeError('Failed to fetch'));
const done = result({ task: task('COMPLETED', 'Done.') });
const UNFINISHED = {
  answerId: 'a1',
  answer: { ...emptyAnswer('', 't1', 'c1'), artifacts: [{ id: 'a', parts: [TEXT] }] },
};

describe('a chat before its first message', () => {
  it.each<[string, object, object]>([
    [
      'shows the agent and its brand',
      { brandCss: '--a: 1', mediaOrigins: ['https://x.example', 7, 'https://y.example'] },
      { agentName: 'Agent', brandCss: '--a: 1', mediaOrigins: ['https://x.example', 'https://y.example'] },
    ],
    ['has no brand without one', { brandCss: 7, mediaOrigins: 'x' }, { brandCss: '', mediaOrigins: [] }],
  ])('%s', async (_what, changes, state) => {
    const site = new Site();
    site.configs = [() => Response.json({ ...CONFIG, ...changes })];
    const session = site.session();
    await session.prepare();
    expect(session.getState()).toMatchObject({ ...state, phase: 'idle', error: undefined });
  });

  it('shows a failure, and loads the agent again with "Retry"', async () => {
    const site = new Site();
    site.configs = [offline, () => Response.json(CONFIG)];
    const session = site.session();
    await session.prepare();
    expect(session.getState()).toMatchObject({ error: { code: 'connection_lost' }, canRetry: true, brandCss: '' });
    expect(site.errors).toHaveLength(1);
    await session.retry();
    expect(session.getState()).toMatchObject({ error: undefined, canRetry: false, agentName: 'Agent' });
  });

  it('keeps the message to retry when the agent cannot be loaded either', async () => {
    const site = new Site().on('SendStreamingMessage', done);
    site.configs = [offline, offline, () => Response.json(CONFIG)];
    const session = site.session();
    await session.send('Hello');
    await session.prepare();
    await session.retry();
    expect(last(session)).toMatchObject({ text: 'Done.' });
  });
});

describe('a message', () => {
  it('is sent again when the connection is back, and only then', async () => {
    const site = new Site().on('SendStreamingMessage', offline, done, refusal(503, 'server_busy'));
    const session = site.session();
    await session.send('Hello');
    expect(session.getState().error?.code).toBe('connection_lost');
    session.reconnect();
    await until(() => expect(last(session)).toMatchObject({ text: 'Done.' }));
    await until(() => expect(session.getState().phase).toBe('idle'));
    session.reconnect();
    await session.retry();
    await session.send('More');
    session.reconnect();
    expect(site.calls).toHaveLength(3);
    expect(session.getState()).toMatchObject({ error: { reason: 'server_busy' }, canRetry: true });
  });

  it('without an answer is shown as failed once another one follows', async () => {
    const site = new Site().on('SendStreamingMessage', offline, offline, done);
    const session = site.session();
    await session.send('First');
    await session.send('Second');
    expect(session.getState()).toMatchObject({ error: { code: 'connection_lost' }, canRetry: true });
    session.reconnect();
    await until(() => expect(last(session)).toMatchObject({ text: 'Done.' }));
    const shown = session.getState().messages.map((one) => (one.role === 'user' ? one.text : one.state));
    expect(shown).toEqual(['First', 'failed', 'Second', 'complete']);
    expect(new Set(session.getState().messages.map(({ id }) => id)).size).toBe(4);
  });

  it('is not sent while another one is answered, nor without words and file', async () => {
    const site = new Site();
    site.on('SendStreamingMessage', site.openStream);
    const session = site.session();
    await session.send('');
    expect(session.getState().messages).toEqual([]);
    const sent = session.send('Hello');
    await session.send('More');
    await session.retry();
    await site.end({ task: task('COMPLETED', 'Done.') });
    await sent;
    expect(session.getState().messages.map(({ text }) => text)).toEqual(['Hello', 'Done.']);
    expect(site.calls).toHaveLength(1);
  });

  it.each<[string, object, object]>([
    ['1.0', CONFIG.agentCard, { raw: btoa('é'.repeat(2)), filename: 'a.txt', mediaType: 'text/plain' }],
    [
      '0.3',
      { ...CONFIG.agentCard, supportedInterfaces: undefined, protocolVersion: '0.3.0' },
      { kind: 'file', file: { bytes: btoa('é'.repeat(2)), name: 'a.txt', mimeType: 'text/plain' } },
    ],
  ])('of a file alone has its bytes in A2A %s', async (_version, agentCard, part) => {
    const site = new Site().on('SendStreamingMessage', done).on('message/stream', done);
    site.configs = [() => Response.json({ ...CONFIG, agentCard })];
    const session = site.session();
    const file = new File([new Uint8Array([0xe9, 0xe9])], 'a.txt', { type: 'text/plain' });
    await session.send({ text: '', file });
    expect(site.parts).toEqual([[part]]);
    expect(session.getState().messages[0]).toMatchObject({ role: 'user', text: '', fileName: 'a.txt' });
  });

  it('of a file has all its bytes, also of one larger than a call can have arguments', async () => {
    const site = new Site().on('SendStreamingMessage', done);
    const bytes = Uint8Array.from({ length: 0x8000 * 6 + 1 }, (_, index) => index % 251);
    await site.session().send({ text: 'Look', file: new File([bytes], 'a.bin') });
    const [[text, { raw }]] = site.parts as [[object, { raw: string }]];
    expect(text).toEqual({ text: 'Look' });
    expect(Buffer.from(raw, 'base64').equals(bytes)).toBe(true);
  });

  it('of a file that cannot be read is not sent, and can be tried again', async () => {
    const site = new Site();
    const session = site.session();
    const file = Object.assign(new File(['a'], 'a.txt'), { arrayBuffer: () => Promise.reject(new Error('gone')) });
    await session.send({ text: 'Look', file });
    expect(session.getState()).toMatchObject({
      error: { code: 'file_unreadable', message: 'The file could not be read.', cause: { message: 'gone' } },
      canRetry: true,
    });
    expect(site.calls).toEqual([]);
  });

  it('with a file that is too large is not sent, and cannot be tried again', async () => {
    const site = new Site();
    const session = site.session();
    const file = Object.defineProperty(new File([], 'a.bin'), 'size', { value: MAX_FILE_BYTES + 1 });
    await session.send({ text: 'Look', file });
    expect(session.getState()).toMatchObject({
      messages: [],
      error: { code: 'file_too_large', message: 'a.bin is too large.' },
      canRetry: false,
    });
    expect(isTooLarge({ size: MAX_FILE_BYTES } as File)).toBe(false);
  });

  it.each([
    [0, '0 bytes'],
    [1_023, '1023 bytes'],
    [1_024, '1 KB'],
    [1_600, '2 KB'],
    [1_024 * 1_024, '1 MB'],
    [MAX_FILE_BYTES, '1.4 MB'],
    [MAX_FILE_BYTES + 1, '1.5 MB'],
  ])('with a file of %i bytes names its size: %s', (bytes, size) => {
    expect(describeSize(bytes)).toBe(size);
  });
});

describe('an unfinished answer', () => {
  it('is resumed with "Retry" when the site was not there', async () => {
    const site = new Site().on('SubscribeToTask', done);
    site.configs = [offline, () => Response.json(CONFIG)];
    const session = site.session();
    session.restore({ contextId: 'c1', messages: [], unfinished: UNFINISHED });
    session.enter();
    await until(() => expect(session.getState()).toMatchObject({ phase: 'idle', canRetry: true }));
    expect(session.getState().error?.code).toBe('connection_lost');
    await session.retry();
    expect(last(session)).toMatchObject({ id: 'a1', text: 'Done.', state: 'complete' });
    expect(site.calls).toEqual(['SubscribeToTask']);
  });

  it('is resumed with "Retry" where it broke off, and can be stored meanwhile', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const site = new Site().on('SubscribeToTask', offline, offline, offline, offline, offline, done);
    const session = site.session();
    session.restore({ contextId: 'c1', messages: [], unfinished: UNFINISHED });
    session.enter();
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(8_000);
      expect(session.getState().phase).toBe('idle');
    });
    expect(session.getState()).toMatchObject({ error: { code: 'connection_lost' }, canRetry: true });
    expect(session.getConversation().unfinished).toMatchObject({ answerId: 'a1', answer: { taskId: 't1' } });
    const retried = session.retry();
    await vi.advanceTimersByTimeAsync(0);
    await retried;
    expect(last(session)).toMatchObject({ text: 'Done.', state: 'complete' });
    expect(session.getConversation().unfinished).toBeUndefined();
  });

  it('that the agent has failed is its own error, which is only reported', async () => {
    const site = new Site();
    const error = { jsonrpc: '2.0', id: 1, error: { code: -32_603, message: 'Out of order.' } };
    const events = [{ jsonrpc: '2.0', id: 1, result: { task: task('WORKING', 'Half') } }, error];
    const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    site.on('SendStreamingMessage', () => new Response(body, { headers: { 'content-type': 'text/event-stream' } }));
    const session = site.session();
    await session.send('Hello');
    expect(last(session)).toMatchObject({ text: 'Half', state: 'failed' });
    expect(session.getState().error).toBeUndefined();
    expect(site.errors).toMatchObject([
      { code: 'refused', cause: { message: expect.stringContaining('Out of order.') } },
    ]);
  });

  it('is dropped by a new conversation, and its connection closed', async () => {
    const site = new Site();
    site.on('SendStreamingMessage', site.openStream);
    const session = site.session();
    void session.send('Hello');
    await site.write({ task: task('WORKING', 'Half') });
    await until(() => expect(last(session)).toMatchObject({ text: 'Half' }));
    session.reset();
    expect(site.signal?.aborted).toBe(true);
    expect(session.getState()).toMatchObject({ messages: [], contextId: '', phase: 'idle', error: undefined });
    expect(session.getConversation()).toMatchObject({ contextId: '', unfinished: undefined, openTask: undefined });
  });
});

describe('a stop', () => {
  /** A chat whose agent is at work, once it has named its task. */
  async function working(cancel: () => Response, isNamed = true) {
    const site = new Site();
    site.on('SendStreamingMessage', site.openStream).on('CancelTask', cancel);
    const session = site.session();
    const sent = session.send('Hello');
    const name = async (): Promise<void> => {
      await site.write({ task: task('WORKING', 'Half') });
      await until(() => expect(last(session)).toMatchObject({ text: 'Half' }));
    };
    await (isNamed ? name() : until(() => expect(site.calls).toHaveLength(1)));
    return { site, session, sent, name };
  }

  it('is asked for once', async () => {
    const { site, session, sent } = await working(result(task('CANCELED')));
    const stops = [session.stop(), session.stop()];
    expect(session.getState().phase).toBe('stopping');
    await Promise.all(stops);
    await site.end({ task: task('CANCELED', 'Half') });
    await sent;
    await session.stop();
    expect(site.calls).toEqual(['SendStreamingMessage', 'CancelTask']);
    expect(last(session)).toMatchObject({ state: 'stopped' });
  });

  it('before the agent has named its task waits for the name', async () => {
    const { site, session, sent, name } = await working(result(task('CANCELED')), false);
    await session.stop();
    expect(site.calls).toEqual(['SendStreamingMessage']);
    await name();
    await until(() => expect(site.calls).toEqual(['SendStreamingMessage', 'CancelTask']));
    expect(session.getState().phase).toBe('stopping');
    await site.end({ task: task('CANCELED', 'Half') });
    await sent;
    expect(last(session)).toMatchObject({ state: 'stopped' });
  });

  it('before the site has responded does not send the message, and offers to retry', async () => {
    const site = new Site().on('SendStreamingMessage', done);
    let load = (_response: Response): void => undefined;
    site.configs = [() => new Promise<Response>((resolve) => (load = resolve)), () => Response.json(CONFIG)];
    const session = site.session();
    const sent = session.send('Hello');
    await session.stop();
    expect(session.getState()).toMatchObject({ phase: 'idle', canRetry: true, error: undefined });
    load(Response.json(CONFIG));
    await sent;
    expect(site.calls).toEqual([]);
    await session.retry();
    expect(session.getState().messages.map(({ text }) => text)).toEqual(['Hello', 'Done.']);
  });

  it('of an agent that answers without a task ends the request, and shows no more of the answer', async () => {
    const { site, session, sent } = await working(offline, false);
    await session.stop();
    await site.write({ message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'The whole answer' }] } });
    await sent;
    expect(last(session)).toMatchObject({ role: 'agent', text: '', state: 'stopped' });
    expect(session.getState()).toMatchObject({ phase: 'idle', error: undefined });
    expect(site.signal?.aborted).toBe(true);
    expect(site.calls).toEqual(['SendStreamingMessage']);
  });

  it('of an agent that sends nothing ends the request after two seconds', async () => {
    const { site, session, sent } = await working(offline, false);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    await session.stop();
    await vi.advanceTimersByTimeAsync(1_999);
    expect(session.getState().phase).toBe('stopping');
    await vi.advanceTimersByTimeAsync(1);
    await sent;
    expect(last(session)).toMatchObject({ role: 'agent', text: '', state: 'stopped' });
    expect(site.signal?.aborted).toBe(true);
  });

  it('of a resumed answer cancels its task as soon as the site has responded', async () => {
    const site = new Site();
    site.on('SubscribeToTask', site.openStream).on('CancelTask', result(task('CANCELED')));
    const session = site.session();
    session.restore({ contextId: 'c1', messages: [], unfinished: UNFINISHED });
    session.enter();
    await session.stop();
    await until(() => expect(site.calls).toContain('CancelTask'));
    await site.end({ task: task('CANCELED', 'Half') });
    await until(() => expect(session.getState().phase).toBe('idle'));
    expect(last(session)).toMatchObject({ state: 'stopped' });
  });

  it.each([
    ['WORKING', 'stopped'],
    ['CANCELED', 'stopped'],
    ['FAILED', 'failed'],
  ])('ends a stream that stays open two seconds later: %s is shown as %s', async (state, shown) => {
    const { session, sent } = await working(result(task(state)));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    await session.stop();
    await vi.advanceTimersByTimeAsync(1_999);
    expect(session.getState().phase).toBe('stopping');
    // The reader may rest for some milliseconds after it has read.
    await vi.advanceTimersByTimeAsync(100);
    await sent;
    expect(last(session)).toMatchObject({ text: 'Half', state: shown });
    expect(session.getState()).toMatchObject({ phase: 'idle', error: undefined });
  });

  it('that cannot reach the site says so', async () => {
    const { session, sent } = await working(offline);
    await session.stop();
    await sent;
    expect(session.getState()).toMatchObject({ error: { code: 'connection_lost' }, canRetry: false, phase: 'idle' });
  });
});

describe('a sign-in', () => {
  const asked = (): Site =>
    new Site()
      .on('SendStreamingMessage', result({ task: task('AUTH_REQUIRED') }))
      .on('SubscribeToTask', result({ task: task('COMPLETED', 'Done.') }));

  it.each<[string, () => Site]>([
    ['the agent requires', asked],
    ['the site requires', () => new Site().on('SendStreamingMessage', refusal(401, 'session_expired'), done)],
  ])('that %s is begun once, however often its button is pressed', async (_who, open) => {
    let finish = (): void => undefined;
    const signIn = vi.fn(() => new Promise<void>((resolve) => (finish = resolve)));
    const session = open().session(signIn);
    await session.send('Hello');
    const signedIn = [session.signIn(), session.signIn()];
    finish();
    await Promise.all(signedIn);
    expect(signIn).toHaveBeenCalledOnce();
    expect(last(session)).toMatchObject({ text: 'Done.' });
  });

  it.each<[string, () => unknown]>([
    ['rejects', () => Promise.reject(new Error('popup blocked'))],
    ['throws', () => lost(new Error('popup blocked'))],
  ])('whose handler %s is reported, and can be tried again', async (_how, fail) => {
    const site = asked();
    const signIn = vi.fn<() => unknown>().mockImplementationOnce(fail);
    const session = site.session(signIn);
    await session.send('Hello');
    await session.signIn();
    expect(site.errors).toMatchObject([{ cause: { message: 'popup blocked' } }]);
    expect(last(session)).toMatchObject({ state: 'auth-required' });
    await session.signIn();
    expect(last(session)).toMatchObject({ text: 'Done.' });
  });

  it.each<[string, () => Response]>([
    ['a complete answer', done],
    ['another error', refusal(403, 'origin_refused')],
  ])('is not offered after %s', async (_what, reply) => {
    const site = new Site().on('SendStreamingMessage', reply);
    const signIn = vi.fn();
    const session = site.session(signIn);
    await session.signIn();
    await session.send('Hello');
    await session.signIn();
    expect(signIn).not.toHaveBeenCalled();
    expect(site.calls).toHaveLength(1);
  });
});
