import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkJson,
  JsonDocument,
  JsonTextError,
  MAX_JSON_DEPTH,
  MAX_JSON_VALUES,
} from '../../../src/domain/shared/json-document.js';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The text that is sent for a text, or the reason why it is not. */
function sent(text: string | Uint8Array): string {
  try {
    return decoder.decode(new JsonDocument(typeof text === 'string' ? encoder.encode(text) : text).bytes());
  } catch (error) {
    if (error instanceof JsonTextError) return error.reason;
    throw error;
  }
}

/** The result of JSON.parse for the same bytes. */
function isJson(bytes: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
    return true;
  } catch {
    return false;
  }
}

/** The value with each number as a text, as a reader with decimal numbers has it. */
function exact(text: string): unknown {
  const numbers = text.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d[-+.\deE]*/g, (token) =>
    token.startsWith('"') ? token : `"#${token}"`,
  );
  return JSON.parse(numbers);
}

/** Bytes that JSON and UTF-8 are made of, so that many of their sequences are almost valid. */
const fragment = fc
  .oneof(
    fc.constantFrom(
      ...'{ } [ ] , : " \\ 0 1 - + . e E 1e5 -0.5 1.0 -0 01 1. 12345678901234567890 true false null nul "a" "a":1 {"a": \\u \\u0001 \\ud800 \\n \\x'.split(
        ' ',
      ),
      ' ',
      '\n',
      '\u00A0',
      '\uFEFF',
      '\u0000',
      '\u0001',
      '\u2028',
      'é',
      '漢',
      '😀',
    ),
    fc.string({ maxLength: 3 }),
  )
  .map((text) => [...encoder.encode(text)]);
const rawByte = fc.integer({ min: 0, max: 255 }).map((byte) => [byte]);

const NUMBERS = [
  '0',
  '1',
  '-1',
  '0.7',
  '-0',
  '-0.0',
  '1.0',
  '1e5',
  '1E+400',
  '-1.5e-7',
  '9007199254740993',
  '1'.repeat(40),
];

/** A JSON text as foreign programs write it. */
const { value: foreign } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(
      ...NUMBERS,
      'null',
      'true',
      '""',
      '"\\u00e9"',
      '"\\ud83d"',
      '"\\u0001x"',
      '"\\"\\u00011.0"',
      '"\\\\"',
    ),
    fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[ ${items.join(' ,\n')} ]`),
    fc
      .uniqueArray(fc.tuple(fc.string(), tie('value')), { maxLength: 4, selector: ([name]) => name })
      .map((members) => `{${members.map(([name, inner]) => `${JSON.stringify(name)} : ${inner}`).join(', ')}}`),
  ),
}));

/** Texts with names that parsers repeat, sort or rename, and sometimes a blank. */
const { value: renamed } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('0', '-5', '"x"', 'null', '[]', '{}', '"\\n"', '"{\\"1\\":0}"', '"1:"', ' true'),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join()}]`),
    fc
      .array(
        fc.tuple(fc.constantFrom('a', 'b', '1', '0', '02', '1a', '', '__proto__', '\\u0061', 'toJSON'), tie('value')),
        { maxLength: 4 },
      )
      .map((members) => `{${members.map(([name, value]) => `"${name}":${value}`).join()}}`),
  ),
}));

