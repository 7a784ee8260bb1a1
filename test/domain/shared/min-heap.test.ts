import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MinHeap } from '../../../src/domain/shared/min-heap.js';

describe('a heap', () => {
  it('has the value with the smallest number first, whatever is added, moved and removed', () => {
    const steps = fc.array(fc.record({ name: fc.nat({ max: 20 }), rank: fc.option(fc.integer(), { nil: undefined }) }));
    fc.assert(
      fc.property(steps, (script) => {
        const heap = new MinHeap<{ readonly name: number }>();
        const values = Array.from({ length: 21 }, (_, name) => ({ name }));
        const model = new Map<number, number>();
        for (const { name, rank } of script) {
          const value = values[name] as { readonly name: number };
          if (rank === undefined) heap.delete(value);
          else heap.set(value, rank);
          if (rank === undefined) model.delete(name);
          else model.set(name, rank);
          const least = Math.min(...model.values());
          expect(heap.size).toBe(model.size);
          expect(model.get(heap.first?.name ?? -1) ?? Infinity).toBe(least);
        }
      }),
    );
  });

  it('needs little more work to move a value among 100 times as many', () => {
    const work = (count: number): number => {
      let compared = 0;
      const heap = new MinHeap<object>();
      // Numbers that count their comparisons.
      const rank = (value: number): number =>
        ({ [Symbol.toPrimitive]: () => ((compared += 1), value) }) as unknown as number;
      const values = Array.from({ length: count }, () => ({}));
      for (const [index, value] of values.entries()) heap.set(value, rank(index));
      compared = 0;
      for (let move = 0; move < 100; move += 1) heap.set(heap.first as object, rank(count + move));
      return compared;
    };
    expect(work(10_000)).toBeLessThan(4 * work(100));
  });
});
