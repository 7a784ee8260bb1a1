import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import { emptyAnswer } from '../../react/src/chat/answer.js';
import { ChatSession } from '../../react/src/chat/chat-session.js';
import type { Conversation } from '../../react/src/chat/turn.js';
import { partsOf, type StoredMessage } from '../../react/src/chat/message-parts.js';
import { isConversation, keepConversation } from '../../react/src/chat/kept-conversation.js';
import { type ChatError, lost } from '../../react/src/chat-error.js';

const CONFIG = {
  agentCard: { name: 'Agent', capabilities: { streaming: true }, supportedInterfaces: [{ protocolVersion: '1.0' }] },
  brandCss: '',
};
const task = (state: string, text?: string) => ({
  id: 't1',
  contextId: 'c1',
  status: { state: `TASK_STATE_${state}` },
  artifacts: text === undefined ? [] : [{ artifactId: 'a', parts: [{ text }] }],
});

/** Waits long enough for a busy machine. */
const until = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 20_000 });

/** A site whose agent responds with what a test writes. */
class Site {
  readonly calls: string[] = [];
  /** The contexts of the messages so far. */
  readonly contexts: (string | undefined)[] = [];
  readonly errors: ChatError[] = [];
  /** Of the request made last. */
  signal: AbortSignal | undefined;
  readonly #replies: Record<string, (() => Response)[]> = {};
  #write: ((result: object) => void) | undefined;

  on(method: string, ...replies: (() => Response)[]): this {
    this.#replies[method] = replies;
    return this;
  }

  /** A stream that stays open until a test ends it. */
  readonly openStream = (): Response => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#write = (result) => {
          controller.enqueue(
            new TextEncoder().encode(`data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result })}\n\n`),
          );
        };
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };

  async write(result: object): Promise<void> {
    await until(() => expect(this.#write).toBeDefined());
    this.#write?.(result);
  }

  session(onSignIn?: () => unknown): ChatSession {
    return new ChatSession({
      a2aEndpoint: 'https://site.example/api/a2a',
      configEndpoint: 'https://site.example/api/a2a/config',
      fetch: async (url, init) => {
        init?.signal?.throwIfAborted();
        this.signal = init?.signal ?? undefined;
        if (String(url).endsWith('/config')) return Response.json(CONFIG);
        const { method, params } = JSON.parse(String(init?.body)) as {
          method: string;
          params: { message?: { contextId?: string } };
        };
        this.calls.push(method);
        if (params.message !== undefined) this.contexts.push(params.message.contextId);
        const replies = this.#replies[method] ?? [];
        const reply = replies.length > 1 ? replies.shift() : replies[0];
        if (reply === undefined) lost(new TypeError('Failed to fetch'));
        return reply();
      },
      taskTimeoutMs: () => 600_000,
      onError: (error) => void this.errors.push(error),
      onSignIn: () => onSignIn,
    });
  }
}

const result = (value: object) => () => Response.json({ jsonrpc: '2.0', id: 1, result: value });
const refusal =
  (status: number, code: string, headers = {}) =>
  () =>
    Response.json(
      {
        jsonrpc: '2.0',
        id: 1,
        error: {
          code: -32603,
          message: 'Set "serviceAuthStrategy".',
          data: [{ domain: 'agent-bff', metadata: { code } }],
        },
      },
      { status, headers },
    );
const TEXT = { id: 'a/0', type: 'text', text: 'Half an' } as const;

/** The session of the next page in the same tab. */
function reloaded(site: Site, session: ChatSession): ChatSession {
  const kept: unknown = JSON.parse(JSON.stringify(session.getConversation()));
  if (!isConversation(kept)) throw new Error('It is not what a page reads again.');
  const next = site.session();
  next.restore(kept);
  return next;
}

const last = (session: ChatSession) => session.getState().messages.at(-1);

beforeEach(() => {
  vi.stubGlobal('addEventListener', () => undefined);
  vi.stubGlobal('removeEventListener', () => undefined);
  vi.stubGlobal('document', { baseURI: 'https://site.example/', visibilityState: 'visible' });
  vi.stubEnv('NODE_ENV', 'production');
  return () => {
    vi.unstubAllGlobals();
    vi.unstubAllEnvs();
  };
});

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
    await site.write({ task: task('COMPLETED', '42') });
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
  await site.write({ task: task('COMPLETED', 'It is 42.') });
  await sent;
});

