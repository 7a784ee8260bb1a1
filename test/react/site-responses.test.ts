import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import { ChatError } from '../../react/src/chat-error.js';
import { ConversationRecords } from '../../react/src/chat/conversation-records.js';
import { checkStatus, readJson, siteFetch, type SiteHeaders } from '../../react/src/site-fetch.js';

const ADDRESS = 'https://site.example/api/a2a';
const UNAVAILABLE = 'This is not available at the moment. Please try again later.';
const BUSY = 'This is busy at the moment. Please try again later.';
const REFUSED = 'This was not accepted.';
const SIGN_IN = 'Please sign in and try again.';
const LOST = 'The connection to the site was lost. Please try again.';
const MOUNT = 'Mount the routes of agent-bff at this address, or set "a2aEndpoint"';
const SERVER = 'Check that the server with the routes of agent-bff runs, and what its terminal says.';

beforeEach(() => void vi.stubGlobal('location', new URL('https://shop.example/page')));

const failureOf = (promise: Promise<unknown>): Promise<ChatError> =>
  promise.then(
    () => expect.fail('It does not fail.'),
    (error: ChatError) => error,
  );

describe('a request to the site', () => {
  const sent: [RequestInfo | URL, RequestInit | undefined][] = [];
  beforeEach(() => {
    sent.length = 0;
    vi.stubGlobal('fetch', async (url: RequestInfo | URL, init?: RequestInit) => {
      sent.push([url, init]);
      return new Response('hi');
    });
    return () => void vi.unstubAllGlobals();
  });

  it.each<[string, SiteHeaders | undefined]>([
    ['a value', { 'x-csrf': '1', accept: 'text/x' }],
    ['a function', () => [['x-csrf', '1'] as [string, string], ['accept', 'text/x'] as [string, string]]],
    ['an asynchronous function', async () => new Headers({ 'x-csrf': '1', accept: 'text/x' })],
  ])('has the cookies, and the fields of the page before its own: %s', async (_what, headers) => {
    const response = await siteFetch(() => headers)(ADDRESS, { method: 'POST', headers: { accept: 'a', 'a-b': 'c' } });
    const [[url, init] = []] = sent;
    expect([url, init?.method, init?.credentials]).toEqual([ADDRESS, 'POST', 'include']);
    expect([...new Headers(init?.headers)]).toEqual([
      ['a-b', 'c'],
      ['accept', 'text/x'],
      ['x-csrf', '1'],
    ]);
    expect(await response.text()).toBe('hi');
  });

  it('has only its own fields on a page without any', async () => {
    await siteFetch(() => undefined)(ADDRESS);
    expect(sent).toEqual([[ADDRESS, { credentials: 'include', headers: new Headers() }]]);
  });

  it.each([
    [ADDRESS, 'If https://site.example runs, add "https://shop.example" to its "allowedOrigins"'],
    ['/api/a2a', 'Failed to fetch'],
    ['https://shop.example/api/a2a', 'Failed to fetch'],
  ])('that fails names the fix if it was sent to another origin: %s', async (address, cause) => {
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
    const error = await failureOf(siteFetch(() => undefined)(address));
    expect([error.code, error.message]).toEqual(['connection_lost', LOST]);
    expect((error.cause as Error).message).toContain(cause);
  });

  it('that fails is a lost connection', async () => {
    vi.stubGlobal('location', new URL(ADDRESS));
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
    expect(await failureOf(siteFetch(() => undefined)(ADDRESS))).toMatchObject({
      code: 'connection_lost',
      message: LOST,
      cause: { message: 'Failed to fetch' },
    });
  });
});

/** A response from `ADDRESS`. */
function responding(body: BodyInit | object | null, init: ResponseInit = {}): Response {
  const isBody = body === null || typeof body === 'string' || body instanceof ReadableStream;
  const response = isBody ? new Response(body, init) : Response.json(body, init);
  return Object.defineProperty(response, 'url', { value: ADDRESS });
}

describe('a refusal', () => {
  const causeOf = async (response: Response): Promise<string> =>
    ((await failureOf(checkStatus(response))).cause as Error).message;
  const own = (code: string, status: number): Response =>
    responding({ type: `urn:agent-bff:error:${code}`, code, detail: 'No.' }, { status });

  it('of the page names its origin', async () => {
    expect(await causeOf(own('origin_refused', 403))).toBe(
      'The site responded with status 403. No. This page is of https://shop.example.',
    );
  });

  it('of a body parser, or of a proxy, names where to mount the routes', async () => {
    for (const body of ['<h1>PayloadTooLargeError</h1>', { error: 'too large' }])
      expect(await causeOf(responding(body, { status: 413 }))).toContain(
        'Mount the routes of agent-bff before body parsers such as express.json()',
      );
  });

  it('of the routes, or with another status, blames no parser', async () => {
    for (const response of [own('body_too_large', 413), responding('<h1>No</h1>', { status: 403 })])
      expect(await causeOf(response)).not.toContain('parser');
  });
});

