import { describe, expect, it } from 'vitest';
import type { IssueOutcome } from '../../../src/ports/identity-provider.js';
import { Deferred, failure, TokenWorld } from './token-fixture.js';

describe('a provider that issues an expired token', () => {
  it('is reported as a clock fault and not called again during its back-off', async () => {
    const world = new TokenWorld();
    world.random = 1;
    world.provider.answer = (now) => ({ kind: 'token', token: { value: 'stale', expiresAt: now } });
    expect(await world.get()).toMatchObject({
      kind: 'failure',
      reason: 'unavailable',
      fields: [],
      advice: expect.stringContaining('clocks'),
      log: 'the provider issued a token that has already expired',
    });
    await world.get();
    expect(world.provider.issued).toBe(1);
  });
});

describe('a token in frequent use', () => {
  it('survives many other tokens', async () => {
    const world = new TokenWorld({ maxTokens: 4 });
    await world.get('service');
    for (const user of ['a', 'b', 'c', 'd', 'e', 'f']) {
      await world.get(user);
      world.cache.fresh('service');
    }
    expect(world.cache.peek('service')?.value).toBe('site-token-1');
    expect(world.cache.peek('a')).toBeUndefined();
  });
});

describe('a back-off of an hour', () => {
  it('is remembered until its end, however many tokens follow', async () => {
    const world = new TokenWorld({ maxTokens: 2 });
    world.provider.lifeMs = 86_400_000;
    await world.get('a');
    world.provider.answer = () => failure('refused', { retryAfterMs: 3_600_000 });
    await world.get('refused');
    world.provider.answer = undefined;
    world.clock.advance(1_800_000);
    await world.get('refused');
    await world.get('b');
    expect(await world.value('refused')).toBe('refused');
  });
});

describe('a token cache with more callers than entries', () => {
  it('keeps the newest token while others are fetched, and stores one that was evicted during its own fetch', async () => {
    const world = new TokenWorld({ maxTokens: 1 });
    const slow = new Deferred<IssueOutcome>();
    const waiting = world.cache.get('slow', { block: 'someBlock' }, () => slow.promise);
    await world.get('quick');
    expect(world.cache.peek('quick')?.value).toBe('site-token-1');
    slow.resolve({ kind: 'token', token: { value: 'late', expiresAt: world.clock.now() + 1_000 } });
    expect(await waiting).toMatchObject({ token: { value: 'late' } });
    expect(world.cache.peek('slow')?.value).toBe('late');
  });
});

describe('an unknown key', () => {
  it('has no token', async () => {
    const { cache } = new TokenWorld();
    expect([cache.fresh('key'), cache.peek('key'), await cache.reject('key', 'token')]).toEqual([
      undefined,
      undefined,
      true,
    ]);
  });
});

describe('a token rejected by the platform', () => {
  it('is logged with its block', async () => {
    const world = new TokenWorld();
    await world.cache.reject('key', await world.value());
    expect(world.telemetry.of('token').at(-1)).toStrictEqual({
      type: 'token',
      outcome: 'rejected',
      block: 'someBlock',
    });
  });
});