describe('a JSON document', () => {
  it('is read if and only if JSON.parse accepts its bytes', () => {
    const pieces = fc.array(fc.oneof({ weight: 9, arbitrary: fragment }, { weight: 1, arbitrary: rawByte }), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(pieces, (parts) => {
        const bytes = Uint8Array.from(parts.flat());
        expect(sent(bytes) !== 'syntax', decoder.decode(bytes)).toBe(isJson(bytes));
      }),
      { numRuns: 20_000 },
    );
  });

  it.each([
    '01',
    '-01',
    '1.',
    '.5',
    '+1',
    '1e',
    '1e+',
    '--1',
    '-',
    '1-1',
    '1.0.0',
    '0x1',
    '1.5"a"',
    '1.5true',
    '[1.5 2.5]',
  ])('is rejected with the number %s', (text) => {
    expect(sent(text)).toBe('syntax');
    expect(sent(`[1.0,${text}]`)).toBe('syntax');
  });

  it('keeps the value of every text, each number as it was written', () => {
    fc.assert(
      fc.property(foreign, (text) => {
        expect(exact(sent(text))).toEqual(exact(text));
      }),
      { numRuns: 5_000 },
    );
  });

  it('keeps its bytes if JSON.stringify writes the same', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const bytes = encoder.encode(JSON.stringify(value));
        expect(new JsonDocument(bytes).bytes()).toBe(bytes);
      }),
      { numRuns: 2_000 },
    );
    const long = encoder.encode('{"a":"漢\u2028\\ud800","__proto__":{"b":0.1},"n":[-0.5,1e+21]}');
    expect(new JsonDocument(long).bytes()).toBe(long);
  });

  it('is sent as JSON.stringify writes it, whatever its names are', () => {
    fc.assert(
      fc.property(renamed, (text) => {
        expect(sent(text)).toBe(JSON.stringify(JSON.parse(text)));
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([
    ['{"a":1,"a":2}', '{"a":2}'],
    ['{"\\u0061":1}', '{"a":1}'],
    ['{"a":{"x":1},"a":{"y":2}}', '{"a":{"y":2}}'],
    [' { "b" : [ 1 , 2.0 ] } ', '{"b":[1,2.0]}'],
    ['"\\/\\u00e9\\ud83d\\ude00"', '"/é😀"'],
    ['{"a\\/b":"\\\\/"}', '{"a/b":"\\\\/"}'],
    ['1e400', '1e400'],
    ['{"b":1,"10":2}', '{"10":2,"b":1}'],
    ['["\\u0001","\\u0002x",1.0]', '["\\u0001","\\u0002x",1.0]'],
    ['["\\"\\u00015",5.0]', '["\\"\\u00015",5.0]'],
    ['["\\\\","\\u0001",5.0]', '["\\\\","\\u0001",5.0]'],
  ])('%s is sent as %s', (text, written) => {
    expect(sent(text)).toBe(written);
  });

  it('distinguishes numbers from strings', () => {
    const document = new JsonDocument(encoder.encode('[7,7.0,"7.0","\\u00017.0",null]'));
    const [plain, odd, text, marked, none] = document.value as unknown[];
    expect([plain, odd, text, marked, none].map((one) => document.numberText(one))).toEqual([
      '7',
      '7.0',
      undefined,
      undefined,
      undefined,
    ]);
    expect([plain, odd, text, marked, none].map((one) => document.stringOf(one))).toEqual([
      undefined,
      undefined,
      '7.0',
      '\u00017.0',
      undefined,
    ]);
  });

  it('is refused if its texts begin with every mark for a number', () => {
    const marks = ['01', '02', '03', '04', '05', '06', '07', '10', '11', '12'].map((digits) => `"\\u00${digits}"`);
    expect(sent(`[${marks.join()},1]`)).toBe(`[${marks.join()},1]`);
    expect(sent(`[${marks.slice(1).join()},1.0]`)).toBe(`[${marks.slice(1).join()},1.0]`);
    expect(sent(`[${marks.join()},1.0]`)).toBe('numbers');
  });

  it('accepts at most a thousand levels of objects or arrays', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const nested = (levels: number): string => `${open.repeat(levels)}0${close.repeat(levels)}`;
      expect(sent(nested(MAX_JSON_DEPTH))).toBe(nested(MAX_JSON_DEPTH));
      expect(sent(nested(MAX_JSON_DEPTH + 1))).toBe('depth');
    }
    expect(sent(`[${'[],'.repeat(1_001)}0]`)).toBe(`[${'[],'.repeat(1_001)}0]`);
    expect(sent('['.repeat(2_000_000))).toBe('depth');
  });

  it.each([
    ['members', (count: number) => `{${Array.from({ length: count }, (_, at) => `"k${String(at)}":0`).join()}}`, 0],
    ['list entries', (count: number) => `[${'0,'.repeat(count - 1)}0]`, 0],
    ['lists, which count twice', (count: number) => `[${'[],'.repeat(count / 2 - 1)}[]]`, 0],
  ])('accepts at most 20,000 %s', (_what, text) => {
    expect(sent(text(MAX_JSON_VALUES))).toBe(text(MAX_JSON_VALUES));
    expect(sent(text(MAX_JSON_VALUES + 2))).toBe('values');
  });

  it('does not count what stands in strings', () => {
    const text = JSON.stringify({ a: '[{,"\\'.repeat(40_000), b: '\\' });
    expect(sent(text)).toBe(text);
  });

  it('keeps the complete members of its first level when it is rejected', () => {
    const head = (text: string): unknown => {
      try {
        return new JsonDocument(encoder.encode(text));
      } catch (error) {
        return (error as JsonTextError).head;
      }
    };
    const deep = '['.repeat(1_001);
    expect(head(`{"id":1,"a":[2,3],"b":${deep}`)).toBe('{"id":1,"a":[2,3]}');
    expect(head(`{"b":${deep}`)).toBe('}');
    expect(head('{')).toBe('{}');
  });
});

it('a text is checked without being kept', () => {
  expect(checkJson(encoder.encode('[1.0,{"a":"b"}]'))).toBeUndefined();
  for (const [bytes, message] of [
    [encoder.encode('{'), 'is not JSON in UTF-8'],
    [Uint8Array.of(0x22, 0xff, 0x22), 'is not JSON in UTF-8'],
    [encoder.encode('['.repeat(1_001)), 'is nested deeper than 1000 levels'],
    [encoder.encode(`[${'0,'.repeat(20_000)}0]`), 'has more than 20000 values'],
  ] as const) {
    expect(() => checkJson(bytes)).toThrow(expect.objectContaining({ name: 'JsonTextError', message }));
  }
});
