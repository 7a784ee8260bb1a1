import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { distance, nameHint, nearest, similar } from '../../../src/domain/shared/nearest.js';

describe('the nearest name', () => {
  it.each([
    ['servce', ['service', 'device'], 'service'],
    ['SERVICE', ['device', 'service'], 'service'],
    ['x', ['a', 'b'], 'a'],
    ['x', [], ''],
  ])('to "%s" among %j is "%s"', (name, candidates, meant) => {
    expect(nearest(name, candidates)).toBe(meant);
  });

  it.each([
    ['requiresession', ['requireSession', 'cache'], 'requireSession'],
    ['cahce', ['requireSession', 'cache'], 'cache'],
    ['token', ['auth', 'toolkit'], undefined],
    ['ca', ['cache'], undefined],
  ])('to "%s" among %j is suggested only when it is similar: %s', (name, candidates, meant) => {
    expect(similar(name, candidates)).toBe(meant);
  });

  it.each([
    ['cache', undefined],
    ['cahce', 'Did you mean "cache"? Known values: requireSession, cache.'],
    ['zzz', 'Known values: requireSession, cache.'],
    [undefined, 'Known values: requireSession, cache.'],
    [3, 'Known values: requireSession, cache.'],
  ])('to %j is part of the hint for an unknown value: %s', (name, hint) => {
    expect(nameHint(name, ['requireSession', 'cache'])).toBe(hint);
  });

  it.each([
    ['', '', 0],
    ['', 'abc', 3],
    ['abc', '', 3],
    ['kitten', 'sitting', 3],
    ['flaw', 'lawn', 2],
    ['abc', 'abc', 0],
  ])('to "%s" is at an edit distance from "%s" of %i', (from, to, letters) => {
    expect(distance(from, to)).toBe(letters);
  });

  it('has the same distance in both directions', () => {
    const word = fc.string({ maxLength: 8 });
    fc.assert(
      fc.property(word, word, (from, to) => {
        expect(distance(from, to)).toBe(distance(to, from));
        expect(distance(from, `${from}x`)).toBe(1);
        expect(distance(from, to) === 0).toBe(from.toLowerCase() === to.toLowerCase());
      }),
    );
  });
});
