import { describe, expect, it } from 'vitest';
import type { SessionToken, SessionTokenQuery } from '../../../src/ports/session-token-source.js';
import { tick } from './rotating-sessions.js';
import { request, SessionWorld } from './session-fixture.js';

const GRACE_MS = 10_000;

describe('requests of one session', () => {
  it('that come together ask the session library once', async () => {
    const world = new SessionWorld();
    const found = await Promise.all(Array.from({ length: 50 }, () => world.get('sid=anna')));
    expect(new Set(found)).toEqual(new Set(['token-1']));
    expect(world.asked).toHaveLength(1);
  });

  it('that come while the library waits for the provider share its answer', async () => {
    const world = new SessionWorld();
    const finish: ((token: SessionToken) => void)[] = [];
    world.answer = () => new Promise((resolve) => finish.push(resolve));
    const first = world.get('sid=anna');
    await tick();
    world.clock.advance(60_000);
    const second = world.get('sid=anna');
    await tick();
    finish[0]?.(world.token(7));
    expect(await Promise.all([first, second])).toEqual(['token-7', 'token-7']);
    expect(world.asked).toHaveLength(1);
  });

  it('that still carry the old cookie get the token for ten seconds more', async () => {
    const world = new SessionWorld();
    await world.get('sid=anna');
    world.clock.advance(GRACE_MS - 1);
    expect(await world.get('sid=anna')).toBe('token-1');
    world.clock.advance(1);
    expect(await world.get('sid=anna')).toBe('token-2');
  });

  it('of a session that the server holds ask it each time, so that a sign-out counts at once', async () => {
    const world = new SessionWorld(['sid'], 100, false);
    expect(await world.get('sid=anna')).toBe('token-1');
    world.answer = () => ({ kind: 'no-session' });
    expect(await world.get('sid=anna')).toBe('no-session');
  });

  it('get the token of a refresh for ten seconds wherever the session is, when there are cookies to carry over', async () => {
    const world = new SessionWorld(['sid'], 100, false);
    const adopted: unknown[] = [];
    world.answer = (number) => ({ ...world.token(number), adopt: (to: unknown) => adopted.push(to) }) as SessionToken;
    await world.get('sid=anna');
    expect(await world.get('sid=anna')).toBe('token-1');
    expect(adopted).toHaveLength(1);
  });

  it('never get a token past its end, grace or not', async () => {
    const world = new SessionWorld();
    world.answer = (number) => world.token(number, 4_000);
    await world.get('sid=anna');
    world.clock.advance(3_999);
    expect(await world.get('sid=anna')).toBe('token-1');
    world.clock.advance(1);
    expect(await world.get('sid=anna')).toBe('token-2');
  });

  it('keep a token of unknown life for the grace only', async () => {
    const world = new SessionWorld();
    world.answer = (number) => ({ kind: 'token', accessToken: `token-${String(number)}` });
    await world.get('sid=anna');
    world.clock.advance(GRACE_MS);
    expect(await world.get('sid=anna')).toBe('token-2');
  });

  it('share the session whatever other cookies come and go', async () => {
    const world = new SessionWorld();
    await world.get('_ga=1; sid=anna; theme=dark');
    expect(await world.get('sid=anna; _ga=2')).toBe('token-1');
    expect(await world.get({ cookie: ['_ga=3', 'sid=anna'] })).toBe('token-1');
  });

  it('share a session whose cookie is cut in chunks', async () => {
    const world = new SessionWorld();
    for (const cookie of ['sid.0=a; sid.1=b', 'sid__0=a; sid__1=b']) {
      const asked = world.asked.length;
      await Promise.all([world.get(cookie), world.get(cookie)]);
      expect(world.asked).toHaveLength(asked + 1);
    }
  });

  it('do not share a token for another audience or scope', async () => {
    const world = new SessionWorld();
    const queries: readonly SessionTokenQuery[] = [
      {},
      { audience: 'a' },
      { audience: 'b' },
      { scope: 'a' },
      { audience: 'a', scope: 'a' },
    ];
    const all = (): Promise<string[]> => Promise.all(queries.map((query) => world.get('sid=anna', query)));
    expect(await all()).toEqual(['token-1', 'token-2', 'token-3', 'token-4', 'token-5']);
    expect(await all()).toEqual(['token-1', 'token-2', 'token-3', 'token-4', 'token-5']);
    expect(world.asked.map(({ query }) => query)).toEqual(queries);
  });
});

