import { describe, expect, it } from 'vitest';
import type { IssueOutcome } from '../../../src/ports/identity-provider.js';
import { failure, settled, TokenWorld } from './token-fixture.js';

const BREAKAGES: Readonly<Record<string, () => IssueOutcome | Promise<IssueOutcome>>> = {
  refuses: () => failure('refused'),
  'is unavailable': () => failure('unavailable'),
  'lacks a field': () => failure('incomplete'),
  throws: () => {
    throw new Error('secret-in-message');
  },
  rejects: () => Promise.reject(new Error('secret-in-message')),
};

describe.each(Object.entries(BREAKAGES))('while the provider %s', (_name, answer) => {
  it('a token that has not expired is served, to its last millisecond', async () => {
    const world = new TokenWorld();
    await world.get();
    world.provider.answer = answer;
    let passed = 0;
    for (const age of [240_000, 240_000, 294_999, 295_000, 295_001, 299_999]) {
      world.clock.advance(age - passed);
      passed = age;
      expect(await world.value()).toBe('site-token-1');
      await settled();
    }
    world.clock.advance(1);
    expect((await world.get()).kind).toBe('failure');
  });

  it('a failure is never kept: the first good answer afterwards is served', async () => {
    const world = new TokenWorld();
    world.provider.answer = answer;
    expect((await world.get()).kind).toBe('failure');
    world.provider.answer = undefined;
    world.clock.advance(30_000);
    expect(await world.value()).toBe('site-token-2');
  });
});

describe('a provider that failed is left alone for a while:', () => {
  async function waits(world: TokenWorld, failures: number): Promise<number[]> {
    const found: number[] = [];
    for (let count = 0; count < failures; count += 1) {
      const asked = world.provider.issued;
      await world.get();
      expect(world.provider.issued).toBe(asked + 1);
      const again = await world.get();
      if (again.kind !== 'failure') throw new Error('a token');
      const wait = again.retryAfterMs ?? 0;
      found.push(wait);
      world.clock.advance(wait - 1);
      await world.get();
      expect(world.provider.issued, `asked before ${String(wait)} ms`).toBe(asked + 1);
      world.clock.advance(1);
    }
    return found;
  }

  it('after a refusal for half a minute, then twice as long each time, up to a quarter of an hour', async () => {
    const world = new TokenWorld();
    world.provider.answer = () => failure('refused');
    expect(await waits(world, 7)).toEqual([30_000, 60_000, 120_000, 240_000, 480_000, 900_000, 900_000]);
  });

  it('after an outage for half a second, then twice as long each time, up to half a minute, less up to half by chance', async () => {
    const world = new TokenWorld();
    world.provider.answer = () => failure('unavailable');
    expect(await waits(world, 8)).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
    const later = new TokenWorld();
    later.random = 0.5;
    later.provider.answer = () => failure('unavailable');
    expect(await waits(later, 7)).toEqual([375, 750, 1_500, 3_000, 6_000, 12_000, 22_500]);
  });

  it('after 2,000 outages still for the longest span', async () => {
    const world = new TokenWorld();
    world.provider.answer = () => failure('unavailable');
    expect((await waits(world, 2_000)).at(-1)).toBe(15_000);
  });

  it('a success starts the count anew', async () => {
    const world = new TokenWorld();
    world.provider.answer = () => failure('refused');
    await waits(world, 3);
    world.provider.answer = undefined;
    await world.get();
    world.clock.advance(300_000);
    world.provider.answer = () => failure('refused');
    expect(await waits(world, 1)).toEqual([30_000]);
  });

  it('as long as it asked for, and callers are told what is left of it', async () => {
    const world = new TokenWorld();
    world.provider.answer = () => failure('unavailable', { retryAfterMs: 10_000 });
    await world.get();
    world.provider.answer = undefined;
    world.clock.advance(4_000);
    expect(await world.get()).toEqual(failure('unavailable', { retryAfterMs: 6_000 }));
    world.clock.advance(5_999);
    expect(await world.get()).toMatchObject({ kind: 'failure', retryAfterMs: 1 });
    world.clock.advance(1);
    expect(await world.value()).toBe('site-token-2');
  });

  it('not shorter because it asked for less', async () => {
    const world = new TokenWorld();
    world.provider.answer = () => failure('refused', { retryAfterMs: 1 });
    expect(await waits(world, 1)).toEqual([30_000]);
  });

  it('also while an old token is still served', async () => {
    const world = new TokenWorld();
    await world.get();
    world.provider.answer = () => failure('unavailable');
    world.clock.advance(240_000);
    for (let count = 0; count < 10; count += 1) {
      await world.get();
      await settled();
    }
    expect(world.provider.issued).toBe(2);
    world.clock.advance(250);
    await world.get();
    await settled();
    expect(world.provider.issued).toBe(3);
  });

  it("one identity's failure is not another's", async () => {
    const world = new TokenWorld();
    world.provider.answer = () => failure('refused');
    await world.get('a');
    world.provider.answer = undefined;
    expect(await world.value('b')).toBe('site-token-2');
  });

  it('and operators are told why', async () => {
    const world = new TokenWorld();
    world.provider.answer = () => failure('refused', { detail: 'invalid_client' });
    await world.get();
    expect(world.telemetry.events).toEqual([
      { type: 'token', outcome: 'backoff', block: 'idpA', detail: 'invalid_client' },
    ]);
  });
});