it('an answer that has ended lets go of a stream that the agent leaves open', async () => {
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

  it.each<[string, unknown]>([
    ['null', null],
    ['no messages', { contextId: 'c' }],
    ['a null entry', { contextId: 'c', messages: [null] }],
    ['an invalid text', { contextId: 'c', messages: [{ ...message, text: null }] }],
    ['an unknown state', { contextId: 'c', messages: [{ ...message, state: 'x' }] }],
    ['an unknown part', { contextId: 'c', messages: [{ ...message, parts: [{ id: '1', type: 'x' }] }] }],
    ['an open task without its seen parts', { contextId: 'c', messages: [], openTask: { id: 't' } }],
    ['an invalid answer', { contextId: 'c', messages: [], unfinished: { answerId: 'a', answer: {} } }],
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
});

describe('the message of a failure', () => {
  it.each<[string, () => Response, string, object]>([
    [
      'of the session',
      refusal(401, 'session_required'),
      'Please sign in and try again.',
      { reason: 'session_required', status: 401 },
    ],
    [
      'of the credential',
      refusal(401, 'service_auth_failed'),
      'This is not available at the moment. Please try again later.',
      { reason: 'service_auth_failed' },
    ],
    [
      'of the limit',
      refusal(429, 'rate_limited', { 'retry-after': '7' }),
      'This is busy at the moment. Please try again later.',
      { retryAfterMs: 7000 },
    ],
    [
      'of the limit until some date of the server’s clock',
      refusal(429, 'rate_limited', {
        date: 'Wed, 25 Nov 2026 10:00:00 GMT',
        'retry-after': 'Wed, 25 Nov 2026 10:00:07 GMT',
      }),
      'This is busy at the moment. Please try again later.',
      { retryAfterMs: 7000 },
    ],
    [
      'of a full server',
      refusal(503, 'server_busy'),
      'This is busy at the moment. Please try again later.',
      { reason: 'server_busy' },
    ],
    ...(
      [
        [401, 'identity_provider_unavailable'],
        [401, 'service_token_rejected'],
        [404, 'not_found'],
        [421, 'host_refused'],
        [500, 'internal_error'],
        [502, 'upstream_unreachable'],
      ] as const
    ).map(
      ([status, code]) =>
        [
          `of the site (${code})`,
          refusal(status, code),
          'This is not available at the moment. Please try again later.',
          { reason: code },
        ] as const satisfies [string, unknown, string, object],
    ),
    ['of its size', refusal(413, 'body_too_large'), 'This was not accepted.', { reason: 'body_too_large' }],
    [
      'of its size, by a proxy',
      () => new Response('<h1>serviceAuthStrategy</h1>', { status: 413 }),
      'This was not accepted.',
      { status: 413 },
    ],
    [
      'of a slow connection',
      refusal(408, 'body_timeout'),
      'The connection to the site was lost. Please try again.',
      { reason: 'body_timeout' },
    ],
    ['of the origin', refusal(403, 'origin_refused'), 'This was not accepted.', { reason: 'origin_refused' }],
    [
      'of the agent',
      () => Response.json({ jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'TypeError: x' } }),
      'The agent could not finish this.',
      { code: 'refused' },
    ],
    [
      'of another site',
      () => Response.json({ message: 'x' }),
      'This is not available at the moment. Please try again later.',
      { code: 'unreachable' },
    ],
    [
      'of a missing route',
      () => new Response('<h1>Not found</h1>', { status: 404, headers: { 'content-type': 'text/html' } }),
      'This is not available at the moment. Please try again later.',
      { code: 'unreachable', status: 404 },
    ],
    [
      'of a proxy',
      () => new Response('<h1>Bad gateway</h1>', { status: 502, headers: { 'content-type': 'text/html' } }),
      'This is not available at the moment. Please try again later.',
      { code: 'unreachable', status: 502 },
    ],
    [
      'of an event that never ends',
      () => new Response(`data: ${'x'.repeat(17 * 1024 * 1024)}`, { headers: { 'content-type': 'text/event-stream' } }),
      'The answer could not be read. Please try again later.',
      { code: 'unreadable' },
    ],
    [
      'of an unknown form',
      result({ hello: 1 }),
      'The answer could not be read. Please try again later.',
      { code: 'unreadable' },
    ],
  ])('%s is for visitors, and its cause for operators', async (_what, reply, words, facts) => {
    const site = new Site().on('SendStreamingMessage', reply).on('message/stream', reply);
    const session = site.session();
    await session.send('Hello');
    expect(session.getState()).toMatchObject({ error: { message: words, ...facts }, canRetry: true, phase: 'idle' });
    expect(site.errors).toHaveLength(1);
    expect(String(site.errors[0]?.cause)).toMatch(
      /serviceAuthStrategy|TypeError: x|gives application\/json|status 404: .*"a2aEndpoint" .* base path|status 502|too long|hello/,
    );
  });

  it('an answer whose agent confirms the stop is stopped, though its stream calls it complete', async () => {
    const site = new Site();
    site.on('SendStreamingMessage', site.openStream).on('CancelTask', result({ task: task('CANCELED') }));
    const session = site.session();
    const sent = session.send('Hello');
    await site.write({ task: task('WORKING', 'It is') });
    await until(() => expect(last(session)).toMatchObject({ text: 'It is' }));
    await session.stop();
    await site.write({ statusUpdate: { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } } });
    await sent;
    expect(last(session)).toMatchObject({ state: 'stopped' });
  });

  it('an agent that cannot be stopped is left with a notice', async () => {
    const site = new Site();
    const cannot = () => Response.json({ jsonrpc: '2.0', id: 1, error: { code: -32004, message: 'No' } });
    site.on('SendStreamingMessage', site.openStream).on('CancelTask', cannot);
    const session = site.session();
    const sent = session.send('Hello');
    await site.write({ task: task('WORKING', 'It is') });
    await until(() => expect(last(session)).toMatchObject({ text: 'It is' }));
    await session.stop();
    expect(session.getState().error?.message).toBe('The agent cannot be stopped and may go on working.');
    void sent;
  });
});

