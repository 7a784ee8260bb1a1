import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LruMap } from '../../../src/domain/shared/lru-map.js';

describe('an LRU map', () => {
  it('drops the oldest entry over its limit', () => {
    const map = new LruMap<number>({ maxEntries: 2 });
    for (const key of ['a', 'b', 'a', 'c']) map.set(key, 1);
    expect([map.size, map.get('a'), map.get('b'), map.get('c')]).toEqual([2, 1, undefined, 1]);
  });

  it('keeps an entry that was read and drops one that was only set', () => {
    const map = new LruMap<number>({ maxEntries: 2 });
    map.set('a', 1);
    map.set('b', 2);
    expect(map.get('a')).toBe(1);
    map.set('c', 3);
    expect([map.get('a'), map.get('b')]).toEqual([1, undefined]);
  });

  it('has an entry until it expires', () => {
    const map = new LruMap<number>({ maxEntries: 2 });
    map.set('a', 1, 1_000);
    expect([map.get('a', 999), map.get('a', 1_000), map.size]).toEqual([1, undefined, 0]);
  });

  it('has what the same calls leave in a list', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const call = fc.record({ kind: fc.constantFrom('get', 'set', 'delete'), key });
    fc.assert(
      fc.property(fc.array(call, { maxLength: 60 }), (calls) => {
        const map = new LruMap<number>({ maxEntries: 3 });
        let list: (readonly [key: string, value: number])[] = [];
        for (const [index, { kind, key: name }] of calls.entries()) {
          const known = list.find(([one]) => one === name);
          const others = list.filter(([one]) => one !== name);
          if (kind === 'get') {
            expect(map.get(name)).toBe(known?.[1]);
            if (known !== undefined) list = [...others, known];
          } else if (kind === 'delete') {
            map.delete(name);
            list = others;
          } else {
            map.set(name, index);
            list = [...others, [name, index] as const].slice(-3);
          }
          expect(map.size).toBe(list.length);
        }
      }),
    );
  });
});
