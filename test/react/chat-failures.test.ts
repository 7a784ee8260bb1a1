import { beforeEach, describe, expect, it, vi } from 'vitest';

import { emptyAnswer } from '../../react/src/chat/answer.js';
import type { ChatSession } from '../../react/src/chat/chat-session.js';
import type { StoredMessage } from '../../react/src/chat/message-parts.js';
import { last, openPage, refusal, reloaded, result, Site, task, TEXT, until } from './chat-site.js';

beforeEach(openPage);

describe('the message of a failure', () => {
  const UNAVAILABLE = 'This is not available at the moment. Please try again later.';
  const BUSY = 'This is busy at the moment. Please try again later.';
  const REFUSED = 'This was not accepted.';
  const UNREADABLE = 'The answer could not be read. Please try again later.';

  type Row = [whose: string, reply: () => Response, words: string, facts: object];
  const ofSite = (status: number, code: string): Row => [
    `of the site (${code})`,
    refusal(status, code),
    UNAVAILABLE,
    { reason: code },
  ];
  const page = (status: number, text: string) => () =>
    new Response(text, { status, headers: { 'content-type': 'text/html' } });

  it.each<Row>([
    [
      'of the session',
      refusal(401, 'session_required'),
      'Please sign in and try again.',
      { reason: 'session_required', status: 401 },
    ],
    ['of the credential', refusal(401, 'service_auth_failed'), UNAVAILABLE, { reason: 'service_auth_failed' }],
    ['of the limit', refusal(429, 'rate_limited', { 'retry-after': '7' }), BUSY, { retryAfterMs: 7000 }],
    [
      'of the limit until some date of the server’s clock',
      refusal(429, 'rate_limited', {
        date: 'Wed, 25 Nov 2026 10:00:00 GMT',
        'retry-after': 'Wed, 25 Nov 2026 10:00:07 GMT',
      }),
      BUSY,
      { retryAfterMs: 7000 },
    ],
    ['of a full server', refusal(503, 'server_busy'), BUSY, { reason: 'server_busy' }],
    ofSite(401, 'identity_provider_unavailable'),
    ofSite(401, 'service_token_rejected'),
    ofSite(404, 'not_found'),
    ofSite(421, 'host_refused'),
    ofSite(500, 'internal_error'),
    ofSite(502, 'upstream_unreachable'),
    ['of its size', refusal(413, 'body_too_large'), REFUSED, { reason: 'body_too_large' }],
    ['of its size, by a proxy', page(413, '<h1>serviceAuthStrategy</h1>'), REFUSED, { status: 413 }],
    [
      'of a slow connection',
      refusal(408, 'body_timeout'),
      'The connection to the site was lost. Please try again.',
      { reason: 'body_timeout' },
    ],
    ['of the origin', refusal(403, 'origin_refused'), REFUSED, { reason: 'origin_refused' }],
    [
      'of the agent',
      () => Response.json({ jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'TypeError: x' } }),
      'The agent could not finish this.',
      { code: 'refused' },
    ],
    ['of another site', () => Response.json({ message: 'x' }), UNAVAILABLE, { code: 'unreachable' }],
    ['of a missing route', page(404, '<h1>Not found</h1>'), UNAVAILABLE, { code: 'unreachable', status: 404 }],
    ['of a proxy', page(502, '<h1>Bad gateway</h1>'), UNAVAILABLE, { code: 'unreachable', status: 502 }],
    [
      'of an event that never ends',
      () => new Response(`data: ${'x'.repeat(17 * 1024 * 1024)}`, { headers: { 'content-type': 'text/event-stream' } }),
      UNREADABLE,
      { code: 'unreadable' },
    ],
    ['of an unknown form', result({ hello: 1 }), UNREADABLE, { code: 'unreadable' }],
  ])('%s is for visitors, and its cause for operators', async (_what, reply, words, facts) => {
    const site = new Site().on('SendStreamingMessage', reply).on('message/stream', reply);
    const session = site.session();
    await session.send('Hello');
    expect(session.getState()).toMatchObject({ error: { message: words, ...facts }, canRetry: true, phase: 'idle' });
    expect(site.errors).toHaveLength(1);
    expect(String(site.errors[0]?.cause)).toMatch(
      /serviceAuthStrategy|TypeError: x|gives application\/json, and not what an agent sends|status 404: .*"a2aEndpoint" .* base path|status 502|too long|hello/,
    );
  });

  it('an answer whose agent confirms the stop is shown as stopped, even if its stream calls it complete', async () => {
    const site = new Site();
    site.on('SendStreamingMessage', site.openStream).on('CancelTask', result({ task: task('CANCELED') }));
    const session = site.session();
    const sent = session.send('Hello');
    await site.write({ task: task('WORKING', 'It is') });
    await until(() => expect(last(session)).toMatchObject({ text: 'It is' }));
    await session.stop();
    await site.end({ statusUpdate: { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } } });
    await sent;
    expect(last(session)).toMatchObject({ state: 'stopped' });
  });

  it('a notice is shown when the agent cannot be stopped', async () => {
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
  it('that the agent requires is done by the site, and the task resumes', async () => {
    const site = new Site();
    site
      .on('SendStreamingMessage', result({ task: task('AUTH_REQUIRED') }))
      .on('SubscribeToTask', result({ task: task('COMPLETED', 'Done.') }));
    const signIn = vi.fn(async () => undefined);
    const session = site.session(signIn);
    await session.send('Hello');
    expect(last(session)).toMatchObject({ state: 'auth-required' });
    await session.signIn();
    expect(signIn).toHaveBeenCalledWith(expect.objectContaining({ state: 'auth-required' }), { claims: undefined });
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

  it('is reported, and continues as a new one after a retry', async () => {
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
    'shows a line below its last message when it is %s, and the next message starts a new conversation',
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

  it('continues when opened again once it is the visitor’s, as after a sign-in', async () => {
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
