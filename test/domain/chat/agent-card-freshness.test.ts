import { describe, expect, it } from 'vitest';
import { FakeSessionTokenSource } from '../../../src/adapters/fakes/fakes.js';
import { secret } from '../../../src/domain/shared/secret.js';
import { REQUEST, SERVICE } from '../credentials/broker-fixture.js';
import {
  ADDRESSES,
  at,
  CARD,
  ConfigWorld,
  credentialOf,
  ENTRANCE,
  NEAR,
  NOT_FOUND,
  served,
  session,
} from './config-world.js';
import { FakeClock } from '../../../src/adapters/fakes/fakes.js';
import { memoryOf } from '../../support/memory.js';

describe('a cached card', () => {
  const near = (card: unknown, headers: Record<string, string> = {}) => at(NEAR, served(card, headers));

  it.each([
    ['a minute when the agent sends no Cache-Control', {}, 60_000],
    ['the max-age that the agent sends', { 'cache-control': 'public, max-age=120' }, 120_000],
    ['five minutes when the agent sends more', { 'cache-control': 'max-age=3600' }, 300_000],
  ])('is fresh for %s', async (_what, headers, lifeMs) => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(near(CARD, headers));
    await world.read();
    world.clock.advance(lifeMs - 1);
    await world.read();
    expect(world.near).toHaveLength(1);
    world.clock.advance(1);
    await world.read();
    expect(world.near).toHaveLength(2);
  });

  it.each(['no-store', 'private, no-cache', 'max-age=0'])(
    'is fetched each time when the agent sends %s',
    async (control) => {
      const world = new ConfigWorld();
      world.upstream.willAnswer(near(CARD, { 'cache-control': control }));
      await world.read();
      await world.read();
      expect(world.near).toHaveLength(2);
    },
  );

  it('is revalidated by its entity tag and fresh again when unchanged', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(near(CARD, { etag: 'W/"1"', 'cache-control': 'max-age=100' }));
    await world.read();
    world.clock.advance(100_000);
    world.upstream.willAnswer(at(NEAR, { status: 304, headers: {}, body: null }));
    expect((await world.card())?.['name']).toBe('Agent');
    world.clock.advance(99_999);
    await world.read();
    expect(world.near.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, 'W/"1"']);
  });

  it('that must not be stored is never revalidated', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(near(CARD, { etag: '"1"', 'cache-control': 'No-Store' }));
    await world.read();
    await world.read();
    expect(world.near.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, undefined]);
  });

  it('with two entity tags is refetched unconditionally', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(at(NEAR, { ...served(), headers: { etag: ['"1"', '"2"'] } }));
    await world.read();
    world.clock.advance(60_000);
    await world.read();
    expect(world.near.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, undefined]);
  });

  it("is replaced when the agent's card has changed", async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(near(CARD, { etag: '"1"' }));
    await world.read();
    world.clock.advance(60_000);
    world.upstream.willAnswer(near({ ...CARD, name: 'New' }, { etag: '"2"' }));
    expect((await world.card())?.['name']).toBe('New');
  });

  it('is not served when its revalidation fails', async () => {
    const world = new ConfigWorld();
    await world.read();
    world.clock.advance(60_000);
    world.upstream.willAnswer(() => ({ kind: 'failure', reason: 'reset', log: '' }));
    await expect(world.read()).rejects.toMatchObject({ code: 'upstream_unreachable' });
  });

  it('is separate for each version and caller', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(near(CARD));
    const ownKey: typeof SERVICE = { kind: 'service', strategy: '', apiKey: secret('other-key') };
    for (const auth of [SERVICE, ownKey, session('ada'), session('bob')]) {
      for (const version of ['', '1.0']) await world.read(version, auth);
    }
    expect(world.near).toHaveLength(8);
    for (const auth of [SERVICE, ownKey, session('ada'), session('bob')]) await world.read('1.0', auth);
    expect(world.near).toHaveLength(8);
  });

  it("survives a renewal of the service's token", async () => {
    const world = new ConfigWorld();
    world.account.lifeMs = 30_000;
    await world.read();
    world.clock.advance(31_000);
    await world.read();
    expect(world.asked.map(({ token }) => token)).toEqual(['account-token-1', 'account-token-2']);
    expect(world.paths).toEqual(ADDRESSES);
  });

  it("fetched with the site's own headers is served to the same headers only", async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(near(CARD));
    const own = (value: string) =>
      ({ kind: 'headers', obtain: () => Promise.resolve(credentialOf({ 'x-own': value })) }) as const;
    for (const value of ['1', '2', '1']) await world.read('', own(value));
    expect(world.near).toHaveLength(2);
  });

  it('of a user without a subject is served to the same token only', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(near(CARD));
    const somebody = (accessToken: string) => {
      const source = new FakeSessionTokenSource({ kind: 'token', accessToken });
      return { ...session(), source } as typeof SERVICE;
    };
    for (const token of ['1', '2', '1']) await world.read('', somebody(token));
    expect(world.near).toHaveLength(2);
  });

  it('is evicted by newer ones when their total size is too large', async () => {
    const world = new ConfigWorld({ memory: memoryOf(new FakeClock(), 14_000) });
    world.upstream.willAnswer(near({ ...CARD, description: 'x'.repeat(1_000) }));
    for (const version of ['0.2', '0.3', '1.0', '1.0', '0.3', '0.2']) await world.read(version);
    expect(world.near.map(({ headers }) => headers['a2a-version'])).toEqual(['0.2', '0.3', '1.0', '0.2']);
  });

  it('is fetched once for all waiting callers, and its absence is cached for half a minute', async () => {
    const world = new ConfigWorld();
    world.upstream.willAnswer(() => NOT_FOUND);
    const failed = await Promise.allSettled([world.card(), world.card()]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    world.upstream.willAnswer(near(CARD));
    world.clock.advance(29_999);
    await expect(world.card()).rejects.toMatchObject({ detail: 'No agent card found.' });
    expect(world.near).toHaveLength(1);
    world.clock.advance(1);
    await Promise.all([world.card(), world.card(), world.card()]);
    expect(world.near).toHaveLength(2);
  });

  it('is fetched without the abort signal of any caller', async () => {
    const world = new ConfigWorld();
    const leaving = new AbortController();
    leaving.abort();
    await world.config.record('', { ...REQUEST, signal: leaving.signal } as typeof REQUEST, SERVICE, ENTRANCE);
    expect(world.upstream.requests[0]?.signal.aborted).toBe(false);
  });
});
