import { describe, expect, it } from 'vitest';
import { TokenWorld } from './token-world.js';

describe('a provider that issues a token which has already expired', () => {
  it('is a failure that names the clocks, and is not asked again before its back-off is over', async () => {
    const world = new TokenWorld();
    world.random = 1;
    world.provider.answer = (now) => ({ kind: 'token', token: { value: 'stale', expiresAt: now } });
    expect(await world.get()).toMatchObject({ kind: 'failure', advice: expect.stringContaining('clocks') });
    await world.get();
    expect(world.provider.issued).toBe(1);
  });
});

describe('a token in use on the hot path', () => {
  it('is not the one dropped when many other tokens come', async () => {
    const world = new TokenWorld({ maxEntries: 4 });
    await world.get('service');
    for (const user of ['a', 'b', 'c', 'd', 'e', 'f']) {
      await world.get(user);
      world.cache.fresh('service');
    }
    expect(world.cache.peek('service')?.value).toBe('site-token-1');
    expect(world.cache.peek('a')).toBeUndefined();
  });
});

describe('a token the platform refused', () => {
  it('is told to operators with the block it came from', async () => {
    const world = new TokenWorld();
    await world.cache.reject('key', await world.value());
    expect(world.telemetry.of('token').at(-1)).toStrictEqual({
      type: 'token',
      outcome: 'rejected',
      block: 'someBlock',
    });
  });
});
