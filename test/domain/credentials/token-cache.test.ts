import { describe, expect, it } from 'vitest';
import type { IssueOutcome } from '../../../src/ports/identity-provider.js';
import { Deferred, failure, settled, TokenWorld } from './token-fixture.js';

describe('concurrent callers', () => {
  it.each([
    ['issues a token', undefined, 'site-token-1'],
    ['rejects', () => failure('refused'), 'refused'],
  ])('cause one call, even 1,000 of them, when the provider %s', async (_what, answer, expected) => {
    const world = new TokenWorld();
    world.provider.answer = answer;
    const values = await Promise.all(Array.from({ length: 1_000 }, () => world.value()));
    expect(new Set(values)).toEqual(new Set([expected]));
    expect(world.provider.issued).toBe(1);
  });

  it('wait for a running call', async () => {
    const world = new TokenWorld();
    const answer = new Deferred<IssueOutcome>();
    world.provider.answer = () => answer.promise;
    const first = world.value();
    await settled();
    const second = world.value();
    answer.resolve({ kind: 'token', token: { value: 'late', expiresAt: world.clock.now() + 60_000 } });
    expect(await Promise.all([first, second])).toEqual(['late', 'late']);
    expect(world.provider.issued).toBe(1);
  });

  it('never share tokens between two identities', async () => {
    const world = new TokenWorld();
    expect(await Promise.all([world.value('a'), world.value('b')])).toEqual(['site-token-1', 'site-token-2']);
    expect(await Promise.all([world.value('a'), world.value('b')])).toEqual(['site-token-1', 'site-token-2']);
  });
});

describe.each([
  { life: 'a minute', lifeMs: 60_000, staleAfter: 48_000, renewAfter: 58_800 },
  { life: 'five minutes', lifeMs: 300_000, staleAfter: 240_000, renewAfter: 295_000 },
  { life: 'a day', lifeMs: 86_400_000, staleAfter: 86_280_000, renewAfter: 86_395_000 },
])('a token that lives $life', ({ lifeMs, staleAfter, renewAfter }) => {
  async function aged(ms: number): Promise<TokenWorld> {
    const world = new TokenWorld();
    world.provider.lifeMs = lifeMs;
    await world.get();
    world.clock.advance(ms);
    return world;
  }

  it('is served from memory until it is due', async () => {
    const world = await aged(staleAfter - 1);
    expect(world.cache.fresh('key')?.value).toBe('site-token-1');
    expect(await world.value()).toBe('site-token-1');
    await settled();
    expect(world.provider.issued).toBe(1);
    expect(world.telemetry.of('token').map(({ outcome }) => outcome)).toEqual(['acquired']);
  });

  it('is served when due, while it is renewed in the background', async () => {
    const world = await aged(staleAfter);
    expect(world.cache.fresh('key')).toBeUndefined();
    expect(await world.value()).toBe('site-token-1');
    await settled();
    expect(world.provider.issued).toBe(2);
    expect(await world.value()).toBe('site-token-2');
  });

  it('does not delay callers until shortly before its expiry, however slow the provider is', async () => {
    const world = await aged(renewAfter - 1);
    world.provider.answer = () => new Deferred<IssueOutcome>().promise;
    expect(await Promise.all([world.value(), world.value()])).toEqual(['site-token-1', 'site-token-1']);
    expect(world.provider.issued).toBe(2);
  });

  it('delays callers just before its expiry', async () => {
    const world = await aged(renewAfter);
    expect(await world.value()).toBe('site-token-2');
  });
});

describe('a due token', () => {
  it('becomes due up to a tenth earlier at random, so that processes do not renew together', async () => {
    const world = new TokenWorld();
    world.random = 0.5;
    world.provider.lifeMs = 60_000;
    await world.get();
    world.clock.advance(47_399);
    expect(world.cache.fresh('key')?.value).toBe('site-token-1');
    world.clock.advance(1);
    expect(world.cache.fresh('key')).toBeUndefined();
  });

  it('is renewed once for 100 callers', async () => {
    const world = new TokenWorld();
    await world.get();
    world.clock.advance(240_000);
    await Promise.all(Array.from({ length: 100 }, () => world.value()));
    await settled();
    expect(world.provider.issued).toBe(2);
  });

  it('is reported as acquired, served stale and renewed, with its duration', async () => {
    const world = new TokenWorld();
    world.provider.answer = (now) => {
      world.clock.advance(80);
      return { kind: 'token', token: { value: 'slow', expiresAt: now + 300_000 } };
    };
    await world.get();
    world.clock.advance(240_000);
    await world.get();
    await settled();
    expect(world.telemetry.of('token')).toEqual([
      { type: 'token', outcome: 'acquired', block: 'someBlock', durationMs: 80 },
      { type: 'token', outcome: 'stale_served', block: 'someBlock' },
      { type: 'token', outcome: 'renewed', block: 'someBlock', durationMs: 80 },
    ]);
  });

  it('can be peeked at until it expires', async () => {
    const world = new TokenWorld();
    expect(world.cache.peek('key')).toBeUndefined();
    await world.get();
    world.clock.advance(299_999);
    expect(world.cache.peek('key')?.value).toBe('site-token-1');
    world.clock.advance(1);
    expect(world.cache.peek('key')).toBeUndefined();
    expect(world.provider.issued).toBe(1);
  });
});

describe('the token memory', () => {
  it('drops the least recently used identity first', async () => {
    const world = new TokenWorld({ maxTokens: 2 });
    for (const key of ['a', 'b', 'a', 'c']) await world.get(key);
    expect(['a', 'b', 'c'].map((key) => world.cache.peek(key)?.value)).toEqual([
      'site-token-1',
      undefined,
      'site-token-3',
    ]);
  });

  it('does not drop an identity during its fetch', async () => {
    const world = new TokenWorld({ maxTokens: 1 });
    const answer = new Deferred<IssueOutcome>();
    world.provider.answer = () => answer.promise;
    const waiting = [world.value('a')];
    await settled();
    world.provider.answer = undefined;
    await world.value('b');
    waiting.push(world.value('a'));
    answer.resolve({ kind: 'token', token: { value: 'for-a', expiresAt: world.clock.now() + 60_000 } });
    expect(await Promise.all(waiting)).toEqual(['for-a', 'for-a']);
    expect(world.provider.issued).toBe(2);
  });
});
