import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasDuplicateKey } from '../../../src/domain/surfaces/canonical-json.js';

const name = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('method', 'params', 'a"b', 'a\\', '\\"', '{', '__proto__', 'constructor', ''),
);

/** Any JSON value whose objects name no field twice, cases folded. */
const { value: uniqueJson } = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('"', '\\', '{', '}', '"a":1', '\\"', '],'),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc
    .uniqueArray(fc.tuple(name, tie('value')), { maxLength: 5, selector: ([key]) => key.toLowerCase() })
    .map((entries) => Object.fromEntries(entries)),
}));

/** A spelling of a name as a JSON string in which every character is an escape. */
function escaped(text: string): string {
  const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`;
}

describe('a JSON text that names each field once', () => {
  it('is accepted, whatever is in it', () => {
    fc.assert(
      fc.property(
        uniqueJson,
        fc.constantFrom(undefined, 2),
        fc.integer({ min: 0, max: 20 }),
        (value, indent, depth) => {
          expect(hasDuplicateKey(JSON.stringify(value, undefined, indent), depth)).toBe(false);
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each([
    '{"a":"a","b":"a"}',
    '{"a":["a","a","b"]}',
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":1}]',
    '{"a":"\\",\\"a\\":1"}',
    '{"a":[1,2],"b":[{"a":1},{"a":2}]}',
    '""',
    '{}',
    '',
  ])('is accepted: %s', (text) => {
    expect(hasDuplicateKey(text, 5)).toBe(false);
  });
});

describe('a JSON text that names a field twice', () => {
  it.each([
    '{"method":"a","method":"b"}',
    '{"method":"a","Method":"b"}',
    '{"method":"a","m\\u0065thod":"b"}',
    '{"method":"a","\\u004dETHOD":"b"}',
    '{ "method" : "a" ,\n"id":[1,{"x":[]}], "method" : "b" }',
    '{"a\\"b":1,"a\\"b":2}',
    '{"a\\\\":1,"a\\\\":2}',
    '{"k":1,"\u212a":2}',
    '[{"a":1,"a":2}]',
    '{"params":{"configuration":{"x":1,"X":2}}}',
    '{"":1,"":2}',
    '{"__proto__":1,"__proto__":2}',
  ])('is found: %s', (text) => {
    expect(hasDuplicateKey(text, 3)).toBe(true);
  });

  it('is found down to the depth that is looked at, and not below', () => {
    const nested = '{"a":{"b":{"c":{"d":1,"d":2}}}}';
    expect([2, 3, 4, 5].map((depth) => hasDuplicateKey(nested, depth))).toEqual([false, false, true, true]);
  });

  it('is found behind fields that lie too deep to be looked at', () => {
    expect(hasDuplicateKey('{"a":{"b":{"c":1}},"x":[[{"y":1}]],"a":2}', 1)).toBe(true);
  });

  it('is found wherever it is put, in either case, escaped or not', () => {
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
        expect(hasDuplicateKey(text, wrappers.length + 1)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
