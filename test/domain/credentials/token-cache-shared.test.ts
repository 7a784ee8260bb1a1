import { describe, expect, it } from 'vitest';
import { FakeCacheStore } from '../../../src/adapters/fakes/fakes.js';
import { failure, settled, TokenWorld } from './token-fixture.js';

interface SharedWorld {
  readonly world: TokenWorld;
  readonly store: FakeCacheStore;
  /** Stores a token as another process would. */
  readonly put: (token: Readonly<Record<string, unknown>>) => Promise<void>;
  readonly now: number;
}

function sharedWorld(): SharedWorld {
  let store: FakeCacheStore | undefined;
  const world = new TokenWorld({ shared: (clock) => (store = new FakeCacheStore(clock)) });
  if (store === undefined) throw new Error('no store');
  const kept = store;
  const now = world.clock.now();
  const put = (token: Readonly<Record<string, unknown>>): Promise<void> =>
    kept.set('key', JSON.stringify(token), now + 1_000_000_000);
  return { world, store, put, now };
}

describe('a token in the shared store', () => {
  it('is used without a call to the provider', async () => {
    const { world, put, now } = sharedWorld();
    await put({ value: 'theirs', expiresAt: now + 60_000, issuedAt: now });
    expect(await world.value()).toBe('theirs');
    expect(world.provider.issued).toBe(0);
    expect(world.cache.fresh('key')?.expiresAt).toBe(now + 60_000);
  });

  it('is read once for 100 callers and not again while fresh', async () => {
    const { world, store, put, now } = sharedWorld();
    await put({ value: 'theirs', expiresAt: now + 60_000, issuedAt: now });
    await Promise.all(Array.from({ length: 100 }, () => world.value()));
    await world.get();
    // The token, and a refusal that another process may have stored.
    expect(store.calls.get).toBe(2);
  });

  it('is due at the time set by the process that fetched it', async () => {
    const { world, put, now } = sharedWorld();
    await put({ value: 'theirs', expiresAt: now + 12_001, issuedAt: now - 47_999 });
    expect(await world.value()).toBe('theirs');
    world.clock.advance(1);
    expect(world.cache.fresh('key')).toBeUndefined();
  });

  it.each([
    ['due', 12_000, -48_000],
    ['expired', 0, -1],
  ])('is ignored when %s', async (_what, expiresIn, issuedIn) => {
    const { world, put, now } = sharedWorld();
    await put({ value: 'theirs', expiresAt: now + expiresIn, issuedAt: now + issuedIn });
    expect(await world.value()).toBe('site-token-1');
  });

  it.each([
    [
      'is not used when the clock of its process is minutes ahead: it expires earlier than it says',
      600_000,
      'site-token-1',
    ],
    ['is used when that clock is ahead by a fiftieth of its life', 1_200, 'theirs'],
    ['is not used when that clock is further ahead', 1_201, 'site-token-1'],
  ])('%s', async (_what, aheadMs, expected) => {
    const { world, put, now } = sharedWorld();
    await put({ value: 'theirs', expiresAt: now + aheadMs + 60_000, issuedAt: now + aheadMs });
    expect(await world.value()).toBe(expected);
    world.clock.advance(60_000);
    expect(await world.value()).toBe('site-token-1');
  });

  it.each([
    ['replaces a due token without a call when it expires later', 540_000, 'theirs', 1],
    ['does not replace a token with the same expiry', 300_000, 'site-token-2', 2],
  ])('%s', async (_what, expiresIn, expected, issued) => {
    const { world, put, now } = sharedWorld();
    await world.get();
    world.clock.advance(240_000);
    await put({ value: 'theirs', expiresAt: now + expiresIn, issuedAt: now + 240_000 });
    await world.get();
    await settled();
    expect([await world.value(), world.provider.issued]).toEqual([expected, issued]);
  });

  it.each([
    'not json',
    'null',
    '7',
    '"text"',
    '[]',
    '{}',
    '{"value":"x"}',
    '{"value":"x","expiresAt":9e15}',
    '{"value":"x","expiresAt":"9e15","issuedAt":0}',
    '{"value":"x","expiresAt":9e15,"issuedAt":"0"}',
    '{"value":7,"expiresAt":9e15,"issuedAt":0}',
  ])('that is damaged (%s) is ignored', async (text) => {
    const { world, store, now } = sharedWorld();
    await store.set('key', text, now + 60_000);
    expect(await world.value()).toBe('site-token-1');
  });

  it('is served during an outage of the provider', async () => {
    const { world, put, now } = sharedWorld();
    world.provider.answer = () => failure('unavailable');
    await put({ value: 'theirs', expiresAt: now + 60_000, issuedAt: now });
    expect(await world.value()).toBe('theirs');
  });
});

describe('a token from the provider', () => {
  it('is written to the shared store until its expiry, with its time of issue', async () => {
    const { world, store, now } = sharedWorld();
    await world.get();
    expect(JSON.parse((await store.get('key')) ?? '')).toEqual({
      value: 'site-token-1',
      expiresAt: now + 300_000,
      issuedAt: now,
    });
    world.clock.advance(299_999);
    expect(await store.get('key')).toBeDefined();
    world.clock.advance(1);
    expect(await store.get('key')).toBeUndefined();
  });

  it('is served before it is written to the shared store', async () => {
    const never = new Promise<void>(() => undefined);
    const world = new TokenWorld({
      shared: () => ({
        get: () => Promise.resolve(undefined),
        set: () => never,
        delete: () => never,
      }),
    });
    expect(await world.value()).toBe('site-token-1');
  });

  it('is written to the shared store, unlike a failure', async () => {
    const { world, store } = sharedWorld();
    world.provider.answer = () => failure('unavailable');
    await world.get();
    expect(await store.get('key')).toBeUndefined();
  });
});

describe('a token rejected by the platform', () => {
  it('is removed from the shared store', async () => {
    const { world, store } = sharedWorld();
    await world.get();
    await world.cache.reject('key', 'site-token-1');
    expect(await store.get('key')).toBeUndefined();
  });

  it('is not read again when another process restores it', async () => {
    const { world, put, now } = sharedWorld();
    await put({ value: 'theirs', expiresAt: now + 60_000, issuedAt: now });
    await world.get();
    await world.cache.reject('key', 'theirs');
    await put({ value: 'theirs', expiresAt: now + 60_000, issuedAt: now });
    expect(await world.value()).toBe('site-token-1');
  });

  it("is replaced by another process's renewed token", async () => {
    const { world, put, now } = sharedWorld();
    await world.get();
    await world.cache.reject('key', 'site-token-1');
    await put({ value: 'theirs', expiresAt: now + 60_000, issuedAt: now });
    expect(await world.value()).toBe('theirs');
    expect(world.provider.issued).toBe(1);
  });
});
