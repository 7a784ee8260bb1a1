import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import type { RequestContext } from '../../../src/ports/http.js';
import type { SessionToken } from '../../../src/ports/session-token-source.js';
import { SessionWorld, Visit } from './session-fixture.js';
import { tick } from './rotating-sessions.js';

const LIFE_MS = 3_600_000;

/** Sessions whose tokens live for an hour, in a cookie that each response can carry. */
function carried(
  sessionInCookie = true,
  limitBytes = Infinity,
): { world: SessionWorld; carriers: Set<RequestContext> } {
  const world = new SessionWorld(['sid'], limitBytes, sessionInCookie);
  const carriers = new Set<RequestContext>();
  world.answer = (number) => {
    const first = world.asked.at(-1)?.request;
    if (first !== undefined) carriers.add(first);
    return {
      ...world.token(number, LIFE_MS),
      adopt: (to: RequestContext) => void carriers.add(to),
      retract: (from: RequestContext) => void carriers.delete(from),
    } as SessionToken;
  };
  return { world, carriers };
}

describe('a refreshed token', () => {
  it('is shared until the response with its cookie was sent, and ten seconds longer', async () => {
    const { world } = carried();
    const slow = new Visit('sid=old');
    await world.visit(slow);
    world.clock.advance(14_000);
    expect(await world.get('sid=other')).toBe('token-2');
    expect(await world.visit(new Visit('sid=old'))).toBe('token-1');
    slow.end();
    world.clock.advance(9_999);
    expect(await world.visit(new Visit('sid=old'))).toBe('token-1');
    world.clock.advance(1);
    expect(await world.visit(new Visit('sid=old'))).toBe('token-3');
  });

  it('reaches the cookies of parallel and later requests, of which the first sent starts the ten seconds', async () => {
    const { world, carriers } = carried();
    const visits = [1, 2, 3, 4].map(() => new Visit('sid=old'));
    await Promise.all(visits.map((visit) => world.visit(visit)));
    expect([...carriers]).toEqual(visits);
    visits[2]?.end();
    world.clock.advance(9_000);
    visits[0]?.end();
    world.clock.advance(1_000);
    expect(await world.visit(new Visit('sid=old'))).toBe('token-2');
  });

  it.each([
    ['five minutes', LIFE_MS, 300_000],
    ['its expiry, if that is sooner', 60_000, 60_000],
  ])('is shared until %s after the visitor left', async (_what, lifeMs, sharedMs) => {
    const { world } = carried();
    world.answer = (number) => world.token(number, lifeMs);
    const left = new Visit('sid=old');
    await world.visit(left);
    left.end(false);
    world.clock.advance(sharedMs - 1);
    expect(await world.visit(new Visit('sid=old'))).toBe('token-1');
    world.clock.advance(1);
    expect(await world.visit(new Visit('sid=old'))).toBe('token-2');
  });

  it('does not count as sent with a response that cannot carry its cookie', async () => {
    const world = new SessionWorld();
    world.answer = (number) => world.token(number, LIFE_MS);
    const first = new Visit('sid=old');
    const second = new Visit('sid=old');
    await world.visit(first);
    await world.visit(second);
    second.end();
    world.clock.advance(60_000);
    expect(await world.visit(new Visit('sid=old'))).toBe('token-1');
  });

  it('that the platform refuses is refreshed only by a source that sees its session, not with the spent cookie', async () => {
    const { world } = carried();
    await world.visit(new Visit('sid=old'));
    expect(await world.visit(new Visit('sid=old'), { forceRefresh: true })).toBe('token-1');
    // Adopting it changes what this source sees.
    const seeing = carried().world;
    seeing.sessionVersion = () => 'refresh token';
    await seeing.visit(new Visit('sid=old'));
    expect(await seeing.visit(new Visit('sid=old'), { forceRefresh: true })).toBe('token-2');
  });

  it('of a session held by the server is shared for ten seconds, although its visitor left', async () => {
    const { world } = carried(false);
    const left = new Visit('sid=anna');
    await world.visit(left);
    left.end(false);
    world.clock.advance(10_000);
    expect(await world.visit(new Visit('sid=anna'))).toBe('token-2');
  });

  it('of 5,000 visitors who left on a host that does not say so takes no more than the cache may', async () => {
    const { world } = carried(true, 500_000);
    for (let visitor = 0; visitor < 5_000; visitor += 1) {
      await world.visit(new Visit(`sid=${String(visitor)}`));
    }
    expect(await world.visit(new Visit('sid=0'))).toBe('token-5001');
    expect(await world.visit(new Visit('sid=4999'))).toBe('token-5000');
  });

  it('waits for a cookie that is written asynchronously', async () => {
    const world = new SessionWorld();
    let written = 0;
    const adopt = async (): Promise<void> => {
      await tick();
      written += 1;
    };
    world.answer = (number) => ({ ...world.token(number), adopt }) as SessionToken;
    await world.visit(new Visit('sid=old'));
    await world.visit(new Visit('sid=old'));
    expect(written).toBe(1);
  });

  it('is adopted in the context of each request, where cookies() of Next finds its response', async () => {
    const { world } = carried();
    const context = new AsyncLocalStorage<number>();
    const written: (number | undefined)[] = [];
    const adopt = (): unknown => written.push(context.getStore());
    world.answer = async (number) => {
      await tick();
      return { ...world.token(number), adopt } as SessionToken;
    };
    const visit = (which: number): Promise<string> => context.run(which, () => world.visit(new Visit('sid=old')));
    await Promise.all([1, 2, 3, 4].map(visit));
    await visit(5);
    expect(written).toEqual([2, 3, 4, 5]);
  });
});

