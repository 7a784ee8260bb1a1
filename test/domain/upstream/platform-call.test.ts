import { describe, expect, it } from 'vitest';
import { FakeSessionTokenSource, FakeTokenExchange, FakeUpstream } from '../../../src/adapters/fakes/fakes.js';
import { sha256 } from '../../../src/adapters/system/system.js';
import { Credential } from '../../../src/domain/credentials/credential.js';
import { ExchangedTokens } from '../../../src/domain/credentials/exchanged-tokens.js';
import type { RouteAuth, RouteFields } from '../../../src/domain/credentials/route-auth.js';
import type { PlatformCall, PlatformMessage } from '../../../src/domain/upstream/platform-call.js';
import { AGENT, PLATFORM, type PlatformReply } from '../../../src/domain/upstream/platform-error.js';
import type { HttpResponse } from '../../../src/ports/http.js';
import { inTurn, WatchedBody } from '../chat/chat-world.js';
import { BrokerWorld, ownedBy, REQUEST, SERVICE, sessionPlan, TIMEOUTS } from '../credentials/broker-fixture.js';

/** Headers from the site itself. */
const OWN: RouteAuth<'headers'> = {
  kind: 'headers',
  obtain: () =>
    Promise.resolve(
      new Credential({
        kind: 'service',
        headers: { authorization: 'Bearer made-by-the-site' },
        owner: ownedBy(),
        block: 'headers',
      }),
    ),
};
const FINE: HttpResponse = { status: 200, headers: {}, body: 'fine' };

/** Makes one call for each caller, in order. */
class CallWorld extends BrokerWorld {
  readonly upstream: FakeUpstream = new FakeUpstream();
  readonly call: PlatformCall;

  constructor() {
    super();
    this.call = this.callThrough(this.upstream);
  }

  async send(message?: Partial<PlatformMessage>, auth?: RouteAuth): Promise<HttpResponse> {
    return (await this.ask(message, auth)).response;
  }

  async ask(message: Partial<PlatformMessage> = {}, auth: RouteAuth = SERVICE): Promise<PlatformReply> {
    return this.call.send(messageOf(message), await this.call.caller(auth, REQUEST));
  }
}

function messageOf(changes: Partial<PlatformMessage>): PlatformMessage {
  const { signal } = new AbortController();
  const address = { method: 'POST', origin: 'https://agent.example', path: '/a2a' };
  return { counterpart: AGENT, timeouts: TIMEOUTS, ...address, browser: {}, body: '{}', signal, ...changes };
}

function refusal(): HttpResponse & { readonly body: WatchedBody } {
  return { status: 401, headers: {}, body: new WatchedBody('no') };
}

describe('a call to the platform', () => {
  it('has the timeouts of the site', async () => {
    const world = new CallWorld();
    await world.send({ timeouts: { ...TIMEOUTS, bodyMs: 300_000, streamIdleMs: 90_000 } });
    expect(world.upstream.requests).toMatchObject([
      { headersMs: 60_000, bodyIdleMs: 30_000, bodyMs: 300_000, streamIdleMs: 90_000 },
    ]);
  });

  it('has only the limits that the site set', async () => {
    const world = new CallWorld();
    await world.send();
    expect(world.upstream.requests[0]).not.toHaveProperty('bodyMs');
    expect(world.upstream.requests[0]).not.toHaveProperty('streamIdleMs');
  });

  it("has the browser's fields, overridden by ours, then by the credential's", async () => {
    const world = new CallWorld();
    const browser = { accept: 'theirs', 'accept-language': 'de', range: 'bytes=0-1', 'if-range': '"1"' };
    const own = { accept: 'ours', authorization: 'ours', 'x-project-id': 'proj-1' };
    await world.send({ browser, own, further: ['range'] });
    expect(world.upstream.requests[0]?.headers).toEqual({
      accept: 'ours',
      'accept-language': 'de',
      range: 'bytes=0-1',
      'x-project-id': 'proj-1',
      authorization: 'Bearer account-token-1',
      'x-api-key': 'site-key',
    });
  });
});

describe('a call to the platform without a credential', () => {
  it.each([
    ['only', undefined, {}],
    ['and ours', { 'x-project-id': 'proj-1' }, { 'x-project-id': 'proj-1' }],
  ])("has the browser's fields %s", async (_what, own, added) => {
    const world = new CallWorld();
    await world.call.dispatch(messageOf({ browser: { accept: 'theirs' }, ...(own && { own }) }), undefined);
    expect(world.upstream.requests.map(({ headers }) => headers)).toEqual([{ accept: 'theirs', ...added }]);
  });
});

describe('the fields that a site makes', () => {
  const fields = { request: ['x-unit'], response: [] };
  const request = { ...REQUEST, headers: { 'x-unit': 'mm' } };

  it('are added for each message, to a caller without them', async () => {
    const { call } = new CallWorld();
    const make: NonNullable<RouteFields['make']> = (_request, _session, message) =>
      Promise.resolve({ 'x-method': message?.method ?? 'a look-up' });
    const auth = { ...SERVICE, fields: { ...fields, make } };
    const bare = await call.caller(auth, request, 'message');
    const callers = [bare, await bare.about(), await bare.about({ method: 'SendMessage' })];
    expect(callers.map(({ credential }) => credential.headers['x-method'])).toEqual([
      undefined,
      'a look-up',
      'SendMessage',
    ]);
    for (const caller of callers) expect(caller).toMatchObject({ auth, request });
  });

  it.each([undefined, fields])('change nothing on a route without them (%j)', async (others) => {
    const { call } = new CallWorld();
    const caller = await call.caller({ ...SERVICE, fields: others }, request, 'message');
    expect(caller.credential.headers['x-unit']).toBe(others && 'mm');
    expect(caller.about()).toBe(caller);
  });
});

