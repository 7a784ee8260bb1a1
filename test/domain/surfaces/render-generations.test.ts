import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../src/adapters/fakes/fakes.js';
import { RenderGenerations } from '../../../src/domain/surfaces/render-generations.js';
import { RenderKeys } from '../../../src/domain/surfaces/render-keys.js';

describe('lost version tags', () => {
  it('are kept up to ten thousand, and the oldest are dropped first', async () => {
    const entries = new Map<string, string>();
    let isDown = true;
    let count = 0;
    const later: (() => void)[] = [];
    const generations = new RenderGenerations({
      store: {
        get: (key) => Promise.resolve(entries.get(key)),
        set: (key, value) => Promise.resolve(isDown ? undefined : void entries.set(key, value)),
        delete: () => Promise.resolve(),
      },
      clock: new FakeClock(),
      keys: new RenderKeys(String, 100),
      newGeneration: () => String((count += 1)),
      maxAgeMs: 300_000,
      later: (_ms, task) => void later.push(task),
    });
    // Each surface has two marks, one by its id and one by its name.
    for (let number = 0; number <= 5_000; number += 1) {
      const id = String(number);
      await generations.bump('ada', { by: 'id', value: id }, { id, name: id });
    }
    isDown = false;
    for (const task of later.splice(0)) task();
    await expect.poll(() => entries.size).toBe(10_000);
    await new Promise(setImmediate);
    expect([entries.size, [...entries.keys()].filter((key) => key.includes('"0"'))]).toEqual([10_000, []]);
  });
});