describe('a sign-out', () => {
  it.each(['sid=old', 'sid=new'])(
    'with %s ends what is kept and takes the cookie off unsent responses',
    async (cookie) => {
      const { world, carriers } = carried();
      const answer = world.answer;
      // The library returns the same token for the new cookie.
      world.answer = (number) =>
        world.asked.at(-1)?.request.headers['cookie'] === 'sid=new' ? world.token(1, LIFE_MS) : answer(number);
      const slow = new Visit('sid=old');
      const sent = new Visit('sid=old');
      await Promise.all([world.visit(slow), world.visit(sent)]);
      sent.end();
      await world.tokens.end(new Visit(cookie));
      expect([...carriers]).toEqual([sent]);
      expect(await world.visit(new Visit(cookie))).toBe('no-session');
      world.clock.advance(299_999);
      expect(await world.visit(new Visit(cookie))).toBe('no-session');
    },
  );

  it('during a refresh leaves the user signed out', async () => {
    const { world, carriers } = carried();
    const answer = world.answer;
    const finish: (() => void)[] = [];
    world.answer = (number) => new Promise((resolve) => finish.push(() => resolve(answer(number))));
    const slow = new Visit('sid=old');
    const found = world.visit(slow);
    await tick();
    const ended = world.tokens.end(new Visit('sid=old'));
    finish[0]?.();
    await ended;
    expect([await found, [...carriers], world.asked.length]).toEqual(['no-session', [], 1]);
  });

  it('of one user ends no other session', async () => {
    const { world } = carried();
    await world.visit(new Visit('sid=bert'));
    await world.visit(new Visit('sid=anna'));
    await world.tokens.end(new Visit('sid=anna'));
    expect(await world.visit(new Visit('sid=bert'))).toBe('token-1');
  });

  it('of a session held by the server is the server’s, which may reuse the cookie', async () => {
    const world = new SessionWorld(['sid'], Infinity, false);
    await world.get('sid=anna');
    await world.tokens.end(new Visit('sid=anna'));
    expect(await world.get('sid=anna')).toBe('token-2');
  });
});
