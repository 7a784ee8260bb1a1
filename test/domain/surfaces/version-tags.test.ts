import { describe, expect, it } from 'vitest';
import { VersionTags } from '../../../src/domain/surfaces/version-tags.js';
import { RenderKeys } from '../../../src/domain/surfaces/render-keys.js';
import { VirtualTime } from '../../support/virtual-time.js';
import { memoryOf } from '../../support/memory.js';

describe('version tags that the store did not accept', () => {
  it('are remembered up to ten thousand; if there are more, no render from before them is used', async () => {
    const entries = new Map<string, string>();
    const time = new VirtualTime();
    let isDown = true;
    let count = 0;
    const answer = <T>(value: () => T): Promise<T> =>
      isDown ? Promise.reject(new Error('down')) : Promise.resolve(value());
    const versionTags = new VersionTags({
      store: {
        get: (key) => answer(() => entries.get(key)),
        set: (key, value) => answer(() => void entries.set(key, value)),
        delete: () => answer(() => undefined),
      },
      clock: time,
      keys: new RenderKeys(String, memoryOf(time)),
      newVersionTag: () => String((count += 1)),
      sleep: time.sleep,
    });
    versionTags.cover(300_000);
    // Each surface has two tags, one by its id and one by its name.
    const acts = Array.from({ length: 5_001 }, (_, number) => {
      const id = String(number);
      return versionTags.bump('ada', { by: 'id', value: id }, { id, name: id });
    });
    await time.pass(2_000);
    await Promise.all(acts);
    isDown = false;
    await time.pass(1_000);
    expect([entries.size, [...entries.keys()].filter((key) => key.includes('"0"'))]).toEqual([10_000, []]);
    const others = { callerTag: 'everything of ada', surfaceTag: 'the first surface' };
    const current = (): unknown => versionTags.current(others, ['tag', 'tag']);
    expect(current()).toBeUndefined();
    await time.pass(300_000);
    expect(current()).toBe('tag tag');
  });
});

describe('version tags in a store without setIfAbsent', () => {
  it('are created once, although a second render found them absent and took longer to say so', async () => {
    const entries = new Map<string, string>();
    const time = new VirtualTime();
    let count = 0;
    const versionTags = new VersionTags({
      store: {
        get: (key) => Promise.resolve(entries.get(key)),
        set: (key, value) => Promise.resolve(void entries.set(key, value)),
        delete: (key) => Promise.resolve(void entries.delete(key)),
      },
      clock: time,
      keys: new RenderKeys(String, memoryOf(time)),
      newVersionTag: () => String((count += 1)),
      sleep: time.sleep,
    });
    const first = await versionTags.current({ callerTag: 'ada', surfaceTag: 'a' }, [undefined, undefined]);
    const second = await versionTags.current({ callerTag: 'ada', surfaceTag: 'b' }, [undefined, undefined]);
    expect([first, second]).toEqual(['1 2', '1 4']);
  });
});
