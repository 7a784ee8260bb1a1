import { describe, expect, it } from 'vitest';
import { FakeSessionTokenSource, FakeUpstream } from '../../../src/adapters/fakes/fakes.js';
import type { Credential } from '../../../src/domain/credentials/credential.js';
import type { RouteAuth } from '../../../src/domain/credentials/route-auth.js';
import { AGENT } from '../../../src/domain/upstream/platform-error.js';
import type { HttpBody, HttpResponse, UpstreamRequest } from '../../../src/ports/http.js';
import type { SessionToken, SessionTokenQuery } from '../../../src/ports/session-token-source.js';
import { BrokerWorld, REQUEST, sessionPlan, TIMEOUTS } from './broker-fixture.js';
import { SessionWorld } from './session-fixture.js';

const ADA = { kind: 'token', subject: 'ada' } as const;
const FORCED = { forceRefresh: true };

/** A session with a different result when a refresh is forced. */
class RefreshableSession extends FakeSessionTokenSource {
  refreshed: SessionToken | Error = { ...ADA, accessToken: 'new' };

  constructor() {
    super({ ...ADA, accessToken: 'old' });
  }

  override async getToken(...[request, query]: Parameters<FakeSessionTokenSource['getToken']>): Promise<SessionToken> {
    const found = await super.getToken(request, query);
    if (query.forceRefresh !== true) return found;
    if (this.refreshed instanceof Error) throw this.refreshed;
    return this.refreshed;
  }
}

/** A user's call to a platform that accepts only these tokens. */
class RefusedWorld extends BrokerWorld {
  readonly source: RefreshableSession = new RefreshableSession();
  accepted: readonly string[] = ['Bearer new'];
  readonly upstream: FakeUpstream = new FakeUpstream(({ headers }: UpstreamRequest): HttpResponse => {
    const status = this.accepted.includes(String(headers['authorization'])) ? 200 : 401;
    return { status, headers: {}, body: `the platform's own ${String(status)}` };
  });
  readonly auth: RouteAuth<'session'> = sessionPlan(this.source, 'https://platform.example');

  async send(body: HttpBody = '{}', auth: RouteAuth = this.auth): Promise<HttpResponse> {
    const call = this.callThrough(this.upstream);
    const target = { method: 'POST', origin: 'https://platform.example', path: '/a2a', browser: {} };
    const message = { counterpart: AGENT, timeouts: TIMEOUTS, ...target, body, signal: new AbortController().signal };
    return (await call.send(message, await call.caller(auth, REQUEST))).response;
  }

  get sent(): unknown[] {
    return this.upstream.requests.map(({ headers }) => headers['authorization'] ?? headers['x-api-key']);
  }
}

describe("a user's token rejected by the platform", () => {
  it('is refreshed once, and the request repeated with the new one', async () => {
    const world = new RefusedWorld();
    expect((await world.send('the body')).status).toBe(200);
    expect(world.sent).toEqual(['Bearer old', 'Bearer new']);
    expect(world.upstream.requests.map(({ body }) => body)).toEqual(['the body', 'the body']);
    const audience = 'https://platform.example';
    expect(world.source.queries).toEqual([{ audience }, { audience, ...FORCED }]);
  });

  it('is not refreshed after a second rejection, which is forwarded', async () => {
    const world = new RefusedWorld();
    world.accepted = [];
    expect(await world.send()).toMatchObject({ status: 401, body: "the platform's own 401" });
    expect(world.sent).toEqual(['Bearer old', 'Bearer new']);
    expect(world.source.queries).toHaveLength(2);
  });

  it.each<[string, SessionToken | Error]>([
    ['returns the same token', { ...ADA, accessToken: 'old' }],
    ['has no refresh token', { kind: 'expired', log: 'missing_refresh_token' }],
    ['requires a second factor', { kind: 'expired', reason: 'interaction' }],
    ['cannot reach its provider', new Error('the provider is down')],
    ["returns another user's token", { kind: 'token', accessToken: 'new', subject: 'bert' }],
    ['returns a token without a subject', { kind: 'token', accessToken: 'new' }],
  ])('is not replaced, and the rejection is forwarded, when the session %s', async (_what, refreshed) => {
    const world = new RefusedWorld();
    world.source.refreshed = refreshed;
    expect(await world.send()).toMatchObject({ status: 401, body: "the platform's own 401" });
    expect(world.sent).toEqual(['Bearer old']);
  });

  it('is never replaced by another credential, even on routes with an optional session', async () => {
    const world = new RefusedWorld();
    world.source.refreshed = { kind: 'no-session' };
    expect((await world.send('{}', { ...world.auth, required: false })).status).toBe(401);
    expect(world.sent).toEqual(['Bearer old']);
  });

  it('is refreshed only for the next request when the body is streamed', async () => {
    const world = new RefusedWorld();
    const stream = async function* (): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(new Uint8Array(1));
    };
    expect((await world.send(stream())).status).toBe(401);
    expect(world.sent).toEqual(['Bearer old']);
    expect(world.source.queries).toHaveLength(2);
  });

  it.each<[SessionToken | Error, string]>([
    [{ kind: 'expired', log: 'missing_refresh_token' }, 'missing_refresh_token'],
    [new TypeError('the provider is down'), 'TypeError: the provider is down'],
  ])('is logged with the cause of a failed refresh: %j', async (refreshed, detail) => {
    const world = new RefusedWorld();
    world.source.refreshed = refreshed;
    await world.send();
    expect(world.telemetry.of('token')).toEqual([{ type: 'token', outcome: 'rejected', block: 'session', detail }]);
  });

  it("is repeated with the route's own API key", async () => {
    const world = new RefusedWorld();
    await world.send();
    expect(world.upstream.requests.map(({ headers }) => headers['x-api-key'])).toEqual(['site-key', 'site-key']);
  });

  it('is not refreshed for an API key alone', async () => {
    const world = new RefusedWorld();
    const refused: Credential = await world.broker.obtain({ kind: 'api-key', apiKey: undefined }, REQUEST);
    expect(await world.broker.renew(world.auth, refused, REQUEST, '')).toBeUndefined();
    expect(world.source.queries).toEqual([]);
  });
});

