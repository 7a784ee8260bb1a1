import { describe, expect, it } from 'vitest';
import { delimited, isObject, jwtClaims, parsedJson } from '../../../src/domain/shared/json.js';

function jwt(payload: string): string {
  return `eyJhbGciOiJub25lIn0.${Buffer.from(payload).toString('base64url')}.c2ln`;
}

describe('a JSON text', () => {
  it('is undefined when absent or invalid', () => {
    expect([parsedJson('[1]'), parsedJson('[1'), parsedJson(''), parsedJson(undefined)]).toEqual([
      [1],
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('a deeply nested JSON text', () => {
  const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

  it('is parsed up to 1,000 levels into a value that can be serialized', () => {
    expect(JSON.stringify(parsedJson(nested(1_000)))).toBe(nested(1_000));
    for (const levels of [1_001, 400_000]) expect(parsedJson(nested(levels))).toBeUndefined();
    expect(parsedJson(`${'{"a":'.repeat(1_001)}0${'}'.repeat(1_001)}`)).toBeUndefined();
    expect(parsedJson(`"${'['.repeat(5_000)}"`)).toHaveLength(5_000);
  });

  it.each([
    ['{"a":[1,{}]}', 4],
    ['[[],[1,2]]', 5],
    [String.raw`["a\",[,[",{}]`, 3],
    [String.raw`["\\",[1]]`, 3],
    [`[${'{"a":0},'.repeat(1_100)}0]`, 2_201],
    ['"aaa"', 0],
  ])('is parsed only up to a number of values: %s has %i', (json, values) => {
    expect(parsedJson(json, values)).toEqual(JSON.parse(json));
    expect(parsedJson(json, values - 1)).toBeUndefined();
  });

  it('is invalid when content follows its value', () => {
    expect(parsedJson(`"${'x'.repeat(5_000)}" 1`)).toBeUndefined();
  });
});

describe('the claims of a JWT', () => {
  it('can contain any characters', () => {
    const claims = { sub: 'Zoë ÿ>?', aud: ['一', '🎈'] };
    expect(jwtClaims(jwt(JSON.stringify(claims)))).toEqual(claims);
  });

  it.each([['opaque'], ['a.!.c'], [jwt('no JSON')], [jwt('null')], [jwt('"text"')], ['..']])(
    'are absent in %s',
    (token) => {
      expect(jwtClaims(token)).toBeUndefined();
    },
  );
});

describe('isObject', () => {
  it('accepts objects and rejects arrays', () => {
    expect([{}, { a: 1 }, Object.create(null)].every(isObject)).toBe(true);
    expect([null, undefined, [], 'text', 1, true].some(isObject)).toBe(false);
  });
});

describe('a part of a cache key', () => {
  it.each([
    ['a text', 'é 2', '3 é 2'],
    ['an object', { a: ['b'] }, '{"a":["b"]}'],
    ['null', null, 'null'],
  ])('is delimited: %s', (_what, part, key) => {
    expect(delimited(part)).toBe(key);
  });
});
