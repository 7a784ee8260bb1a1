import { describe, expect, it } from 'vitest';
import type { CacheStore } from '../../../src/ports/cache-store.js';
import { COUNTER, QUOTE, SurfaceWorld, user } from './surface-world.js';

const ADA = user('ada');

describe('a store that fails', () => {
  /** A store that loses writes while it is down. */
  function unreliable(inner: CacheStore): CacheStore & { isDown: boolean; isBlind: boolean } {
    return {
      isDown: false,
      isBlind: false,
      get(key) {
        return this.isBlind ? Promise.resolve(undefined) : inner.get(key);
      },
      set(key, value, expiresAt) {
        return this.isDown ? Promise.resolve() : inner.set(key, value, expiresAt);
      },
      delete: (key) => inner.delete(key),
    };
  }

  it.each([false, true])(
    "loses an action's version tag, and this process still serves no stale render (blind: %s)",
    async (isBlind) => {
      const world = new SurfaceWorld();
      const store = unreliable(world.store);
      const cache = world.newCache({}, store);
      await world.render(ADA, COUNTER, {}, cache);
      Object.assign(store, { isDown: true, isBlind });
      await world.act(ADA, COUNTER, {}, cache);
      store.isBlind = false;
      expect(await world.render(ADA, COUNTER, {}, cache)).toMatchObject({
        cache: 'BYPASS',
        content: 'counter v1 s1 for ada',
      });
      store.isDown = false;
      const elsewhere = world.newCache({}, store);
      expect(await world.render(ADA, COUNTER, {}, cache)).toMatchObject({
        cache: 'MISS',
        content: 'counter v1 s1 for ada',
      });
      expect(await world.render(ADA, COUNTER, {}, elsewhere)).toMatchObject({
        cache: 'HIT',
        content: 'counter v1 s1 for ada',
      });
    },
  );

  it('loses a version tag, and the next visitor gets a new render', async () => {
    const world = new SurfaceWorld();
    const forgetful = new Set<string>();
    const store: CacheStore = {
      get: (key) => (forgetful.has(key) ? Promise.resolve(undefined) : world.store.get(key)),
      set: (key, value, expiresAt) => {
        forgetful.delete(key);
        if (key.startsWith('agent-bff:1:tag:')) tags.add(key);
        return world.store.set(key, value, expiresAt);
      },
      delete: (key) => world.store.delete(key),
    };
    const tags = new Set<string>();
    const cache = world.newCache({}, store);
    await world.render(ADA, COUNTER, {}, cache);
    await world.act(ADA, COUNTER, {}, cache);
    for (const mark of tags) forgetful.add(mark);
    expect((await world.render(ADA, COUNTER, {}, cache)).content).toBe('counter v1 s1 for ada');
  });

  it('fails during an action, and no stale render is served afterwards', async () => {
    const world = new SurfaceWorld();
    const store = unreliable(world.store);
    const dying: CacheStore = {
      get: (key) => store.get(key),
      set: (key, value, expiresAt) => {
        if (value === 'the last') Object.assign(store, { isDown: true, isBlind: true });
        return store.set(key, value, expiresAt);
      },
      delete: (key) => store.delete(key),
    };
    const tags = ['everything', 'counter', 'the last', 'later', 'later still'];
    const cache = world.newCache({ newVersionTag: () => tags.shift() ?? 'none' }, dying);
    await world.render(ADA, COUNTER, {}, cache);
    await world.act(ADA, COUNTER, {}, cache);
    Object.assign(store, { isDown: true, isBlind: false });
    expect((await world.render(ADA, COUNTER, {}, cache)).content).toBe('counter v1 s1 for ada');
  });

  it('loses the version tags of a render, which is not confused with another of the same text', async () => {
    const world = new SurfaceWorld();
    const tags = ['a', 'bc', 'ab', 'c'].values();
    const written: string[] = [];
    const store: CacheStore = {
      get: (key) => world.store.get(key),
      set: (key, value, expiresAt) => {
        written.push(key);
        return world.store.set(key, value, expiresAt);
      },
      delete: (key) => world.store.delete(key),
    };
    const cache = world.newCache({ newVersionTag: () => tags.next().value ?? 'none' }, store);
    await world.render(ADA, COUNTER, {}, cache);
    const [everything = '', surface = ''] = written;
    for (const mark of [everything, surface]) await world.store.delete(mark);
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
      get: async (key) => {
        const text = await world.store.get(key);
        return text?.startsWith('[') === true ? garbage : text;
      },
      set: (key, value, expiresAt) => world.store.set(key, value, expiresAt),
      delete: (key) => world.store.delete(key),
    };
    const cache = world.newCache({}, store);
    await world.render(ADA, COUNTER, {}, cache);
    await world.render(ADA, QUOTE, {}, cache);
    expect((await world.act(ADA, COUNTER, {}, cache)).status).toBe(200);
    expect((await world.render(ADA, QUOTE, {}, cache)).cache).toBe('MISS');
  });

  it('stores nothing, and every visitor is served', async () => {
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
