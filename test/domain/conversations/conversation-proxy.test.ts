import { describe, expect, it } from 'vitest';
import { FakeSessionTokenSource, FakeUpstream } from '../../../src/adapters/fakes/fakes.js';
import {
  ConversationProxy,
  type ConversationRequest,
  isForwardedMethod,
  type SessionRequired,
} from '../../../src/domain/conversations/conversation-proxy.js';
import type { PlatformApi } from '../../../src/domain/upstream/platform-api.js';
import { PATH_CORPUS } from '../../support/path-corpus.js';
import { WatchedBody } from '../chat/chat-world.js';
import { BrokerWorld, sessionPlan, TIMEOUTS } from '../credentials/broker-fixture.js';
import type { HttpBody } from '../../../src/ports/http.js';
import { API } from '../surfaces/surface-world.js';

const ADA = { kind: 'token', accessToken: 'ada-token' } as const;

class ProxyWorld extends BrokerWorld {
  readonly upstream: FakeUpstream = new FakeUpstream();
  readonly source: FakeSessionTokenSource = new FakeSessionTokenSource(ADA);
  readonly proxy: ConversationProxy;

  constructor(api: Partial<PlatformApi> = {}) {
    super();
    this.proxy = new ConversationProxy({
      call: this.callThrough(this.upstream),
      timeouts: TIMEOUTS,
      api: { ...API, ...api },
    });
  }

  forward(changes: Partial<ConversationRequest> = {}) {
    const auth = { ...sessionPlan(this.source), required: true } as SessionRequired;
    return this.proxy.forward(
      {
        method: 'GET',
        path: '/conversations',
        query: '',
        headers: {},
        body: null,
        native: { request: undefined },
        signal: new AbortController().signal,
        ...changes,
      },
      auth,
    );
  }
}

