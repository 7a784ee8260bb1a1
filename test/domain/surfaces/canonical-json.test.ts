import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/domain/surfaces/canonical-json.js';

/** A value nested in `levels` lists. */
const nested = (levels: number, inner: string): string => '['.repeat(levels) + inner + ']'.repeat(levels);

const name = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('method', 'a"b', 'a\\', '\\"', '{', '__proto__', 'constructor', '10', '9', ''),
);

/** Any JSON value without repeated member names, ignoring case. */
const { value: uniqueJson } = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('"', '\\', '{', '}', '"a":1', '\\"', '],'),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc
    .uniqueArray(fc.tuple(name, tie('value')), {
      maxLength: 5,
      selector: ([key]) => key.toUpperCase().toLowerCase(),
    })
    .map((entries) => Object.fromEntries(entries)),
}));

/** The same value with its members in reverse order. */
function reversed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(reversed);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, reversed(inner)]),
  );
}

/** A name as a JSON string with every character escaped. */
function escaped(text: string): string {
  const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`;
}

describe('two equal JSON texts', () => {
  it.each([
    ['{"a":1,"b":[{"c":null,"d":"x"}]}', '{ "b": [ { "d": "\\u0078", "c": null } ],\n"a": 1 }'],
    ['"\\/"', '"/"'],
    ['{"10":1,"9":2}', '{"9":2,"10":1}'],
    ['{"__proto__":1,"a":2}', '{"a":2,"__proto__":1}'],
    ['{"a":1.50,"b":9007199254740993}', '{"b":9007199254740993,"a":1.50}'],
    [nested(1_000, '{"a":1,"b":2}'), nested(1_000, '{"b":2,"a":1}')],
  ])('have the same canonical form (%#)', (one, other) => {
    expect(canonicalJson(one)).toBe(canonicalJson(other));
  });

  it('have the same canonical form in any order, whitespace and escaping', () => {
    fc.assert(
      fc.property(uniqueJson, fc.constantFrom(1, '\t', '\r\n '), (value, indent) => {
        const text = JSON.stringify(value);
        const other = JSON.stringify(reversed(value), undefined, indent).replaceAll(/[\u0080-\uffff]/g, (unit) =>
          escaped(unit).slice(1, -1),
        );
        expect(canonicalJson(text)).toBeTypeOf('string');
        expect(canonicalJson(other)).toBe(canonicalJson(text));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('two different JSON texts', () => {
  it.each([
    ['[1,2]', '[2,1]'],
    ['[1,2]', '[12]'],
    ['[1,2]', '{"0":1,"1":2}'],
    ['[]', '{}'],
    ['[[]]', '[]'],
    ['null', '{}'],
    ['"1"', '1'],
    ['-0', '0'],
    ['[-0]', '[0]'],
    ['{"a": -0}', '{"a": 0}'],
    ['[0,-0]', '[0,0]'],
    ['1E2', '100'],
    ['1.0', '1'],
    ['9007199254740993', '9007199254740992'],
    ['{"a":{"__proto__":1}}', '{"a":{}}'],
    ['{"a":"b\\",\\"c\\":\\"d"}', '{"a":"b","c":"d"}'],
    ['["a,b"]', '["a","b"]'],
    ['"\\\\n"', '"\\n"'],
  ])('have different canonical forms: %s and %s', (one, other) => {
    expect(canonicalJson(one)).not.toBe(canonicalJson(other));
  });
});

describe('a JSON text with a repeated member has no canonical form', () => {
  it.each([
    '{"method":"a","method":"b"}',
    '{"method":"a","Method":"b"}',
    '{"method":"a","m\\u0065thod":"b"}',
    '{"method":"a","\\u004dETHOD":"b"}',
    '{ "method" : "a" ,\n"id":[1,{"x":[]}], "method" : "b" }',
    '{"a\\"b":1,"a\\"b":2}',
    '{"a\\\\":1,"a\\\\":2}',
    // The Kelvin sign and the long s, which some parsers fold to k and s.
    '{"k":1,"\u212a":2}',
    '{"user":1,"u\u017fer":2}',
    '[{"a":1,"a":2}]',
    '{"params":{"configuration":{"x":1,"X":2}}}',
    '{"":1,"":2}',
    '{"__proto__":1,"__proto__":2}',
    nested(1_000, '{"a":1,"A":1}'),
  ])('(%#)', (text) => {
    expect(canonicalJson(text)).toBeUndefined();
  });

  it('at any position, in either case, escaped or not', () => {
    const spelling = fc.constantFrom(
      JSON.stringify,
      escaped,
      (text: string) => JSON.stringify(text.toUpperCase()),
      (text: string) => escaped(text.toLowerCase()),
    );
    const asciiName = fc.stringMatching(/^[ -~]{0,12}$/);
    const injected = fc.record({
      members: fc.uniqueArray(fc.tuple(asciiName, uniqueJson), {
        minLength: 1,
        maxLength: 5,
        selector: ([key]) => key.toLowerCase(),
      }),
      chosen: fc.nat(),
      at: fc.nat(),
      spell: spelling,
      wrappers: fc.array(fc.constantFrom('{"outer":', '[', '[1,"x",', '{"p":{},"q":'), { maxLength: 4 }),
    });
    fc.assert(
      fc.property(injected, ({ members, chosen, at, spell, wrappers }) => {
        const texts = members.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
        const key = members[chosen % members.length]?.[0] ?? '';
        texts.splice(at % (texts.length + 1), 0, `${spell(key)}:0`);
        const closers = wrappers.map((wrapper) => (wrapper.startsWith('{') ? '}' : ']')).reverse();
        const text = `${wrappers.join('')}{${texts.join(',')}}${closers.join('')}`;
        expect(() => JSON.parse(text) as unknown).not.toThrow();
        expect(canonicalJson(text)).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });
});

describe('a JSON text', () => {
  it.each(['', ' ', '{', '{"a"', '{"a":', '{"a":1', '{"a":1,', '[', '[1', '[1,', '"', '"\\"'])(
    'is an error when it ends too early: %s',
    (text) => {
      expect(() => canonicalJson(text)).toThrow(SyntaxError);
    },
  );

  it('has a canonical form that no other value shares', () => {
    fc.assert(
      fc.property(fc.json(), fc.json(), fc.constantFrom('', ' ', '\n'), (one, other, blank) => {
        const [left, right] = [canonicalJson(one), canonicalJson(other + blank)];
        if (left !== undefined && left === right) expect(JSON.parse(one)).toEqual(JSON.parse(other));
        if (left !== undefined) expect(JSON.parse(left)).toEqual(JSON.parse(one));
        expect(canonicalJson(one)).toBe(left);
      }),
      { numRuns: 1_000 },
    );
  });
});
