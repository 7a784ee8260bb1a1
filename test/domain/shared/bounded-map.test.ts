import { describe, expect, it } from 'vitest';
import { BoundedMap } from '../../../src/domain/shared/bounded-map.js';

function kept(map: BoundedMap<number>, keys: string): string {
  return Array.from(keys)
    .filter((key) => map.get(key) !== undefined)
    .join('');
}

describe('a bounded map', () => {
  it('forgets what was set longest ago when it holds too many', () => {
    const map = new BoundedMap<number>({ maxEntries: 2, maxBytes: 100 });
    for (const key of ['a', 'b', 'a', 'c']) map.set(key, 1, 1);
    expect(kept(map, 'abc')).toBe('ac');
  });

  it('forgets as many as are needed when they are too large together', () => {
    const map = new BoundedMap<number>({ maxEntries: 10, maxBytes: 100 });
    for (const key of ['a', 'b', 'c']) map.set(key, 1, 30);
    map.set('d', 1, 70);
    expect(kept(map, 'abcd')).toBe('cd');
  });

  it('counts a value that is set again once', () => {
    const map = new BoundedMap<number>({ maxEntries: 10, maxBytes: 100 });
    map.set('a', 1, 10);
    for (let count = 0; count < 20; count += 1) map.set('b', count, 90);
    expect([kept(map, 'ab'), map.get('b')]).toEqual(['ab', 19]);
  });

  it('does not keep what alone is too large, nor what it stood for', () => {
    const map = new BoundedMap<number>({ maxEntries: 10, maxBytes: 100 });
    map.set('a', 1, 10);
    map.set('b', 1, 10);
    map.set('b', 2, 101);
    expect(kept(map, 'ab')).toBe('a');
  });
});