describe('a back-off that is lifted', () => {
  it('ends immediately, whatever the provider refused', async () => {
    const world = new TokenWorld();
    world.provider.answer = () => failure('refused', { retryAfterMs: 3_600_000 });
    await world.get();
    world.provider.answer = undefined;
    expect(await world.value()).toBe('refused');
    world.cache.liftBackOffs();
    expect(await world.value()).toBe('site-token-2');
  });

  it('costs one request in 30 seconds, however often it is lifted: ten wrong passwords lock a user out', async () => {
    const world = new TokenWorld();
    world.provider.answer = () => failure('refused');
    await world.get();
    for (let count = 0; count < 59; count += 1) {
      world.cache.liftBackOffs();
      await world.get();
      world.clock.advance(500);
    }
    expect(world.provider.issued).toBe(2);
    world.clock.advance(500);
    await world.get();
    expect(world.provider.issued).toBe(3);
  });

  it('leaves a token that works alone', async () => {
    const world = new TokenWorld();
    await world.get();
    world.cache.liftBackOffs();
    expect(await world.value()).toBe('site-token-1');
  });
});

describe('a failure of another kind', () => {
  it('a missing field is looked for again at the very next request', async () => {
    const world = new TokenWorld();
    world.provider.answer = () => failure('incomplete');
    expect(await world.get()).toEqual(failure('incomplete'));
    expect(await world.value()).toBe('incomplete');
    expect(world.provider.issued).toBe(2);
    world.provider.answer = undefined;
    expect(await world.value()).toBe('site-token-3');
  });

  it('a provider that throws is unavailable, and its message is kept out of the log', async () => {
    const world = new TokenWorld();
    world.provider.answer = () => {
      throw new TypeError('secret-in-message');
    };
    expect(await world.get()).toEqual({
      kind: 'failure',
      reason: 'unavailable',
      block: 'someBlock',
      fields: [],
      advice: 'Check the "someBlock" configuration block.',
      detail: 'the identity provider adapter threw TypeError',
      retryAfterMs: 250,
    });
    expect(JSON.stringify(world.telemetry.events)).not.toContain('secret-in-message');
  });
});

describe('a token the platform refused', () => {
  it('is not served again, and the next caller gets another', async () => {
    const world = new TokenWorld();
    await world.get();
    expect(await world.cache.reject('key', 'site-token-1')).toBe(true);
    expect(world.cache.peek('key')).toBeUndefined();
    expect(world.cache.fresh('key')).toBeUndefined();
    expect(await world.value()).toBe('site-token-2');
  });

  it('is not served again even when no other can be had', async () => {
    const world = new TokenWorld();
    await world.get();
    await world.cache.reject('key', 'site-token-1');
    world.provider.answer = () => failure('unavailable');
    expect(await world.value()).toBe('unavailable');
  });

  it('and was renewed meanwhile takes nothing away from its successor', async () => {
    const world = new TokenWorld();
    await world.get();
    world.clock.advance(295_000);
    await world.get();
    expect(await world.cache.reject('key', 'site-token-1')).toBe(true);
    expect(world.cache.fresh('key')?.value).toBe('site-token-2');
  });

  it('by 50 requests at once is renewed once', async () => {
    const world = new TokenWorld();
    await world.get();
    const values = await Promise.all(
      Array.from({ length: 50 }, async () => {
        expect(await world.cache.reject('key', 'site-token-1')).toBe(true);
        return world.value();
      }),
    );
    expect(new Set(values)).toEqual(new Set(['site-token-2']));
    expect(world.provider.issued).toBe(2);
  });

  it('is renewed at most once in 30 seconds, since renewing did not help', async () => {
    const world = new TokenWorld();
    await world.get();
    await world.cache.reject('key', 'site-token-1');
    await world.get();
    world.clock.advance(29_999);
    expect(await world.cache.reject('key', 'site-token-2')).toBe(false);
    expect(await world.value()).toBe('site-token-2');
    world.clock.advance(1);
    expect(await world.cache.reject('key', 'site-token-2')).toBe(true);
    expect(await world.value()).toBe('site-token-3');
  });

  it('of an identity that is not known here may be asked for', async () => {
    expect(await new TokenWorld().cache.reject('key', 'whatever')).toBe(true);
  });

  it('other than the one that was just dropped is no reason to renew', async () => {
    const world = new TokenWorld();
    await world.get();
    await world.cache.reject('key', 'site-token-1');
    expect(await world.cache.reject('key', 'site-token-1')).toBe(true);
    expect(await world.cache.reject('key', 'site-token-0')).toBe(false);
  });
});
