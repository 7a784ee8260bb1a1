import { describe, expect, it } from 'vitest';
import type { CacheStore } from '../../../src/ports/cache-store.js';
import { COUNTER, QUOTE, SurfaceWorld, user } from './surface-world.js';
import { plain } from './two-processes.js';

const ADA = user('ada');

describe('a store that fails', () => {
  it('accepts an action but does not write it, and this process serves no older render', async () => {
    const world = new SurfaceWorld();
    let isDown = false;
    // As a store would that hides its errors.
    const store: CacheStore = {
      ...plain(world.store),
      set: (key, value, expiresAt) => (isDown ? Promise.resolve() : world.store.set(key, value, expiresAt)),
    };
    const cache = world.newCache({}, store);
    await world.render(ADA, COUNTER, {}, cache);
    isDown = true;
    await world.act(ADA, COUNTER, {}, cache);
    expect((await world.render(ADA, COUNTER, {}, cache)).content).toBe('counter v1 s1 for ada');
    isDown = false;
    await world.clock.pass(1_000);
    const elsewhere = world.newCache({}, store);
    expect((await world.render(ADA, COUNTER, {}, elsewhere)).content).toBe('counter v1 s1 for ada');
  });

  it('loses a version tag, and the next visitor gets a new render', async () => {
    const world = new SurfaceWorld();
    const forgetful = new Set<string>();
    const store: CacheStore = {
      ...plain(world.store),
      get: (key) => (forgetful.has(key) ? Promise.resolve(undefined) : world.store.get(key)),
      set: (key, value, expiresAt) => {
        forgetful.delete(key);
        if (key.startsWith('agent-bff:1:tag:')) tags.add(key);
        return world.store.set(key, value, expiresAt);
      },
    };
    const tags = new Set<string>();
    const cache = world.newCache({}, store);
    await world.render(ADA, COUNTER, {}, cache);
    await world.act(ADA, COUNTER, {}, cache);
    for (const tag of tags) forgetful.add(tag);
    expect((await world.render(ADA, COUNTER, {}, cache)).content).toBe('counter v1 s1 for ada');
  });

  it('loses the version tags of a render, which is not confused with another of the same text', async () => {
    const world = new SurfaceWorld();
    const tags = ['a', 'bc', 'ab', 'c'].values();
    const written: string[] = [];
    const store: CacheStore = {
      ...plain(world.store),
      set: (key, value, expiresAt) => {
        written.push(key);
        return world.store.set(key, value, expiresAt);
      },
    };
    const cache = world.newCache({ newVersionTag: () => tags.next().value ?? 'none' }, store);
    await world.render(ADA, COUNTER, {}, cache);
    const [everything = '', surface = ''] = written;
    for (const tag of [everything, surface]) await world.store.delete(tag);
    expect((await world.render(ADA, COUNTER, {}, cache)).cache).toBe('MISS');
  });

  it.each([
    '',
    '5',
    'null',
    '[]',
    '[5]',
    '[null]',
    '[{"by":"other","value":"x"}]',
    '[{"by":"id","value":7}]',
    '[{"by":"id"}]',
    '[{"by":"id","value":"counter"},null]',
  ])('returns invalid names of a surface (%j), and all renders of the user are invalidated', async (garbage) => {
    const world = new SurfaceWorld();
    const store: CacheStore = {
      ...plain(world.store),
      get: async (key) => {
        const text = await world.store.get(key);
        return text?.startsWith('[') === true ? garbage : text;
      },
    };
    const cache = world.newCache({}, store);
    await world.render(ADA, COUNTER, {}, cache);
    await world.render(ADA, QUOTE, {}, cache);
    expect((await world.act(ADA, COUNTER, {}, cache)).status).toBe(200);
    expect((await world.render(ADA, QUOTE, {}, cache)).cache).toBe('MISS');
  });

  it('returns something other than a render, and the visitor gets a new render', async () => {
    const world = new SurfaceWorld();
    const store = { ...plain(world.store), get: async (key: string) => (await world.store.get(key)) && 'garbage' };
    const cache = world.newCache({}, store);
    for (let round = 0; round < 2; round += 1) expect((await world.render(ADA, COUNTER, {}, cache)).cache).toBe('MISS');
  });

  it('does not store renders, and every visitor is served', async () => {
    const world = new SurfaceWorld();
    const store = {
      get: () => Promise.resolve(undefined),
      set: () => Promise.resolve(),
      delete: () => Promise.resolve(),
    };
    const cache = world.newCache({}, store);
    for (let round = 0; round < 3; round += 1) expect((await world.render(ADA, COUNTER, {}, cache)).cache).toBe('MISS');
  });
});