describe('a sign-in', () => {
  it('that the agent needs is the site’s, and the task resumes afterwards', async () => {
    const site = new Site();
    site
      .on('SendStreamingMessage', result({ task: task('AUTH_REQUIRED') }))
      .on('SubscribeToTask', result({ task: task('COMPLETED', 'Done.') }));
    const signIn = vi.fn(async () => undefined);
    const session = site.session(signIn);
    await session.send('Hello');
    expect(last(session)).toMatchObject({ state: 'auth-required' });
    await session.signIn();
    expect(signIn).toHaveBeenCalledWith(expect.objectContaining({ state: 'auth-required' }));
    await until(() => expect(last(session)).toMatchObject({ text: 'Done.', state: 'complete' }));
  });

  it('that the site needs is followed by another attempt', async () => {
    const site = new Site().on(
      'SendStreamingMessage',
      refusal(401, 'session_expired'),
      result({ task: task('COMPLETED', 'Hi.') }),
    );
    const session = site.session(() => undefined);
    await session.send('Hello');
    await session.signIn();
    expect(last(session)).toMatchObject({ text: 'Hi.' });
    expect(site.calls).toHaveLength(2);
  });
});

describe("a conversation that is not the visitor's any more", () => {
  const CODE = 'conversation_unknown';
  const welcome = result({ task: { ...task('COMPLETED', 'Welcome.'), contextId: 'c2' } });
  const EARLIER = [
    { id: '1', role: 'user', text: 'Before' },
    { id: '2', role: 'agent', text: 'It is 42.', state: 'complete' },
  ] as const;
  const ENDED = 'This conversation cannot be continued here.';
  /** The texts of the conversation, with a line where one ends and the next one begins. */
  const read = (session: ChatSession) =>
    session
      .getState()
      .messages.flatMap(({ text, endsConversation }: StoredMessage) => (endsConversation ? [text, '---'] : [text]));

  it('says so, and goes on as a new one when tried again', async () => {
    const site = new Site();
    site.on('SendStreamingMessage', refusal(200, CODE), welcome);
    const session = site.session();
    session.restore({ contextId: 'c1', messages: EARLIER });
    await session.send('Hello');
    expect(session.getState()).toMatchObject({ contextId: '', canRetry: true });
    expect(session.getState().error?.message).toBe(`${ENDED} Try again to start a new one.`);
    expect(site.errors).toEqual([expect.objectContaining({ code: 'refused', reason: CODE })]);
    expect(read(session)).toEqual(['Before', 'It is 42.', '---', 'Hello']);
    await session.retry();
    expect(session.getState().contextId).toBe('c2');
    expect(site.contexts).toEqual(['c1', undefined]);
    expect(read(session)).toEqual(['Before', 'It is 42.', '---', 'Hello', 'Welcome.']);
  });

  it.each(['resubscribed', 'polled', 'stored by the tab'])(
    'is told apart from the next one when it is %s',
    async (how) => {
      const site = new Site();
      site.on('SubscribeToTask', refusal(200, CODE)).on('GetTask', refusal(200, CODE));
      if (how === 'polled') site.on('SubscribeToTask', result({ task: task('WORKING') }));
      let session = site.session();
      const answer = { ...emptyAnswer('', 't1', 'c1'), artifacts: [{ id: 'a', parts: [TEXT] }] };
      session.restore({ contextId: 'c1', messages: EARLIER, unfinished: { answerId: 'a1', answer } });
      session.enter();
      await until(() => expect(session.getState().error).toBeDefined());
      expect(session.getState()).toMatchObject({ contextId: '', canRetry: false });
      expect(session.getState().error?.message).toBe(`${ENDED} Your next message starts a new one.`);
      if (how === 'stored by the tab') session = reloaded(site, session);
      site.on('SendStreamingMessage', welcome);
      await session.send('Hello');
      expect(site.contexts).toEqual([undefined]);
      expect(read(session)).toEqual(['Before', 'It is 42.', 'Half an', '---', 'Hello', 'Welcome.']);
    },
  );

  it('goes on when it is opened again and is the visitor’s once more, as after a sign-in', async () => {
    const site = new Site();
    site.on('SendStreamingMessage', refusal(200, CODE), welcome);
    const session = site.session();
    session.open('c1', EARLIER);
    await session.send('Hello');
    session.open('c1', EARLIER);
    await session.send('Hello again');
    expect(site.contexts).toEqual(['c1', 'c1']);
    expect(read(session)).not.toContain('---');
  });
});
