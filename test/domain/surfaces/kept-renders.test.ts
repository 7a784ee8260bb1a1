import { describe, expect, it } from 'vitest';
import { COUNTER, QUOTE, SurfaceWorld, user } from './surface-world.js';

const ADA = user('ada');

describe('a store', () => {
  it.each([
    ['rendered in the future', [10_000, -1], 'MISS'],
    ['revalidated in the future', [0, 4_000, -1], 'REVALIDATED'],
  ])('with an entry %s, from a machine with a fast clock, does not delay the next call', async (_what, waits, last) => {
    const world = new SurfaceWorld();
    const seen: unknown[] = [];
    for (const ms of waits) {
      world.clock.advance(ms);
      seen.push((await world.render()).cache);
    }
    expect(seen.at(-1)).toBe(last);
  });

  it('keeps a render for its lifetime, even for hours', async () => {
    const world = new SurfaceWorld({ maxAgeMs: 7_200_000 });
    await world.render();
    world.clock.advance(7_199_999);
    expect((await world.render()).cache).toBe('REVALIDATED');
  });

  it('keeps earlier renders when a new surface is rendered', async () => {
    const world = new SurfaceWorld();
    await world.render(ADA, QUOTE);
    world.clock.advance(1);
    await world.render(ADA, COUNTER);
    expect((await world.render(ADA, QUOTE)).cache).toBe('HIT');
  });

  it("that never expires an entry does not extend a render's lifetime", async () => {
    const world = new SurfaceWorld();
    const entries = new Map<string, string>();
    const store = {
      get: (key: string) => Promise.resolve(entries.get(key)),
      set: (key: string, value: string) => Promise.resolve(void entries.set(key, value)),
      delete: (key: string) => Promise.resolve(void entries.delete(key)),
    };
    const cache = world.newCache({}, store);
    await world.render(ADA, COUNTER, {}, cache);
    world.clock.advance(299_999);
    expect((await world.render(ADA, COUNTER, {}, cache)).cache).toBe('REVALIDATED');
    world.clock.advance(1);
    expect((await world.render(ADA, COUNTER, {}, cache)).cache).toBe('MISS');
  });
});
