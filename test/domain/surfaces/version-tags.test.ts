import { describe, expect, it } from 'vitest';
import { VersionTags } from '../../../src/domain/surfaces/version-tags.js';
import { RenderKeys } from '../../../src/domain/surfaces/render-keys.js';
import { VirtualTime } from '../../support/virtual-time.js';
import { memoryOf } from '../../support/memory.js';

const DOWN = new Error('down');

/** Version tags in stores without `setIfAbsent`. */
class TagsWorld {
  readonly time = new VirtualTime();
  isDown = false;
  /** Milliseconds until the stores have carried out a call. */
  callMs = 0;
  #count = 0;

  /** Tags in a store of their own, its entries, and the lifetime of the last one in milliseconds. */
  newTags(maxAgeMs = 300_000) {
    const { time } = this;
    const entries = new Map<string, string>();
    const store = { entries, lifeMs: 0, writes: 0 };
    const answer = async <T>(value: () => T): Promise<T> => {
      if (this.isDown) throw DOWN;
      if (this.callMs > 0) await time.sleep(this.callMs);
      return value();
    };
    const tags = new VersionTags({
      store: {
        get: (key) => answer(() => entries.get(key)),
        set: (key, value, expiresAt) =>
          answer(() => {
            store.writes += 1;
            store.lifeMs = expiresAt - time.now();
            entries.set(key, value);
          }),
        delete: (key) => answer(() => void entries.delete(key)),
      },
      clock: time,
      keys: new RenderKeys(String, memoryOf(time)),
      newVersionTag: () => String((this.#count += 1)),
      sleep: time.sleep,
    });
    tags.cover(maxAgeMs);
    return { tags, store };
  }
}

/** Actions of which each replaces two tags of a surface: one by its id, one by its name. */
function act(tags: VersionTags, count: number): Promise<unknown> {
  return Promise.all(
    Array.from({ length: count }, (_, number) => {
      const id = String(number);
      return tags.bump('ada', { by: 'id', value: id }, { id, name: id });
    }),
  );
}

const OTHERS = { callerTag: 'everything of ada', surfaceTag: 'the first surface' };

describe('version tags that the store did not accept', () => {
  it('are remembered up to ten thousand; if there are more, no render from before them is used', async () => {
    const world = new TagsWorld();
    const { time } = world;
    const { tags, store } = world.newTags();
    world.isDown = true;
    const acts = act(tags, 5_001);
    await time.pass(2_000);
    await acts;
    // The first two actions are no longer known by name, so all renders count as older than them.
    expect(tags.lastAction(OTHERS)).toBe(2);
    world.isDown = false;
    // A later configuration does not use them either.
    const later = world.newTags();
    tags.replaceBy(later.tags);
    await time.pass(1_000);
    const { entries } = store;
    expect([entries.size, [...entries.keys()].filter((key) => key.includes('"0"'))]).toEqual([10_000, []]);
    expect(later.store.entries.size).toBe(10_000);
    const current = (): unknown[] => [tags, later.tags].map((one) => one.current(OTHERS, ['tag', 'tag']));
    expect(current()).toEqual([undefined, undefined]);
    await time.pass(300_000);
    expect(current()).toEqual(['tag tag', 'tag tag']);
  });

  it('leave other renders usable while there are fewer', async () => {
    const world = new TagsWorld();
    const { tags } = world.newTags();
    world.isDown = true;
    const acts = act(tags, 1);
    await world.time.pass(2_000);
    await acts;
    expect([tags.current(OTHERS, ['tag', 'tag']), tags.lastAction(OTHERS)]).toEqual(['tag tag', 0]);
  });

  it('are written after each failure of the store', async () => {
    const world = new TagsWorld();
    const { tags, store } = world.newTags();
    for (const writes of [2, 4]) {
      world.isDown = true;
      const acts = act(tags, 1);
      await world.time.pass(2_000);
      await acts;
      world.isDown = false;
      await world.time.pass(1_000);
      expect(store.writes).toBe(writes);
    }
  });
});

describe('version tags in a store without setIfAbsent', () => {
  it('are created once, even if a second, slower render found them absent too', async () => {
    const { tags } = new TagsWorld().newTags();
    const first = await tags.current({ callerTag: 'ada', surfaceTag: 'a' }, [undefined, undefined]);
    const second = await tags.current({ callerTag: 'ada', surfaceTag: 'b' }, [undefined, undefined]);
    expect([first, second]).toEqual(['1 2', '1 4']);
  });

  it('are created only if they are missing', async () => {
    const { tags } = new TagsWorld().newTags();
    expect(await tags.current(OTHERS, [undefined, 'surface'])).toBe('1 surface');
    expect(await tags.current(OTHERS, ['caller', undefined])).toBe('caller 2');
  });
});

describe('version tags of a configuration that was replaced', () => {
  it('are replaced in the last configuration too, by an action that began before', async () => {
    const world = new TagsWorld();
    const [first, second, third] = [world.newTags(), world.newTags(), world.newTags()];
    first.tags.replaceBy(second.tags);
    second.tags.replaceBy(third.tags);
    await act(first.tags, 1);
    expect([first, second, third].map(({ store }) => store.writes)).toEqual([2, 0, 2]);
    // The first one is used again.
    third.tags.replaceBy(first.tags);
    await act(first.tags, 1);
    await act(third.tags, 1);
    expect([first, second, third].map(({ store }) => store.writes)).toEqual([6, 0, 4]);
  });

  it('are replaced in the later one by an action whose tags are being written', async () => {
    const world = new TagsWorld();
    const [earlier, later] = [world.newTags(), world.newTags()];
    world.callMs = 10;
    const acts = act(earlier.tags, 1);
    await world.time.pass(15);
    earlier.tags.replaceBy(later.tags);
    await world.time.result(acts);
    expect([earlier, later].map(({ store }) => store.writes)).toEqual([2, 2]);
  });

  it('keep earlier renders from being used by the later one until its store has accepted their replacement', async () => {
    const world = new TagsWorld();
    const [earlier, later] = [world.newTags(), world.newTags()];
    world.isDown = true;
    const acts = act(earlier.tags, 1);
    await world.time.pass(2_000);
    await acts;
    earlier.tags.replaceBy(later.tags);
    const surfaceTag = later.tags.keys.surfaceTag('ada', { by: 'id', value: '0' });
    const current = (): unknown => later.tags.current({ ...OTHERS, surfaceTag }, ['tag', 'tag']);
    expect(current()).toBeUndefined();
    await world.time.pass(10);
    world.isDown = false;
    await world.time.pass(1_000);
    expect([later.store.writes, current()]).toEqual([2, 'tag tag']);
  });

  it.each([
    [300_000, 600_000],
    [600_000, 300_000],
  ])('live as long as a render of either (%i and %i ms), and a minute', async (earlierMs, laterMs) => {
    const world = new TagsWorld();
    const [earlier, later] = [world.newTags(earlierMs), world.newTags(laterMs)];
    earlier.tags.replaceBy(later.tags);
    await act(later.tags, 1);
    expect(later.store.lifeMs).toBe(660_000);
  });
});
