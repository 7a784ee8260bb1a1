import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/domain/surfaces/canonical-json.js';

/** A field inside so many lists. */
const nested = (levels: number, inner: string): string => '['.repeat(levels) + inner + ']'.repeat(levels);

describe('two JSON texts that say the same', () => {
  it.each([
    ['{"a":1,"b":[{"c":null,"d":"x"}]}', '{ "b": [ { "d": "\\u0078", "c": null } ],\n"a": 1 }'],
    ['{"10":1,"9":2}', '{"9":2,"10":1}'],
    ['{"__proto__":1,"a":2}', '{"a":2,"__proto__":1}'],
    [nested(499, '{"a":1,"b":2}'), nested(499, '{"b":2,"a":1}')],
  ])('have one spelling (%#)', (one, other) => {
    expect(canonicalJson(one)).toBe(canonicalJson(other));
  });
});

describe('two JSON texts that do not say the same', () => {
  it.each([
    ['[1,2]', '[2,1]'],
    ['[1,2]', '{"0":1,"1":2}'],
    ['[]', '{}'],
    ['null', '{}'],
    ['"1"', '1'],
    ['-0', '0'],
    ['[-0]', '[0]'],
    ['{"a": -0}', '{"a": 0}'],
    ['[0,-0]', '[0,0]'],
    ['1E2', '100'],
    ['9007199254740993', '9007199254740992'],
    ['{"a":{"__proto__":1}}', '{"a":{}}'],
    ['{"o":[["a",1]]}', '{"a":1}'],
  ])('have two spellings: %s and %s', (one, other) => {
    expect(canonicalJson(one)).not.toBe(canonicalJson(other));
  });

  it('are also two whose fields have another order 500 levels deep, where nobody looks', () => {
    const deep = (inner: string): string | undefined => canonicalJson(`{"x":1,"y":${nested(499, inner)}}`);
    expect(deep('{"a":1,"b":2}')).not.toBe(deep('{"b":2,"a":1}'));
    expect(deep('{"a":1,"b":2}')).toBe(deep('{"a":1,"b":2}'));
  });
});

describe('a JSON text', () => {
  it('that names a field twice has no spelling, however deep it does', () => {
    expect(canonicalJson(nested(1_000, '{"a":1,"A":1}'))).toBeUndefined();
  });

  it('with 100 000 levels needs no more room than one with two', () => {
    const text = nested(100_000, '1');
    expect(canonicalJson(text)).toBe(`text ${text}`);
  });

  it('that is none is an error', () => {
    expect(() => canonicalJson('{')).toThrow(SyntaxError);
  });

  it('has one spelling, which no text of another value shares', () => {
    fc.assert(
      fc.property(fc.json(), fc.json(), fc.constantFrom('', ' ', '\n'), (one, other, blank) => {
        const [left, right] = [canonicalJson(one), canonicalJson(other + blank)];
        if (left !== undefined && left === right) expect(JSON.parse(one)).toEqual(JSON.parse(other));
        expect(canonicalJson(one)).toBe(left);
      }),
      { numRuns: 1_000 },
    );
  });
});