describe('an answer that is no token', () => {
  const answers: Readonly<Record<string, SessionToken>> = {
    'nobody is signed in': { kind: 'no-session' },
    'the session has expired': { kind: 'expired' },
  };
  it.each(Object.entries(answers))('is asked for again by the next request: %s', async (_name, answer) => {
    const world = new SessionWorld();
    world.answer = () => answer;
    expect(await Promise.all([world.get('sid=anna'), world.get('sid=anna')])).toEqual([answer.kind, answer.kind]);
    expect(world.asked).toHaveLength(1);
    world.answer = (number) => world.token(number);
    expect(await world.get('sid=anna')).toBe('token-2');
  });

  it('is no token either when the library throws, and the next request tries again', async () => {
    const world = new SessionWorld();
    world.answer = () => Promise.reject(new Error('provider down'));
    const both = await Promise.allSettled([world.get('sid=anna'), world.get('sid=anna')]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(world.asked).toHaveLength(1);
    world.answer = (number) => world.token(number);
    expect(await world.get('sid=anna')).toBe('token-2');
  });

  it('is not what a token counts as that ends while the library is asked: asked again, it refreshes', async () => {
    const world = new SessionWorld();
    const ending = world.token(1, 1);
    world.answer = (number) => {
      if (number > 1) return world.token(number);
      world.clock.advance(1);
      return ending;
    };
    expect(await world.get('sid=anna')).toBe('token-2');
    expect(world.asked).toHaveLength(2);
  });

  it('is what a token counts as that had ended before: the library is asked once', async () => {
    const world = new SessionWorld();
    const ended = world.token(1, -1);
    world.answer = () => ended;
    expect(await world.get('sid=anna')).toBe('expired');
    expect(world.asked).toHaveLength(1);
  });

  it('is what a token that has expired counts as', async () => {
    const world = new SessionWorld();
    world.answer = (number) => world.token(number, 0);
    expect(await world.get('sid=anna')).toBe('expired');
    expect(await world.get({})).toBe('expired');
    expect(await world.tokens.getToken(request({}), {})).toEqual({
      kind: 'expired',
      detail: 'the session returned an expired token',
    });
  });
});

describe('a request that wants a fresh token', () => {
  const force = { forceRefresh: true };

  it('is not given a kept one, and the fresh one replaces it', async () => {
    const world = new SessionWorld();
    await world.get('sid=anna');
    expect(await world.get('sid=anna', force)).toBe('token-2');
    expect(await world.get('sid=anna')).toBe('token-2');
    expect(world.asked[1]?.query).toEqual(force);
  });

  it('shares the refresh with others that want the same, and with those that want any', async () => {
    const world = new SessionWorld();
    await world.get('sid=anna');
    world.clock.advance(GRACE_MS);
    const found = await Promise.all([
      world.get('sid=anna', force),
      world.get('sid=anna', force),
      world.get('sid=anna'),
    ]);
    expect(found).toEqual(['token-3', 'token-3', 'token-3']);
  });

  it('is not given the answer to a request that did not ask for a fresh one', async () => {
    const world = new SessionWorld();
    expect(await Promise.all([world.get('sid=anna'), world.get('sid=anna', force)])).toEqual(['token-1', 'token-2']);
  });
});

describe('what is kept is bounded:', () => {
  it('refreshes that gave nothing new are remembered for as many sessions as there is room for', async () => {
    const world = new SessionWorld(['sid'], 2);
    world.answer = () => ({ kind: 'token', accessToken: String(world.asked.at(-1)?.request.headers['cookie']) });
    for (const cookie of ['sid=a', 'sid=b', 'sid=a', 'sid=b']) await world.get(cookie, { forceRefresh: true });
    expect(world.asked).toHaveLength(4);
  });

  it('the session that was not used for longest goes first', async () => {
    const world = new SessionWorld(['sid'], 2);
    await world.get('sid=a');
    await world.get('sid=b');
    await world.get('sid=a');
    await world.get('sid=c');
    expect(await world.get('sid=a')).toBe('token-1');
    expect(await world.get('sid=b')).toBe('token-4');
  });

  it('cookies are kept as their hash only', async () => {
    const world = new SessionWorld();
    world.hash = () => 'one for all';
    expect([await world.get('sid=anna'), await world.get('sid=bert')]).toEqual(['token-1', 'token-1']);
  });
});
