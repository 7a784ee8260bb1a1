import { describe, expect, it } from 'vitest';
import type { SessionToken, SessionTokenQuery } from '../../../src/ports/session-token-source.js';
import { tick } from './rotating-sessions.js';
import { request, SessionWorld } from './session-fixture.js';

const GRACE_MS = 10_000;

describe('requests of one session', () => {
  it('at the same time call the library once', async () => {
    const world = new SessionWorld();
    const found = await Promise.all(Array.from({ length: 50 }, () => world.get('sid=anna')));
    expect(new Set(found)).toEqual(new Set(['token-1']));
    expect(world.asked).toHaveLength(1);
  });

  it('during a refresh share its result', async () => {
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

  it.each<[string, number, number?]>([
    ['for ten more seconds', GRACE_MS, 300_000],
    ['until it expires, when that is sooner', 4_000, 4_000],
    ['for ten more seconds when its lifetime is unknown', GRACE_MS],
  ])('with the old cookie receive the new token %s', async (_what, sharedMs, lifeMs) => {
    const world = new SessionWorld();
    world.answer = (number) =>
      lifeMs === undefined ? { kind: 'token', accessToken: `token-${String(number)}` } : world.token(number, lifeMs);
    await world.get('sid=anna');
    world.clock.advance(sharedMs - 1);
    expect(await world.get('sid=anna')).toBe('token-1');
    world.clock.advance(1);
    expect(await world.get('sid=anna')).toBe('token-2');
  });

  it('of a server-side session call the library each time, so a sign-out applies immediately', async () => {
    const world = new SessionWorld(['sid'], Infinity, false);
    expect(await world.get('sid=anna')).toBe('token-1');
    world.answer = () => ({ kind: 'no-session' });
    expect(await world.get('sid=anna')).toBe('no-session');
  });

  it('receive a refreshed token for ten seconds when its cookies can be passed on', async () => {
    const world = new SessionWorld(['sid'], Infinity, false);
    const adopted: unknown[] = [];
    world.answer = (number) => ({ ...world.token(number), adopt: (to: unknown) => adopted.push(to) }) as SessionToken;
    await world.get('sid=anna');
    expect(await world.get('sid=anna')).toBe('token-1');
    expect(adopted).toHaveLength(1);
  });

  it('do not share tokens for another audience or scope', async () => {
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

describe('a result without a token', () => {
  const answers: Readonly<Record<string, SessionToken>> = {
    'no user is signed in': { kind: 'no-session' },
    'the session has expired': { kind: 'expired' },
  };
  it.each(Object.entries(answers))('is not cached: %s', async (_name, answer) => {
    const world = new SessionWorld();
    world.answer = () => answer;
    expect(await Promise.all([world.get('sid=anna'), world.get('sid=anna')])).toEqual([answer.kind, answer.kind]);
    expect([world.asked.length, world.hidden]).toEqual([1, []]);
    world.answer = (number) => world.token(number);
    expect(await world.get('sid=anna')).toBe('token-2');
  });

  it('is not cached after an exception', async () => {
    const world = new SessionWorld();
    world.answer = () => Promise.reject(new Error('provider down'));
    const both = await Promise.allSettled([world.get('sid=anna'), world.get('sid=anna')]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(world.asked).toHaveLength(1);
    world.answer = (number) => world.token(number);
    expect(await world.get('sid=anna')).toBe('token-2');
  });

  it('is replaced by another call when the token expires during the first', async () => {
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

  it('is returned after one call when the token had expired before it', async () => {
    const world = new SessionWorld();
    const ended = world.token(1, -1);
    world.answer = () => ended;
    expect(await world.get('sid=anna')).toBe('expired');
    expect(world.asked).toHaveLength(1);
  });

  it('is returned for an expired token', async () => {
    const world = new SessionWorld();
    world.answer = (number) => world.token(number, 0);
    expect(await world.get('sid=anna')).toBe('expired');
    expect(await world.get({})).toBe('expired');
    expect(await world.tokens.getToken(request({}), {})).toEqual({
      kind: 'expired',
      log: 'the session returned an expired token',
    });
  });
});

describe('a request for a fresh token', () => {
  const force = { forceRefresh: true };

  it('shares its refresh with all waiting requests', async () => {
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

  it('does not share the call of an ordinary request', async () => {
    const world = new SessionWorld();
    expect(await Promise.all([world.get('sid=anna'), world.get('sid=anna', force)])).toEqual(['token-1', 'token-2']);
  });
});

describe('the memory of sessions', () => {
  it('holds refreshes without a token up to its limit', async () => {
    const world = new SessionWorld(['sid'], 2_500);
    world.answer = () => ({ kind: 'token', accessToken: String(world.asked.at(-1)?.request.headers['cookie']) });
    for (const cookie of ['sid=a', 'sid=b', 'sid=a', 'sid=b']) await world.get(cookie, { forceRefresh: true });
    expect(world.asked).toHaveLength(4);
  });

  it('drops the least recently used session first', async () => {
    const world = new SessionWorld(['sid'], 2_500);
    await world.get('sid=a');
    await world.get('sid=b');
    await world.get('sid=a');
    await world.get('sid=c');
    expect(await world.get('sid=a')).toBe('token-1');
    expect(await world.get('sid=b')).toBe('token-4');
  });

  it('counts the length of each token', async () => {
    const world = new SessionWorld(['sid'], 4_000);
    world.answer = (number) => ({ kind: 'token', accessToken: String(number).repeat(1_000) });
    for (const cookie of ['sid=a', 'sid=a', 'sid=b', 'sid=a']) await world.get(cookie);
    expect(world.asked).toHaveLength(3);
  });

  it('holds cookies as hashes only', async () => {
    const world = new SessionWorld();
    world.hash = () => 'one for all';
    expect([await world.get('sid=anna'), await world.get('sid=bert')]).toEqual(['token-1', 'token-1']);
  });
});