describe('JSON of the site', () => {
  it('is read if it has the members', async () => {
    expect(await readJson(responding({ a: null, b: 1 }), 'a', 'b')).toEqual({ a: null, b: 1 });
  });

  it.each([
    ['without a member', responding({ a: 1 }), 'application/json'],
    ['of null', responding('null', { headers: { 'content-type': 'x/y' } }), 'x/y'],
    ['of a text', responding('"a b"'), 'text/plain;charset=UTF-8'],
    ['of a page', responding('<h1>', { headers: { 'content-type': 'text/html' } }), 'text/html'],
    ['of no type', responding(null), 'no content type'],
  ])('%s is not from the routes', async (_what, response, type) => {
    const { code, message, status, cause } = await failureOf(readJson<{ a: 1; b: 1 }>(response, 'a', 'b'));
    expect([code, message, status]).toEqual(['unreachable', UNAVAILABLE, 200]);
    expect(String(cause)).toContain(`${ADDRESS} gives ${type}, not a response of agent-bff. ${MOUNT}`);
  });

  it('that breaks is a lost connection', async () => {
    const body = new ReadableStream({ start: (controller) => controller.error(new TypeError('network error')) });
    expect((await failureOf(readJson(responding(body)))).code).toBe('connection_lost');
  });
});

describe('the conversation records of the site', () => {
  const asked: unknown[][] = [];
  const records = (response: Response) =>
    new ConversationRecords('/api/service', async (...call) => {
      asked.push(call);
      return response;
    });
  beforeEach(() => void (asked.length = 0));

  it('are listed with their names, except those without an id', async () => {
    const conversations = [{ id: 'a', title: 'One', updatedAt: '2026-01-01' }, { title: 'No id' }, null, { id: 'b' }];
    expect(await records(responding({ conversations })).list()).toEqual([
      { id: 'a', title: 'One', updatedAt: '2026-01-01' },
      { id: 'b', title: '', updatedAt: '' },
    ]);
    expect(asked).toEqual([['/api/service/conversations']]);
  });

  it('are read as messages of the visitor and the agent', async () => {
    const messages = [{ role: 'user', text: 'Hello' }, { role: 'agent' }];
    expect(await records(responding({ messages })).read('a/b')).toEqual([
      { id: 'a/b-0', role: 'user', text: 'Hello' },
      { id: 'a/b-1', role: 'agent', text: '', state: 'complete' },
    ]);
    expect(asked).toEqual([['/api/service/conversations/a%2Fb']]);
  });

  it('are deleted, and a refusal is an error', async () => {
    await records(responding(null, { status: 204 })).delete('a?');
    expect(asked).toEqual([['/api/service/conversations/a%3F', { method: 'DELETE' }]]);
    const refused = records(responding({ code: 'session_expired' }, { status: 401 }));
    expect((await failureOf(refused.delete('a'))).message).toBe(SIGN_IN);
  });
});

