import { describe, expect, it } from 'vitest';
import { StoreBudget } from '../../../src/domain/surfaces/store-budget.js';
import { COUNTER, SurfaceWorld, user } from './surface-world.js';

describe('eight processes that share a store', () => {
  it('serve 1,000 users from it, and none deletes a render that others use', async () => {
    const world = new SurfaceWorld();
    const processes = Array.from({ length: 8 }, () => world.newCache());
    const users = Array.from({ length: 1_000 }, (_, index) => user(`user${String(index)}`));
    const seen: unknown[] = [];
    for (const [round, cache] of processes.entries())
      for (const one of users) {
        const { cache: status } = await world.render(one, COUNTER, {}, cache);
        if (round > 0) seen.push(status);
      }
    expect([new Set(seen), world.store.calls.delete, world.asked]).toEqual([new Set(['HIT']), 0, [1_000, 0]]);
  });
});

describe('the renders that a process leaves in a shared store', () => {
  const DAY_MS = 86_400_000;

  it('stay within the limit when every visitor comes once', () => {
    const budget = new StoreBudget();
    const stored = Array.from({ length: 3_000 }, (_, index) =>
      budget.admits(`key ${String(index)}`, { bytes: 50_000, expiresAt: DAY_MS, now: 0, limitBytes: 1_000_000 }),
    );
    expect(stored.filter(Boolean)).toHaveLength(20);
  });

  it('are stored beyond the limit when they are requested a second time', () => {
    const budget = new StoreBudget();
    const ask = (): boolean => budget.admits('key', { bytes: 50_000, expiresAt: DAY_MS, now: 0, limitBytes: 10 });
    expect([ask(), ask(), ask()]).toEqual([false, true, true]);
  });

  it('are stored at the second request if 4 MB hold the keys requested since the first', () => {
    const budget = new StoreBudget();
    const ask = (key: string, length: number): boolean =>
      budget.admits(key.repeat(length), { bytes: 50_000, expiresAt: DAY_MS, now: 0, limitBytes: 10 });
    // Two bytes a character, and 128 for the entry.
    const fits = 2_097_152 / 2 - 64;
    expect([ask('a', fits), ask('b', fits), ask('a', fits)]).toEqual([false, false, true]);
    expect([ask('a', fits + 1), ask('b', fits + 1), ask('a', fits + 1)]).toEqual([false, false, false]);
  });

  it.each([
    [9_999, false],
    [10_000, true],
  ])('count until they expire (after %i ms another one fits: %s)', (now, isAdmitted) => {
    const budget = new StoreBudget();
    budget.admits('one', { bytes: 900, expiresAt: 10_000, now: 0, limitBytes: 1_000 });
    const admits = (key: string): boolean =>
      budget.admits(key, { bytes: 900, expiresAt: DAY_MS, now, limitBytes: 1_000 });
    expect([admits('other'), admits('third')]).toEqual([isAdmitted, false]);
  });

  it('are no longer counted after their expiry, even if the clock was set back before', () => {
    const budget = new StoreBudget();
    const admits = (key: string, now: number, bytes: number): boolean =>
      budget.admits(key, { bytes, expiresAt: now + 10_000, now, limitBytes: 1_000 });
    admits('early', 2 * DAY_MS, 1);
    const stored = [DAY_MS, DAY_MS + 5_000, DAY_MS + 20_000].map((now) => admits(String(now), now, 900));
    expect(stored).toEqual([true, false, true]);
  });

  it('are not counted again when a check finds them unchanged', async () => {
    const world = new SurfaceWorld();
    const budget = new StoreBudget();
    const cache = world.newCache({ budget, storeBytes: 400 });
    const show = async (body?: string): Promise<unknown> =>
      (await world.render(undefined, COUNTER, body === undefined ? {} : { body }, cache)).cache;
    const seen = [await show()];
    for (let check = 0; check < 5; check += 1) {
      world.clock.advance(3_000);
      seen.push(await show());
    }
    expect(seen).toEqual(['MISS', ...Array.from({ length: 5 }, () => 'REVALIDATED')]);
    expect([await show('1'), await show('1'), await show('1')]).toEqual(['MISS', 'MISS', 'HIT']);
  });
});