describe('a forced refresh', () => {
  /** Returns `token-1` until a refresh is forced, then the next number, regardless of the cookie. */
  function refreshable(limitBytes = Infinity): SessionWorld {
    const world = new SessionWorld(['sid'], limitBytes, false);
    let number = 1;
    world.answer = () => world.token((number += world.asked.at(-1)?.query.forceRefresh === true ? 1 : 0));
    return world;
  }
  const forced = ({ asked }: SessionWorld): SessionTokenQuery[] =>
    asked.map(({ query }) => query).filter(({ forceRefresh }) => forceRefresh);

  it('happens at most once in 30 seconds', async () => {
    const world = refreshable();
    // The cookie changes with each refresh when it contains the session.
    for (let count = 0; count < 10; count += 1) {
      expect(await world.get(`sid=anna-${String(count)}`, FORCED)).toBe('token-2');
    }
    world.clock.advance(29_999);
    await world.get('sid=anna', FORCED);
    expect(forced(world)).toHaveLength(1);
    world.clock.advance(1);
    expect(await world.get('sid=anna', FORCED)).toBe('token-3');
    expect(forced(world)).toEqual([FORCED, FORCED]);
  });

  it.each<[string, () => SessionToken | Error, string]>([
    ['is down', () => new Error('the provider is down'), 'down'],
    ['has ended the session', () => ({ kind: 'expired' }), 'expired'],
  ])('calls a provider that %s once in 30 seconds', async (_how, answer, first) => {
    const world = new SessionWorld(['sid'], Infinity, false);
    world.answer = () => {
      const found = world.asked.at(-1)?.query.forceRefresh === true ? answer() : world.token(1);
      if (found instanceof Error) throw found;
      return found;
    };
    const found: unknown[] = [];
    for (let count = 0; count < 5; count += 1) found.push(await world.get('sid=anna', FORCED).catch(() => 'down'));
    expect(forced(world)).toHaveLength(1);
    expect(found).toEqual([first, ...Array<string>(4).fill('token-1')]);
  });

  it('returns the new token for later requests with the old cookie', async () => {
    const world = new SessionWorld();
    expect(await world.get('sid=anna', FORCED)).toBe('token-2');
    expect(await Promise.all([world.get('sid=anna', FORCED), world.get('sid=anna')])).toEqual(['token-2', 'token-2']);
    expect(forced(world)).toHaveLength(1);
  });

  it('does not affect other sessions or audiences', async () => {
    const world = new SessionWorld();
    await world.get('sid=anna', FORCED);
    await world.get('sid=bert', FORCED);
    await world.get('sid=anna', { ...FORCED, audience: 'b' });
    expect(forced(world)).toEqual([FORCED, FORCED, { ...FORCED, audience: 'b' }]);
  });

  it('does not happen without a session or a subject', async () => {
    const world = new SessionWorld();
    world.answer = () => ({ kind: 'no-session' });
    expect(await world.get('sid=anna', FORCED)).toBe('no-session');
    const nameless = new SessionWorld([]);
    await nameless.get('sid=anna', { ...FORCED, scope: 's' });
    const plain = { forceRefresh: false };
    expect([...world.asked, ...nameless.asked].map(({ query }) => query)).toEqual([plain, { ...plain, scope: 's' }]);
  });

  it('is remembered as a hash of the token, up to the limit of tokens', async () => {
    const world = new SessionWorld(['sid'], 600, false);
    const hashed: string[] = [];
    world.hash = (text) => (hashed.push(text), `#${text}`);
    world.answer = () => world.token(Number(/\d/.exec(String(world.asked.at(-1)?.request.headers['cookie']))?.[0]));
    for (const name of [1, 2, 3, 3, 1]) await world.get(`sid=${String(name)}`, FORCED);
    expect(forced(world)).toHaveLength(4);
    expect(hashed).toContain('token-1');
  });
});