describe('a request for conversation records', () => {
  it.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])(
    'is forwarded unread with its body: %s',
    async (method) => {
      const world = new ProxyWorld();
      const body = new WatchedBody('one', 'two');
      const { signal } = new AbortController();
      const headers = {
        'content-type': 'image/png',
        'content-encoding': 'gzip',
        'content-length': '6',
        'if-match': '"1"',
        range: 'bytes=0-1',
        cookie: 'sid=1',
        authorization: 'Bearer theirs',
      };
      await world.forward({ method, path: '/conversations/%41/', query: '?a=1&a=2&b=%2e%2e', headers, body, signal });
      expect(world.upstream.requests).toEqual([
        {
          method,
          origin: 'https://platform.example',
          path: '/api/conversations/%41/?a=1&a=2&b=%2e%2e',
          headers: {
            'content-type': 'image/png',
            'content-encoding': 'gzip',
            'content-length': '6',
            'if-match': '"1"',
            range: 'bytes=0-1',
            authorization: 'Bearer ada-token',
            'x-api-key': 'site-key',
            'x-project-id': 'proj-1',
          },
          body,
          signal,
          headersMs: 60_000,
          bodyIdleMs: 30_000,
        },
      ]);
      expect(world.upstream.requests[0]?.body).toBe(body);
      expect(isForwardedMethod(method)).toBe(true);
    },
  );

  it.each<[string, HttpBody, string]>([
    ['rewritten as text, which is UTF-8', '{"name":"Zoë"}', 'application/json;profile=a'],
    ['as bytes', new Uint8Array(2), 'application/json;profile=a;Charset=utf-16'],
    ['absent', null, 'application/json;profile=a;Charset=utf-16'],
  ])('has the type and no longer the Content-Length of a body that is %s', async (_what, body, expected) => {
    const world = new ProxyWorld();
    const headers = { 'content-length': '999', 'content-type': 'application/json;profile=a;Charset=utf-16' };
    await world.forward({ method: 'POST', headers, body });
    expect(world.upstream.requests).toMatchObject([{ headers: { 'content-type': expected } }]);
    expect(world.upstream.requests[0]?.headers['content-length']).toBeUndefined();
  });

  it("returns the platform's own stream, not a copy", async () => {
    const world = new ProxyWorld();
    const body = new WatchedBody('a', 'b');
    const headers = {
      'content-type': 'video/mp4',
      'content-range': 'bytes 0-1/9',
      'cache-control': 'public',
      'set-cookie': 'a=b',
      location: '/x',
    };
    world.upstream.willAnswer(() => ({ status: 206, headers, body }));
    const response = await world.forward();
    expect(response.body).toBe(body);
    expect(response).toMatchObject({
      status: 206,
      headers: {
        'content-type': 'video/mp4',
        'content-range': 'bytes 0-1/9',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      },
    });
    expect(Object.keys(response.headers)).toHaveLength(4);
  });

  it('uses the path configured by the site', async () => {
    const world = new ProxyWorld({
      paths: { ...API.paths, conversations: '/v2/{projectId}/{path}' },
      endpoint: { origin: 'https://p.example', path: '/base/' },
    });
    await world.forward({ path: '/a/b%20c', query: '?d' });
    expect(world.upstream.requests.map(({ origin, path }) => origin + path)).toEqual([
      'https://p.example/base/v2/proj-1/a/b%20c?d',
    ]);
  });

  it.each(PATH_CORPUS)('with $what ($path) goes to $record', async ({ path, record }) => {
    const world = new ProxyWorld();
    const answer = world.forward({ path });
    if (record === null)
      await expect(answer).rejects.toMatchObject({ code: 'not_found', detail: 'There is no such route.' });
    else await answer;
    expect(world.upstream.requests.map((sent) => sent.path)).toEqual(record === null ? [] : [`/api${record}`]);
    if (record === null) expect(world.source.queries).toEqual([]);
  });

  it.each(['?a#b', '?a b', '?\r\nHost: x', '?ü', 'a'])(
    'with the query %j is rejected without a call',
    async (query) => {
      const world = new ProxyWorld();
      await expect(world.forward({ query })).rejects.toMatchObject({ code: 'not_found' });
      expect(world.upstream.requests).toEqual([]);
    },
  );

  it.each([
    [{ kind: 'no-session' }, 'session_required'],
    [{ kind: 'expired' }, 'session_expired'],
  ] as const)('is rejected without a session: %j', async (session, code) => {
    const world = new ProxyWorld();
    world.source.session = session;
    await expect(world.forward()).rejects.toMatchObject({ code });
    expect(world.upstream.requests).toEqual([]);
  });

  it('to open a WebSocket is rejected with an explanation, and other upgrades are ignored', async () => {
    const world = new ProxyWorld();
    await expect(world.forward({ headers: { connection: 'Upgrade', upgrade: 'WebSocket' } })).rejects.toMatchObject({
      code: 'upgrade_unsupported',
      detail: 'This route forwards HTTP only; WebSocket is not supported.',
      hint: 'Read the records by HTTP; responses may stream.',
    });
    expect(world.upstream.requests).toEqual([]);
    await world.forward({ headers: { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c' } });
    expect(world.upstream.requests[0]?.headers).not.toHaveProperty('upgrade');
  });

  it.each(['TRACE', 'TRACK', 'CONNECT', 'trace'])(
    'with the method %s is rejected, as the response could echo the credential',
    (method) => {
      expect(isForwardedMethod(method)).toBe(false);
    },
  );
});

describe("the platform's response to a request for conversation records", () => {
  it.each([301, 302, 303, 307, 308])('is never a redirect (%i)', async (status) => {
    const world = new ProxyWorld();
    const body = new WatchedBody('moved');
    world.upstream.willAnswer(() => ({ status, headers: { location: 'https://evil.example' }, body }));
    await expect(world.forward()).rejects.toMatchObject({ code: 'upstream_redirect', fields: ['serviceApiUrl'] });
    expect([world.upstream.requests.length, body.ended]).toEqual([1, true]);
  });

  it.each([304, 401, 403, 404, 409, 429])('is forwarded with status %i, without a retry', async (status) => {
    const world = new ProxyWorld();
    world.upstream.willAnswer(() => ({ status, headers: { 'content-type': 'application/json' }, body: '{}' }));
    expect((await world.forward({ method: 'POST', body: '{}' })).status).toBe(status);
    expect(world.upstream.requests).toHaveLength(1);
  });

  it('keeps the status of an error but not its body', async () => {
    const world = new ProxyWorld();
    const body = new WatchedBody('stack trace');
    world.upstream.willAnswer(() => ({ status: 503, headers: { 'retry-after': '7' }, body }));
    await expect(world.forward()).rejects.toMatchObject({
      code: 'upstream_error',
      upstreamStatus: 503,
      retryAfterMs: 7_000,
    });
    expect([world.upstream.requests.length, body.ended]).toEqual([1, true]);
  });

  it.each([
    [405, { allow: 'GET' }],
    [416, { 'content-range': 'bytes */9' }],
  ])('keeps the field that an error with status %i requires: %j', async (status, headers) => {
    const world = new ProxyWorld();
    world.upstream.willAnswer(() => ({ status, headers: { ...headers, 'x-odd': 'a' }, body: 'no' }));
    await expect(world.forward()).rejects.toMatchObject({ upstreamStatus: status, upstreamHeaders: headers });
  });

  it('is an error when it never arrives, without a retry', async () => {
    const world = new ProxyWorld();
    world.upstream.willAnswer(() => ({ kind: 'failure', reason: 'reset', log: 'socket hang up' }));
    await expect(world.forward()).rejects.toMatchObject({ code: 'upstream_unreachable' });
    expect(world.upstream.requests).toHaveLength(1);
  });
});