describe('a call without a response', () => {
  it('is sent again if there was no connection', async () => {
    const world = new CallWorld();
    const failure = { kind: 'failure', reason: 'unreachable', sent: 'nothing', log: 'refused' } as const;
    world.upstream.willAnswer(() => (world.upstream.requests.length === 1 ? failure : FINE));
    expect([await world.send(), world.upstream.requests.length]).toEqual([FINE, 2]);
  });
});

describe('a credential for the agent and another one for the platform', () => {
  it.each([
    [AGENT, 'agent'],
    [PLATFORM, 'platform'],
  ])('are sent to their own party: %j', async (counterpart, expected) => {
    const world = new CallWorld();
    const facts = { kind: 'session', owner: ownedBy(), block: 'headers' } as const;
    const forPlatform = new Credential({ ...facts, headers: { authorization: 'platform' } });
    const credential = new Credential({ ...facts, headers: { authorization: 'agent' }, forPlatform });
    await world.send({ counterpart }, { kind: 'headers', obtain: () => Promise.resolve(credential) });
    expect(world.upstream.requests.map(({ headers }) => headers)).toEqual([{ authorization: expected }]);
  });
});

describe('a rejected credential', () => {
  it('is renewed without reading the rejection', async () => {
    const world = new CallWorld();
    const no = refusal();
    world.upstream.willAnswer(inTurn(no, FINE));
    expect(await world.send()).toBe(FINE);
    expect(world.upstream.requests.map(({ headers }) => headers['authorization'])).toEqual([
      'Bearer account-token-1',
      'Bearer account-token-2',
    ]);
    expect(no.body.ended).toBe(true);
  });

  it('is returned with the unread response after a second rejection', async () => {
    const world = new CallWorld();
    const [first, second] = [refusal(), refusal()];
    world.upstream.willAnswer(inTurn(first, second));
    const { response, credential } = await world.ask();
    expect(response).toBe(second);
    expect(credential.token).toBe('account-token-2');
    expect([first.body.ended, second.body.ended]).toEqual([true, false]);
  });

  it('is not renewed when it comes from the site, and the response is returned unread', async () => {
    const world = new CallWorld();
    const no = refusal();
    world.upstream.willAnswer(() => no);
    const { response, credential } = await world.ask({}, OWN);
    expect([response, credential.block]).toEqual([no, 'headers']);
    expect([world.upstream.requests.length, no.body.ended]).toEqual([1, false]);
  });

  it('causes the response to be cancelled when it cannot be renewed', async () => {
    const world = new CallWorld();
    const no = refusal();
    world.upstream.willAnswer(() => {
      world.account.answer = () => ({
        kind: 'failure',
        reason: 'unavailable',
        block: 'serviceAccount',
        fields: [],
        advice: 'Wait.',
        log: 'down',
      });
      return no;
    });
    await expect(world.send()).rejects.toMatchObject({ code: 'identity_provider_unavailable' });
    expect(no.body.ended).toBe(true);
  });

  it("provides the platform's time for the next signature", async () => {
    const world = new CallWorld();
    const date = new Date(world.clock.now() + 600_000).toUTCString();
    world.upstream.willAnswer(inTurn({ ...refusal(), headers: { date } }, FINE));
    await world.send();
    expect(world.telemetry.of('warning')).toMatchObject([{ code: 'clock_skew' }]);
  });

  it.each([200, 400, 403, 500])('is not renewed for a %i', async (status) => {
    const world = new CallWorld();
    world.upstream.willAnswer(() => ({ ...refusal(), status }));
    expect((await world.send()).status).toBe(status);
    expect(world.upstream.requests).toHaveLength(1);
  });
});

describe("a user's rejected exchanged token", () => {
  function exchanging(world: CallWorld): RouteAuth {
    const exchange = new ExchangedTokens({
      tokens: world.tokens,
      clock: world.clock,
      telemetry: world.telemetry,
      exchange: new FakeTokenExchange(),
      hash: sha256,
    });
    return {
      ...sessionPlan(new FakeSessionTokenSource({ kind: 'token', accessToken: 'ada-token', subject: 'ada' })),
      exchange,
    };
  }

  it.each([
    ['no body', null],
    ['text', '{}'],
    ['bytes', new Uint8Array(2)],
  ])('is exchanged again and the request repeated: %s', async (_what, body) => {
    const world = new CallWorld();
    const no = refusal();
    world.upstream.willAnswer(inTurn(no, FINE));
    expect(await world.send({ body }, exchanging(world))).toBe(FINE);
    expect(world.upstream.requests.map((request) => request.body)).toEqual([body, body]);
    expect(no.body.ended).toBe(true);
  });

  it('is not renewed when the body is streamed, and the response is returned unread', async () => {
    const world = new CallWorld();
    const no = refusal();
    world.upstream.willAnswer(() => no);
    expect(await world.send({ body: new WatchedBody('gone') }, exchanging(world))).toBe(no);
    expect([world.upstream.requests.length, no.body.ended]).toEqual([1, false]);
  });

  it('is returned with the unread response after a second rejection', async () => {
    const world = new CallWorld();
    const again = refusal();
    world.upstream.willAnswer(inTurn(refusal(), again));
    expect(await world.send({}, exchanging(world))).toBe(again);
    expect([world.upstream.requests.length, again.body.ended]).toEqual([2, false]);
  });
});
