import { describe, expect, it } from 'vitest';
import { FakeCacheStore } from '../../../src/adapters/fakes/fakes.js';
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

describe.each(Object.entries(BREAKAGES))('a token cache while the provider %s', (_name, answer) => {
  it('serves an unexpired token to its last millisecond', async () => {
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

  it('does not cache a failure and serves the next success', async () => {
    const world = new TokenWorld();
    world.provider.answer = answer;
    expect((await world.get()).kind).toBe('failure');
    world.provider.answer = undefined;
    world.clock.advance(30_000);
    expect(await world.value()).toBe('site-token-2');
  });
});

describe('the back-off of a provider', () => {
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

  it('is half a minute after a rejection and doubles up to a quarter of an hour', async () => {
    const world = new TokenWorld();
    world.provider.answer = () => failure('refused');
    expect(await waits(world, 7)).toEqual([30_000, 60_000, 120_000, 240_000, 480_000, 900_000, 900_000]);
  });

  it('is half a second after an outage and doubles up to half a minute, with up to half taken off at random', async () => {
    const world = new TokenWorld();
    world.provider.answer = () => failure('unavailable');
    expect(await waits(world, 8)).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
    const later = new TokenWorld();
    later.random = 0.5;
    later.provider.answer = () => failure('unavailable');
    expect(await waits(later, 7)).toEqual([375, 750, 1_500, 3_000, 6_000, 12_000, 22_500]);
  });

  it('remains at the maximum after 2,000 outages', async () => {
    const world = new TokenWorld();
    world.provider.answer = () => failure('unavailable');
    expect((await waits(world, 2_000)).at(-1)).toBe(15_000);
  });

  it('starts again after a success', async () => {
    const world = new TokenWorld();
    world.provider.answer = () => failure('refused');
    await waits(world, 3);
    world.provider.answer = undefined;
    await world.get();
    world.clock.advance(300_000);
    world.provider.answer = () => failure('refused');
    expect(await waits(world, 1)).toEqual([30_000]);
  });

  it('is the one the provider requests, and callers receive the remaining time', async () => {
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

  it('is not shortened by a shorter request', async () => {
    const world = new TokenWorld();
    world.provider.answer = () => failure('refused', { retryAfterMs: 1 });
    expect(await waits(world, 1)).toEqual([30_000]);
  });

  it('applies while an old token is still served', async () => {
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

  it('applies to one identity only, in all processes', async () => {
    const world = new TokenWorld({ shared: (clock) => new FakeCacheStore(clock) });
    world.provider.answer = () => failure('refused');
    await world.get('a');
    world.provider.answer = undefined;
    expect(await world.value('b')).toBe('site-token-2');
  });

  it('is logged with its cause', async () => {
    const world = new TokenWorld();
    world.provider.answer = () => failure('refused', { log: 'invalid_client' });
    await world.get();
    expect(world.telemetry.events).toEqual([
      { type: 'token', outcome: 'backoff', block: 'idpA', detail: 'invalid_client' },
    ]);
  });
});

describe('lifting a back-off', () => {
  it('ends it immediately, whatever failed', async () => {
    const world = new TokenWorld();
    world.provider.answer = () => failure('refused', { retryAfterMs: 3_600_000 });
    await world.get();
    world.provider.answer = undefined;
    expect(await world.value()).toBe('refused');
    world.cache.liftBackOffs();
    expect(await world.value()).toBe('site-token-2');
  });

  it('allows one call in 30 seconds, because repeated wrong passwords lock an account', async () => {
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
    world.cache.liftBackOffs();
    await world.get();
    expect(world.provider.issued).toBe(4);
  });

  it('does not affect a working token, nor the next lift', async () => {
    const world = new TokenWorld();
    world.provider.lifeMs = 1_000;
    await world.get();
    world.cache.liftBackOffs();
    expect(await world.value()).toBe('site-token-1');
    world.provider.answer = () => failure('refused');
    world.clock.advance(1_000);
    expect(await world.value()).toBe('refused');
    world.cache.liftBackOffs();
    await world.get();
    expect(world.provider.issued).toBe(3);
  });
});

describe('another failure of the provider', () => {
  it('for a missing field is retried on the next request', async () => {
    const world = new TokenWorld();
    world.provider.answer = () => failure('incomplete');
    expect(await world.get()).toEqual(failure('incomplete'));
    expect(await world.value()).toBe('incomplete');
    expect(world.provider.issued).toBe(2);
    world.provider.answer = undefined;
    expect(await world.value()).toBe('site-token-3');
  });

  it.each([
    ['TypeError', new TypeError('secret-in-message'), / at .*token-cache-failures\.test\.ts:\d+:\d+\)?$/],
    ['string', 'secret-in-message', /$/],
  ])(
    'that throws a %s is an outage, with its place and without its message in the log',
    async (kind, thrown, place) => {
      const world = new TokenWorld();
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors
      world.provider.answer = () => Promise.reject(thrown);
      expect(await world.get()).toEqual({
        kind: 'failure',
        reason: 'unavailable',
        block: 'someBlock',
        fields: [],
        advice: 'Check the "someBlock" configuration block.',
        log: expect.stringMatching(`^the identity provider adapter threw ${kind}${place.source}`) as string,
        retryAfterMs: 250,
      });
      expect(JSON.stringify(world.telemetry.events)).not.toContain('secret-in-message');
    },
  );
});

describe('a provider that returns no outcome', () => {
  it.each([[undefined], [null], [{}], [{ kind: 'token' }]])(
    'but %j is out of order, and the token it issued before is served',
    async (returned) => {
      const world = new TokenWorld();
      await world.get();
      world.clock.advance(250_000);
      const get = (): Promise<IssueOutcome> =>
        world.cache.get('key', { block: 'someBlock' }, () => Promise.resolve(returned as unknown as IssueOutcome));
      expect(await get()).toMatchObject({ token: { value: 'site-token-1' } });
      // An error of the renewal in the background would end the process.
      await settled();
      world.clock.advance(50_000);
      expect(await get()).toMatchObject({
        reason: 'unavailable',
        block: 'someBlock',
        log: expect.stringMatching('^the identity provider adapter threw TypeError') as string,
      });
    },
  );
});

describe('a failure with an error as its detail', () => {
  it('is logged as a text', async () => {
    const world = new TokenWorld();
    world.provider.answer = () => failure('refused', { log: new Error('wrong password') as unknown as string });
    await world.get();
    expect(world.telemetry.of('token')).toMatchObject([{ outcome: 'backoff', detail: 'Error: wrong password' }]);
  });
});

describe('a token rejected by the platform', () => {
  it('is not served again, and the next caller gets another', async () => {
    const world = new TokenWorld();
    await world.get();
    expect(await world.cache.reject('key', 'site-token-1')).toBe(true);
    expect(world.cache.peek('key')).toBeUndefined();
    expect(world.cache.fresh('key')).toBeUndefined();
    expect(await world.value()).toBe('site-token-2');
  });

  it('is not served, even when no other is available', async () => {
    const world = new TokenWorld();
    await world.get();
    await world.cache.reject('key', 'site-token-1');
    world.provider.answer = () => failure('unavailable');
    expect(await world.value()).toBe('unavailable');
  });

  it('does not remove its successor when it was renewed before', async () => {
    const world = new TokenWorld();
    await world.get();
    world.clock.advance(295_000);
    await world.get();
    expect(await world.cache.reject('key', 'site-token-1')).toBe(true);
    expect(world.cache.fresh('key')?.value).toBe('site-token-2');
  });

  it('is renewed once for 50 concurrent requests', async () => {
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

  it('is renewed at most once in 30 seconds', async () => {
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

  it('does not cause a renewal when it is not the current one', async () => {
    const world = new TokenWorld();
    await world.get();
    await world.cache.reject('key', 'site-token-1');
    expect(await world.cache.reject('key', 'site-token-1')).toBe(true);
    expect(await world.cache.reject('key', 'site-token-0')).toBe(false);
  });
});
