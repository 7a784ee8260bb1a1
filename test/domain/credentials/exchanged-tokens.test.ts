import { describe, expect, it } from 'vitest';
import type { UserAssertion } from '../../../src/domain/credentials/exchanged-tokens.js';
import { ExchangeWorld } from './exchange-fixture.js';

describe('an exchanged token', () => {
  it('is exchanged once for any number of requests of a user', async () => {
    const world = new ExchangeWorld();
    const found = await Promise.all(Array.from({ length: 100 }, () => world.get('anna')));
    expect(new Set(found)).toEqual(new Set(['exchanged-anna-1']));
    expect(await world.get('anna')).toBe('exchanged-anna-1');
    expect(world.asked).toEqual(['anna']);
  });

  it('is never shared with another user', async () => {
    const world = new ExchangeWorld();
    const users = Array.from({ length: 50 }, (_, number) => `user-${String(number)}`);
    const found = await Promise.all([...users, ...users.toReversed(), ...users].map((user) => world.get(user)));
    expect(found).toEqual(
      [...users, ...users.toReversed(), ...users].map((user) => expect.stringMatching(`^exchanged-${user}-\\d+$`)),
    );
    expect(world.asked).toHaveLength(50);
  });

  const others: Readonly<Record<string, UserAssertion>> = {
    'another audience': { assertion: 'anna', audience: 'b', scope: 'read' },
    'no audience': { assertion: 'anna', scope: 'read' },
    'an empty audience': { assertion: 'anna', audience: '', scope: 'read' },
    'another scope': { assertion: 'anna', audience: 'a', scope: 'write' },
    'no scope': { assertion: 'anna', audience: 'a' },
    'audience and scope swapped': { assertion: 'anna', audience: 'read', scope: 'a' },
  };
  it.each(Object.entries(others))('is not reused for %s', async (_name, other) => {
    const world = new ExchangeWorld();
    expect(await world.get({ assertion: 'anna', audience: 'a', scope: 'read' })).toBe('exchanged-anna-1');
    expect(await world.get(other)).toBe('exchanged-anna-2');
    expect(world.exchange.requests[1]).toStrictEqual(other);
  });

  it('is not reused after the client of the site changes', async () => {
    const world = new ExchangeWorld();
    await world.get('anna');
    world.exchange.name = 'client-2';
    expect(await world.get('anna')).toBe('exchanged-anna-2');
  });

  it("is cached under a key that does not contain the user's token", async () => {
    const world = new ExchangeWorld();
    const { cacheKey } = await world.tokens.obtain({ assertion: 'the-token-of-anna', audience: 'a' });
    expect(cacheKey).not.toContain('the-token');
    expect(cacheKey).toContain('hash(17na)');
    expect(await world.shared.get(cacheKey)).toContain('exchanged-the-token-of-anna-1');
  });

  it('is shared with other processes, unlike the service token', async () => {
    const { cacheKey } = await new ExchangeWorld().tokens.obtain({ assertion: 'anna', audience: 'a' });
    expect(JSON.parse(cacheKey)).toEqual(['exchanged', 'fakeExchange', '', 'a', null, 'hash(4na)']);
  });

  it('is exchanged again after a rejection by the platform', async () => {
    const world = new ExchangeWorld();
    const { cacheKey, token } = await world.tokens.obtain({ assertion: 'anna' });
    expect(await world.cache.reject(cacheKey, token.value)).toBe(true);
    expect(await world.get('anna')).toBe('exchanged-anna-2');
  });
});

describe('the expiry of an exchanged token', () => {
  it("is that of the user's token", async () => {
    const world = new ExchangeWorld();
    const assertionExpiresAt = world.clock.now() + 60_000;
    const { token } = await world.tokens.obtain({ assertion: 'anna', assertionExpiresAt });
    expect(token.expiresAt).toBe(assertionExpiresAt);
  });

  it('is that of the provider when it is sooner', async () => {
    const world = new ExchangeWorld();
    const { token } = await world.tokens.obtain({ assertion: 'anna', assertionExpiresAt: world.clock.now() + 900_000 });
    expect(token.expiresAt).toBe(world.clock.now() + 300_000);
  });

  it('is shortened by a request that knows an earlier expiry', async () => {
    const world = new ExchangeWorld();
    await world.get('anna');
    const assertionExpiresAt = world.clock.now() + 60_000;
    expect((await world.tokens.obtain({ assertion: 'anna', assertionExpiresAt })).token.expiresAt).toBe(
      assertionExpiresAt,
    );
    world.clock.advance(60_000);
    expect((await world.error({ assertion: 'anna', assertionExpiresAt })).code).toBe('session_expired');
  });

  it('applies to requests that do not know of it', async () => {
    const world = new ExchangeWorld();
    await world.get({ assertion: 'anna', assertionExpiresAt: world.clock.now() + 60_000 });
    world.clock.advance(60_000);
    expect(await world.get('anna')).toBe('exchanged-anna-2');
  });

  it.each([0, -1])('is reported without a call when the session ends in %i ms', async (ahead) => {
    const world = new ExchangeWorld();
    const error = await world.error({ assertion: 'anna', assertionExpiresAt: world.clock.now() + ahead });
    expect(error.code).toBe('session_expired');
    expect(error.logDetail()).toBe('the token of the session has expired');
    expect(world.asked).toEqual([]);
  });

  it('is assumed for a session without a token, which is not shared', async () => {
    const world = new ExchangeWorld();
    expect((await world.error('')).code).toBe('session_expired');
    expect(world.asked).toEqual([]);
  });
});
