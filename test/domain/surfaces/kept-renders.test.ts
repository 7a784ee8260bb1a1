import { describe, expect, it } from 'vitest';
import { COUNTER, COUNTER_BY_NAME, QUOTE, SurfaceWorld, user } from './surface-world.js';

const ADA = user('ada');

describe('of the renders kept', () => {
  it('the least recently used go first when there are too many', async () => {
    const world = new SurfaceWorld({ maxEntries: 2 });
    const render = async (body: string): Promise<unknown> => (await world.render(ADA, COUNTER, { body })).cache;
    expect([await render('1'), await render('2'), await render('1'), await render('3')]).toEqual([
      'MISS',
      'MISS',
      'HIT',
      'MISS',
    ]);
    expect([await render('1'), await render('3'), await render('2')]).toEqual(['HIT', 'HIT', 'MISS']);
  });

  it('one that is used now and then stays, however many come and go', async () => {
    const world = new SurfaceWorld({ maxEntries: 40 });
    const render = async (body: number): Promise<unknown> =>
      (await world.render(ADA, COUNTER, { body: String(body) })).cache;
    await render(0);
    for (let count = 1; count <= 200; count += 1) {
      await render(count);
      if (count % 30 === 0) expect(await render(0)).toBe('HIT');
    }
    expect(await render(1)).toBe('MISS');
  });

  it('none is believed that the store made up', async () => {
    const world = new SurfaceWorld();
    for (const garbage of [
      '',
      'x',
      '{}\nbody',
      'null\nbody',
      '{"renderedAt":1}\n',
      '{"renderedAt":0,"checkedAt":0,"versionTag":"g","etag":"","headers":null}\nx',
    ]) {
      const store = {
        get: () => Promise.resolve(garbage),
        set: () => Promise.resolve(),
        delete: () => Promise.resolve(),
      };
      expect((await world.render(ADA, COUNTER, {}, world.newCache({}, store))).cache).toBe('MISS');
    }
  });

  it("none is of the future, whatever another machine's clock says", async () => {
    const world = new SurfaceWorld();
    world.clock.advance(10_000);
    await world.render();
    world.clock.advance(-1);
    expect((await world.render()).cache).toBe('MISS');
  });
});

describe('a store', () => {
  it('keeps a render as long as it may live, and be it for hours', async () => {
    const world = new SurfaceWorld({ maxAgeMs: 7_200_000 });
    await world.render();
    world.clock.advance(7_199_999);
    expect((await world.render()).cache).toBe('REVALIDATED');
  });

  it('keeps what was rendered before a surface that is new', async () => {
    const world = new SurfaceWorld();
    await world.render(ADA, QUOTE);
    world.clock.advance(1);
    await world.render(ADA, COUNTER);
    expect((await world.render(ADA, QUOTE)).cache).toBe('HIT');
  });

  it('keeps the renders of two widgets side by side', async () => {
    const world = new SurfaceWorld();
    const seen: unknown[] = [];
    for (const ref of [COUNTER, QUOTE, COUNTER_BY_NAME, COUNTER, QUOTE])
      seen.push((await world.render(ADA, ref)).cache);
    expect(seen).toEqual(['MISS', 'MISS', 'MISS', 'HIT', 'HIT']);
  });

  it('that never forgets makes no render older than it may be', async () => {
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

  it('that another machine wrote to, whose clock is ahead, does not make a check last longer', async () => {
    const world = new SurfaceWorld();
    await world.render();
    world.clock.advance(4_000);
    await world.render();
    world.clock.advance(-1);
    expect((await world.render()).cache).toBe('REVALIDATED');
  });
});