describe('an error of the site', () => {
  const ours = (code: string, more: object = {}) => ({ type: `urn:agent-bff:error:${code}`, code, ...more });

  it('whose text is lost is still an error', async () => {
    const body = new ReadableStream({ start: (controller) => controller.error(new TypeError('network error')) });
    expect(await failureOf(checkStatus(responding(body, { status: 429 })))).toMatchObject({
      message: BUSY,
      status: 429,
    });
  });

  it('is none for a success', async () => {
    expect(await checkStatus(responding(null, { status: 204 }))).toBeUndefined();
  });

  it.each<[string, number, object | string, string, object, string]>([
    [
      'of another server',
      404,
      '<h1 a="b">Not\n found</h1><p>Sorry',
      UNAVAILABLE,
      { code: 'unreachable' },
      `${ADDRESS} responded with status 404: Not found Sorry ${MOUNT}`,
    ],
    [
      'of a proxy without a server, with the beginning of its page',
      500,
      `<p>${'x'.repeat(300)}`,
      UNAVAILABLE,
      { code: 'unreachable' },
      `${ADDRESS} responded with status 500: ${'x'.repeat(200)} ${SERVER}`,
    ],
    [
      'of a proxy whose page begins with a long style',
      502,
      `<${'x'.repeat(2_000)}>Words`,
      UNAVAILABLE,
      { code: 'unreachable' },
      `status 502: <${'x'.repeat(199)} ${SERVER}`,
    ],
    ['of a proxy that wants a sign-in', 401, '<b>In', SIGN_IN, { code: 'refused' }, 'with status 401. In'],
    ['of a proxy that forbids it', 403, 'No', REFUSED, { code: 'refused' }, 'The site responded with status 403. No'],
    ['of a proxy that waited too long', 408, '', LOST, { code: 'refused' }, 'with status 408.'],
    ['of a proxy with a limit of size', 413, '', REFUSED, { code: 'refused' }, 'with status 413.'],
    ['of a proxy with a limit', 429, '', BUSY, { code: 'refused' }, 'with status 429.'],
    [
      'that names its request',
      400,
      ours('body_invalid', { detail: 'The body.', hint: 'Send JSON.', title: 'No', requestId: 'r1' }),
      REFUSED,
      { reason: 'body_invalid', requestId: 'r1' },
      'The site responded with status 400. The body. Send JSON. (request r1)',
    ],
    [
      'for the operator, with the request for the visitor to pass on',
      401,
      ours('service_auth_failed', { requestId: 'r1' }),
      `${UNAVAILABLE} (ID r1)`,
      { code: 'refused', requestId: 'r1' },
      'with status 401. (request r1)',
    ],
    ['of the server', 500, ours('internal_error', { title: 'Oh' }), UNAVAILABLE, {}, 'with status 500. Oh'],
    ['of the credential', 401, ours('service_token_rejected'), UNAVAILABLE, { requestId: undefined }, ''],
    ['of the provider', 401, ours('identity_provider_unavailable'), UNAVAILABLE, {}, ''],
    ['of the host', 421, ours('host_refused'), UNAVAILABLE, {}, ''],
    ['of the route', 404, ours('not_found'), UNAVAILABLE, {}, ''],
    ['of a configuration block', 403, ours('x', { block: 'idpA' }), UNAVAILABLE, {}, ''],
    ['of a missing session', 403, ours('session_required'), SIGN_IN, {}, ''],
    ['of an old session', 401, ours('session_expired'), SIGN_IN, {}, ''],
    ['of consent', 403, ours('interaction_required'), SIGN_IN, {}, ''],
    ['of another kind with 401', 401, ours('x'), REFUSED, {}, ''],
    ['of a full server', 503, ours('server_busy'), BUSY, {}, ''],
    ['without a type', 403, { code: 'origin_refused', detail: 'For operators.' }, REFUSED, {}, 'For operators.'],
    [
      'of the site itself',
      403,
      { type: 'https://site.example/quota', code: 'quota', detail: 'Your quota is used up.' },
      'Your quota is used up.',
      { code: 'refused', reason: 'quota', status: 403 },
      'Your quota is used up.',
    ],
    ['of the site without a code', 422, { code: '', detail: 'Too long.' }, 'Too long.', { reason: undefined }, ''],
    ['of the platform', 422, { error: { message: 'No such poll.' } }, 'No such poll.', {}, 'No such poll.'],
    ['of the platform, with 500', 500, { error: { message: 'Bug.' } }, UNAVAILABLE, {}, 'Bug.'],
    ['of the platform in other words', 422, { error: 'x', title: 'Oh' }, REFUSED, {}, 'with status 422. Oh'],
    ['with a detail that is no text', 422, { detail: 7, hint: 8, requestId: 9 }, REFUSED, { requestId: undefined }, ''],
  ])('%s', async (_whose, status, body, message, facts, cause) => {
    const error = await failureOf(checkStatus(responding(body, { status })));
    expect(error).toBeInstanceOf(ChatError);
    expect(error).toMatchObject({ message, status, ...facts });
    expect(String(error.cause)).toContain(cause);
  });

  const AT = 'Wed, 25 Nov 2026 10:00:00 GMT';
  const LATER = 'Wed, 25 Nov 2026 10:00:07 GMT';
  it.each<[string | undefined, string | undefined, number | undefined]>([
    ['7', undefined, 7_000],
    ['0', undefined, undefined],
    [LATER, AT, 7_000],
    [AT, LATER, undefined],
    [LATER, undefined, 17_000],
    [LATER, 'some day', 17_000],
    ['soon', AT, undefined],
    [undefined, AT, undefined],
  ])('names the pause of Retry-After: %s at %s', async (value, date, ms) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(AT) - 10_000 });
    onTestFinished(() => void vi.useRealTimers());
    const headers = { ...(value !== undefined && { 'retry-after': value }), ...(date !== undefined && { date }) };
    const error = await failureOf(checkStatus(responding({ code: 'x' }, { status: 429, headers })));
    expect(error.retryAfterMs).toBe(ms);
  });
});
