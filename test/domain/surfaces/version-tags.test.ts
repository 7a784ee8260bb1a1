import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../src/adapters/fakes/fakes.js';
import { VersionTags } from '../../../src/domain/surfaces/version-tags.js';
import { RenderKeys } from '../../../src/domain/surfaces/render-keys.js';

describe('lost version tags', () => {
  it('are remembered up to ten thousand, and the oldest are dropped first', async () => {
    const entries = new Map<string, string>();
    let isDown = true;
    let count = 0;
    const later: (() => void)[] = [];
    const versionTags = new VersionTags({
      store: {
        get: (key) => Promise.resolve(entries.get(key)),
        set: (key, value) => Promise.resolve(isDown ? undefined : void entries.set(key, value)),
        delete: () => Promise.resolve(),
      },
      clock: new FakeClock(),
      keys: new RenderKeys(String),
      newVersionTag: () => String((count += 1)),
      maxAgeMs: 300_000,
      later: (_ms, task) => void later.push(task),
    });
    // Each surface has two tags, one by its id and one by its name.
    for (let number = 0; number <= 5_000; number += 1) {
      const id = String(number);
      await versionTags.bump('ada', { by: 'id', value: id }, { id, name: id });
    }
    isDown = false;
    for (const task of later.splice(0)) task();
    await expect.poll(() => entries.size).toBe(10_000);
    await new Promise(setImmediate);
    expect([entries.size, [...entries.keys()].filter((key) => key.includes('"0"'))]).toEqual([10_000, []]);
  });
});
