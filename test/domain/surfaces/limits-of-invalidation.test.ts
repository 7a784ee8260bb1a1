import { describe, expect, it } from 'vitest';
import { FakeCacheStore } from '../../../src/adapters/fakes/fakes.js';
import type { RenderCache } from '../../../src/domain/surfaces/render-cache.js';
import type { CacheStore } from '../../../src/ports/cache-store.js';
import { COUNTER, type Shown, user } from './surface-world.js';
import { actionsIn, Fleet } from './two-processes.js';

const ADA = user('ada');

/** A server with the name that `CacheStore.primary` returns. */
interface Server {
  readonly name: string;
  readonly store: CacheStore;
}

/** A process that calls the server which `current` returns. */
function processAt(fleet: Fleet, current: () => Server): RenderCache {
  return fleet.newCache(
    {},
    {
      get: (key) => current().store.get(key),
      set: (...entry) => current().store.set(...entry),
      delete: (key) => current().store.delete(key),
      primary: () => current().name,
    },
  );
}

// Where docs/caching.md allows older renders, under "Requirements" and "Limits of invalidation".
describe('a process', () => {
  it('behind a replica that lags serves older renders until the replica has caught up', async () => {
    const fleet = new Fleet(1);
    const { store } = fleet;
    const replica = new Map<string, Promise<string | undefined>>();
    const lagging: CacheStore = {
      get: (key) => {
        const value = replica.get(key) ?? store.get(key);
        replica.set(key, value);
        return value;
      },
      set: (...entry) => store.set(...entry),
      delete: (key) => store.delete(key),
    };
    const cache = processAt(fleet, () => ({ name: 'primary', store: lagging }));
    const show = (): Promise<Shown> => fleet.render(ADA, COUNTER, {}, cache);
    await fleet.show(0);
    expect((await show()).cache).toBe('HIT');
    await fleet.actIn(0);
    expect(await show()).toMatchObject({ cache: 'HIT', content: 'counter v1 s0 for ada' });
    replica.clear();
    expect(actionsIn(await show())).toBe(1);
  });

  it('whose primary was deposed may read older renders there until it learns of the new one', async () => {
    const fleet = new Fleet(0);
    const deposed = { name: 'deposed', store: new FakeCacheStore(fleet.clock) };
    const elected = { name: 'elected', store: new FakeCacheStore(fleet.clock) };
    let known = deposed;
    const cutOff = processAt(fleet, () => known);
    const show = (): Promise<Shown> => fleet.render(ADA, COUNTER, {}, cutOff);
    await show();
    await fleet.act(
      ADA,
      COUNTER,
      {},
      processAt(fleet, () => elected),
    );
    expect(await show()).toMatchObject({ cache: 'HIT', content: 'counter v1 s0 for ada' });
    known = elected;
    expect(actionsIn(await show())).toBe(1);
  });

  it('that ends before the store has its action leaves older renders to others until they expire', async () => {
    const fleet = new Fleet(2);
    await fleet.show(1);
    for (const connection of fleet.connections.slice(0, 1)) connection.isDown = true;
    await fleet.actIn(0);
    fleet.clock.advance(298_000);
    expect(await fleet.show(1)).toMatchObject({ cache: 'REVALIDATED', content: 'counter v1 s0 for ada' });
    fleet.clock.advance(2_000);
    expect(actionsIn(await fleet.show(1))).toBe(1);
  });
});
