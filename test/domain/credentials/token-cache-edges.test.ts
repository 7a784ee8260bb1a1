import { describe, expect, it } from 'vitest';
import type { IssueOutcome } from '../../../src/ports/identity-provider.js';
import { Deferred, TokenWorld } from './token-fixture.js';

describe('a provider that issues a token which has already expired', () => {
  it('is a failure that names the clocks, and is not asked again before its back-off is over', async () => {
    const world = new TokenWorld();
    world.random = 1;
    world.provider.answer = (now) => ({ kind: 'token', token: { value: 'stale', expiresAt: now } });
    expect(await world.get()).toMatchObject({
      kind: 'failure',
      reason: 'unavailable',
      fields: [],
      advice: expect.stringContaining('clocks'),
      detail: 'the provider issued a token that has already expired',
    });
    await world.get();
    expect(world.provider.issued).toBe(1);
  });
});

describe('a provider that issues something that is no token', () => {
  it('is a failure that names its block, and no field of it', async () => {
    const world = new TokenWorld();
    world.provider.answer = (now) => ({ kind: 'token', token: { value: 'a\r\nb', expiresAt: now + 60_000 } });
    expect(await world.get()).toMatchObject({
      reason: 'unavailable',
      block: 'someBlock',
      fields: [],
      advice: 'Check the "someBlock" configuration block.',
    });
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

describe('a cache with more callers than room', () => {
  it('keeps the newest token, when all the others are still waited for', async () => {
    const world = new TokenWorld({ maxEntries: 1 });
    const slow = new Deferred<IssueOutcome>();
    const waiting = world.cache.get('slow', 'someBlock', () => slow.promise);
    await world.get('quick');
    expect(world.cache.peek('quick')?.value).toBe('site-token-1');
    slow.resolve({ kind: 'token', token: { value: 'late', expiresAt: world.clock.now() + 1_000 } });
    expect(await waiting).toMatchObject({ token: { value: 'late' } });
  });

  it('keeps a token that was pushed out while the provider was asked for it', async () => {
    const world = new TokenWorld({ maxEntries: 1 });
    const slow = new Deferred<IssueOutcome>();
    const waiting = world.cache.get('slow', 'someBlock', () => slow.promise);
    await world.get('quick');
    slow.resolve({ kind: 'token', token: { value: 'late', expiresAt: world.clock.now() + 1_000 } });
    await waiting;
    expect(world.cache.peek('slow')?.value).toBe('late');
  });
});

describe('a key nobody has asked for yet', () => {
  it('has no token, in no way of looking', async () => {
    const { cache } = new TokenWorld();
    expect([cache.fresh('key'), cache.peek('key'), await cache.reject('key', 'token')]).toEqual([
      undefined,
      undefined,
      true,
    ]);
  });
});

describe('a token that is due this very millisecond', () => {
  it('is served, renewed behind the back of its caller, and told to operators', async () => {
    const world = new TokenWorld();
    world.provider.answer = (now) => ({ kind: 'token', token: { value: 'v', expiresAt: now + 60_000 } });
    await world.get();
    world.clock.advance(47_999);
    expect(world.cache.fresh('key')?.value).toBe('v');
    world.clock.advance(1);
    expect(world.cache.fresh('key')).toBeUndefined();
    await world.get();
    expect(world.telemetry.of('token').map(({ outcome }) => outcome)).toContain('stale_served');
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
