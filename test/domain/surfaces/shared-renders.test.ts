import type { CacheStore } from '../../../src/ports/cache-store.js';
import { describe, expect, it } from 'vitest';
import { SERVICE } from '../credentials/broker-fixture.js';
import { COUNTER, streamOf, SurfaceWorld, user } from './surface-world.js';
import { held } from './widget-platform.js';

const ADA = user('ada');

describe('many concurrent visitors', () => {
  it('cause one render for 200 visitors', async () => {
    const world = new SurfaceWorld();
    const shown = await Promise.all(Array.from({ length: 200 }, () => world.render(SERVICE)));
    expect(world.asked).toEqual([1, 0]);
    expect(new Set(shown.map(({ content }) => content)).size).toBe(1);
  });

  it('cause one render per user for 20 users', async () => {
    const world = new SurfaceWorld();
    const names = Array.from({ length: 200 }, (_, index) => `user${String(index % 20)}`);
    const shown = await Promise.all(names.map((name) => world.render(user(name))));
    expect(world.asked).toEqual([20, 0]);
    expect(shown.map(({ content }) => content)).toEqual(names.map((name) => `counter v1 s0 for ${name}`));
  });

  it('join a render that runs already', async () => {
    const world = new SurfaceWorld();
    const { until, release } = held();
    world.platform.holds.render.push(until);
    const first = world.beginRender();
    await world.clock.pass(0);
    const later = world.beginRender();
    await world.clock.pass(0);
    release();
    expect([(await first).content, (await later).content]).toEqual(['counter v1 s0 for ada', 'counter v1 s0 for ada']);
    expect(world.asked).toEqual([1, 0]);
  });

  it('cause one revalidation', async () => {
    const world = new SurfaceWorld();
    await world.render();
    world.clock.advance(3_000);
    const shown = await Promise.all(Array.from({ length: 50 }, () => world.render()));
    expect([world.asked, new Set(shown.map(({ cache }) => cache))]).toEqual([[1, 1], new Set(['REVALIDATED'])]);
  });

  it('all receive the error of one call when the platform is down', async () => {
    const world = new SurfaceWorld();
    world.platform.isDown = true;
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => world.render()));
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
    expect(world.asked).toEqual([1, 0]);
  });

  it('do not share an uncacheable response', async () => {
    const world = new SurfaceWorld();
    let count = 0;
    world.platform.rendered = (answer) => {
      count += 1;
      return { ...answer, headers: { ...answer.headers, 'set-cookie': 'a=b' }, body: String(count) };
    };
    const shown = await Promise.all(Array.from({ length: 5 }, () => world.render()));
    expect(new Set(shown.map(({ content }) => content)).size).toBe(5);
    expect(shown.map(({ cache }) => cache)).toEqual(['MISS', 'BYPASS', 'BYPASS', 'BYPASS', 'BYPASS']);
  });

  it.each([
    ['is too long to be cached', streamOf('12345', '67890')],
    ['is not text', Uint8Array.of(0x7b, 0xff)],
  ])('do not share a response that %s', async (_what, body) => {
    const world = new SurfaceWorld({ maxEntryBytes: 8 });
    world.platform.rendered = (answer) => ({ ...answer, body });
    const shown = await Promise.all([world.render(), world.render()]);
    expect(shown.map(({ cache }) => cache)).toEqual(['MISS', 'BYPASS']);
    expect(shown[1]?.content).toBe(shown[0]?.content);
  });

  it('get their render when the first of them disconnects', async () => {
    const world = new SurfaceWorld();
    const leaving = new AbortController();
    const first = world.render(ADA, COUNTER, { signal: leaving.signal });
    const second = world.render();
    leaving.abort();
    expect([(await first).cache, (await second).cache]).toEqual(['MISS', 'MISS']);
    expect(world.upstream.requests.map(({ signal }) => signal.aborted)).toEqual([false]);
  });
});

describe('a store that fails', () => {
  const FAILING = {
    get: () => Promise.reject(new Error('down')),
    set: () => Promise.reject(new Error('down')),
    delete: () => Promise.reject(new Error('down')),
  };

  it('costs a render for each visitor, since one that runs may be older than an action elsewhere', async () => {
    const world = new SurfaceWorld();
    const cache = world.newCache({}, FAILING);
    const shown = await Promise.all([1, 2].map(() => world.render(ADA, COUNTER, {}, cache)));
    expect([shown.map(({ cache: source }) => source), world.asked]).toEqual([
      ['MISS', 'MISS'],
      [2, 0],
    ]);
  });

  it.each([
    ['returns something other than a render', (text: string) => (text.includes('\n') ? 'garbage' : text)],
    ['has no generation', (text: string) => (text.includes('\n') ? text : undefined)],
  ])('and %s leads to a new render', async (_what, read) => {
    const world = new SurfaceWorld();
    const get = async (key: string): Promise<string | undefined> => {
      const text = await world.store.get(key);
      return text === undefined ? undefined : read(text);
    };
    const set: CacheStore['set'] = (...entry) => world.store.set(...entry);
    const cache = world.newCache({}, { get, set, delete: (key) => world.store.delete(key) });
    for (let round = 0; round < 2; round += 1) expect((await world.render(ADA, COUNTER, {}, cache)).cache).toBe('MISS');
  });
});
