import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LruMap } from '../../../src/domain/shared/lru-map.js';

function keysOf(map: LruMap<number>): string {
  return [...map].map(([key]) => key).join('');
}

describe('an LRU map', () => {
  it('drops the oldest entry over its limit', () => {
    const map = new LruMap<number>({ maxEntries: 2 });
    for (const key of ['a', 'b', 'a', 'c']) map.set(key, 1);
    expect(keysOf(map)).toBe('ac');
  });

  it('keeps an entry that was read and drops one that was only set', () => {
    const map = new LruMap<number>({ maxEntries: 2 });
    map.set('a', 1);
    map.set('b', 2);
    expect(map.get('a')).toBe(1);
    map.set('c', 3);
    expect(keysOf(map)).toBe('ac');
  });

  it('drops as many entries as a large one needs', () => {
    const map = new LruMap<number>({ maxBytes: 100 });
    for (const key of ['a', 'b', 'c']) map.set(key, 1, 30);
    map.set('d', 1, 70);
    expect([keysOf(map), map.size]).toEqual(['cd', 2]);
    map.set('e', 1, 100);
    expect(keysOf(map)).toBe('e');
  });

  it('counts the size of a replaced value once', () => {
    const map = new LruMap<number>({ maxEntries: 10, maxBytes: 100 });
    map.set('a', 1, 10);
    for (let count = 0; count < 20; count += 1) map.set('b', count, 90);
    expect([keysOf(map), map.get('b')]).toEqual(['ab', 19]);
  });

  it('drops a value that is too large, and its predecessor', () => {
    const map = new LruMap<number>({ maxEntries: 10, maxBytes: 100 });
    map.set('a', 1, 10);
    map.set('b', 1, 10);
    map.set('b', 2, 101);
    expect(keysOf(map)).toBe('a');
  });

  it('has space after a deletion', () => {
    const map = new LruMap<number>({ maxEntries: 10, maxBytes: 100 });
    map.set('a', 1, 60);
    map.set('b', 1, 40);
    map.delete('a');
    map.set('c', 1, 60);
    expect(keysOf(map)).toBe('bc');
  });

  it('has an entry until it expires', () => {
    const map = new LruMap<number>({});
    map.set('a', 1, 10, 1_000);
    expect([map.get('a'), map.get('a', 999), map.size]).toEqual([1, 1, 1]);
    expect([map.get('a', 1_000), map.size, map.bytes]).toEqual([undefined, 0, 0]);
  });

  it('is empty after it is cleared, and may be evicted from when empty', () => {
    const map = new LruMap<number>({ maxBytes: 20 });
    for (const key of ['a', 'b']) map.set(key, 1, 10);
    expect([keysOf(map), map.bytes]).toEqual(['ab', 20]);
    map.clear();
    map.evict();
    expect([keysOf(map), map.bytes, map.get('a')]).toEqual(['', 0, undefined]);
  });

  it('has the entries of a list in the order of their last use, whatever is set, read and deleted', () => {
    const step = fc.tuple(fc.constantFrom('set', 'get', 'delete', 'evict'), fc.constantFrom('a', 'b', 'c', 'd'));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const map = new LruMap<number>({ maxEntries: 3 });
        let model: string[] = [];
        for (const [what, key] of steps) {
          const has = model.includes(key);
          if (what === 'evict') map.evict();
          else if (what === 'set') map.set(key, 1);
          else if (what === 'get') map.get(key);
          else map.delete(key);
          if (what === 'evict') model.shift();
          else model = model.filter((other) => other !== key);
          if (what === 'set' || (what === 'get' && has)) model = [...model, key].slice(-3);
          expect(keysOf(map)).toBe(model.join(''));
        }
      }),
    );
  });
});
