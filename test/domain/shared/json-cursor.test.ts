import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonCursor, JsonTextError, MAX_JSON_DEPTH } from '../../../src/domain/shared/json-cursor.js';

const encoder = new TextEncoder();

/** The fault a cursor finds in a text; undefined for a single JSON value. */
function verdict(text: string | Uint8Array): 'syntax' | 'depth' | undefined {
  const cursor = new JsonCursor(typeof text === 'string' ? encoder.encode(text) : text);
  try {
    cursor.skipValue();
    cursor.end();
    return undefined;
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

/** Bytes that JSON and UTF-8 are made of, so that many of their sequences are almost valid. */
const fragment = fc
  .oneof(
    fc.constantFrom(
      ...'{ } [ ] , : " \\ 0 1 - + . e E 1e5 -0.5 true false null nul tru "a" "a":1 {"a": \\u \\u00e9 \\ud800 \\n \\x'.split(
        ' ',
      ),
      ' ',
      '\n',
      '\t',
      '\u00A0',
      '\uFEFF',
      '\u0000',
      '\u001F',
      '\u007F',
      '\u2028',
      'é',
      '漢',
      '😀',
    ),
    fc.string({ maxLength: 3 }),
  )
  .map((text) => [...encoder.encode(text)]);
const rawByte = fc.integer({ min: 0, max: 255 }).map((byte) => [byte]);

describe('a JSON cursor', () => {
  it('accepts exactly the bytes that JSON.parse accepts', () => {
    const pieces = fc.array(fc.oneof({ weight: 9, arbitrary: fragment }, { weight: 1, arbitrary: rawByte }), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(pieces, (parts) => {
        const bytes = Uint8Array.from(parts.flat());
        expect(verdict(bytes) === undefined, new TextDecoder().decode(bytes)).toBe(isJson(bytes));
      }),
      { numRuns: 20_000 },
    );
  });

  it('accepts every JSON text with any whitespace', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(0, 1, '\t'), (text, space) => {
        expect(verdict(JSON.stringify(JSON.parse(text), null, space))).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    // RFC 3629 §4, each edge from both sides.
    ...'c1 bf, c2 80, df bf, e0 9f bf, e0 a0 80, ed 9f bf, ed a0 80, ee 80 80, ef bf bf'.split(', '),
    ...'f0 80 80 80, f0 8f bf bf, f0 90 80 80, f4 8f bf bf, f4 90 80 80, f5 80 80 80'.split(', '),
    ...'c1 bf bf bf, c2 7f, e1 80 7f, e1 80 c0, f1 80 80 7f, f1 80 80 c0, f1 80 80'.split(', '),
    // RFC 8259 §7: four digits after \\u, and these escapes only.
    ...[
      '\\u00aA',
      '\\u00fF',
      '\\u00@0',
      '\\u00`0',
      '\\u00 0',
      '\\u00e9',
      '\\u00eg',
      '\\u00e',
      '\\u0',
      '\\u',
      '\\',
      '\\/',
      '\\b',
      '\\v',
      '\\x41',
      "\\'",
    ].map((text) => [...encoder.encode(text)].map((byte) => byte.toString(16)).join(' ')),
  ])('agrees with JSON.parse on the bytes %s', (hex) => {
    const bytes = Uint8Array.from([0x22, ...hex.split(' ').map((byte) => Number.parseInt(byte, 16)), 0x22]);
    expect(verdict(bytes) === undefined).toBe(isJson(bytes));
    expect(verdict(bytes.subarray(0, -1))).toBe('syntax');
  });

  it('accepts exactly the UTF-8 that a strict decoder accepts', () => {
    const byte = fc.constantFrom(
      0x20,
      0x41,
      0x7f,
      0x80,
      0x8f,
      0x90,
      0x9f,
      0xa0,
      0xbf,
      0xc0,
      0xc1,
      0xc2,
      0xdf,
      0xe0,
      0xe1,
      0xed,
      0xef,
      0xf0,
      0xf1,
      0xf4,
      0xf5,
      0xff,
    );
    fc.assert(
      fc.property(fc.array(byte, { minLength: 1, maxLength: 6 }), (inner) => {
        const bytes = Uint8Array.from([0x22, ...inner, 0x22]);
        expect(verdict(bytes) === undefined).toBe(isJson(bytes));
      }),
      { numRuns: 20_000 },
    );
  });

  it('finds the end of a long text at any memory alignment', () => {
    const characters = fc.constantFrom('A', '=', ' ', '~', '\u007F', '\\n', '\\u0041', 'é', '"', '\n', '\\');
    fc.assert(
      fc.property(fc.nat(7), fc.nat(300), characters, fc.nat(70), (offset, length, odd, tail) => {
        const text = encoder.encode(`"${'A'.repeat(length)}${odd}${'B'.repeat(tail)}"`);
        const memory = new Uint8Array(offset + text.length + 9).fill(0x22);
        memory.set(text, offset);
        const bytes = memory.subarray(offset, offset + text.length);
        expect(verdict(bytes) === undefined).toBe(isJson(bytes));
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([
    '',
    ' ',
    '{',
    '[',
    '{}}',
    '[1,]',
    '{"a":1,}',
    '{,}',
    '[,1]',
    '{"a"}',
    '{"a" 1}',
    '{a:1}',
    '01',
    '1.',
    '.5',
    '+1',
    '1e',
    '0x1',
    'NaN',
    'Infinity',
    'truE',
    '"\n"',
    '"\\',
    '"\\u00g0"',
    '// x\n1',
    '{} {}',
    '[1 2]',
    '[1;2]',
    '{"a";1}',
    '{!a":1}',
    '[1}',
    '{"a":1]',
    '\uFEFF{}',
  ])('rejects %j at its fault', (text) => {
    expect(verdict(text)).toBe('syntax');
  });

  it.each(['1E5', '-0', '0.5e-7', '1E+5', '\r\n\t null\r', '[\r]', 'true', 'false'])('accepts %j', (text) => {
    expect(verdict(text)).toBeUndefined();
  });

  it.each([
    [1, 'not JSON in UTF-8'],
    [MAX_JSON_DEPTH + 1, 'nested too deeply'],
  ])('names the fault of %i brackets: %s', (brackets, message) => {
    const cursor = new JsonCursor(new Uint8Array(brackets).fill(0x5b));
    expect(() => cursor.skipValue()).toThrow(expect.objectContaining({ name: 'JsonTextError', message }));
  });

  it('enters objects only', () => {
    const cursor = new JsonCursor(encoder.encode(' [1]'));
    expect([cursor.enterObject(), cursor.position]).toEqual([false, 1]);
  });

  it('does not count an object it has left as a level', () => {
    const levels = MAX_JSON_DEPTH - 1;
    const cursor = new JsonCursor(encoder.encode(`{"a":{},"b":${'['.repeat(levels)}${']'.repeat(levels)}}`));
    cursor.enterObject();
    cursor.nextName(true);
    cursor.enterObject();
    expect(cursor.nextName(true)).toBeUndefined();
    cursor.nextName(false);
    expect(() => cursor.skipValue()).not.toThrow();
  });

  it('accepts at most a thousand levels of objects or arrays', () => {
    const nested = (levels: number, open: string, close: string): string =>
      `${open.repeat(levels)}0${close.repeat(levels)}`;
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      expect(verdict(nested(MAX_JSON_DEPTH, open, close))).toBeUndefined();
      expect(verdict(nested(MAX_JSON_DEPTH + 1, open, close))).toBe('depth');
    }
  });

  it('stops at the 1,001st of two million brackets', () => {
    const cursor = new JsonCursor(new Uint8Array(2_000_000).fill(0x5b));
    expect(() => cursor.skipValue()).toThrow(expect.objectContaining({ reason: 'depth' }));
    expect(cursor.position).toBe(MAX_JSON_DEPTH);
  });

  it('reads the names of an object in order', () => {
    const bytes = encoder.encode(' { "a" : 1 , "\\u0062":{"c":[2]}, "":null }');
    const cursor = new JsonCursor(bytes);
    const names: string[] = [];
    expect(cursor.enterObject()).toBe(true);
    for (let name = cursor.nextName(true); name !== undefined; name = cursor.nextName(false)) {
      names.push(new TextDecoder().decode(bytes.subarray(name.start, name.end)));
      cursor.skipValue();
    }
    cursor.end();
    expect(names).toEqual(['a', '\\u0062', '']);
  });

  it('counts the enclosing objects as levels', () => {
    const cursor = new JsonCursor(encoder.encode(`{"a":${'['.repeat(MAX_JSON_DEPTH)}`));
    cursor.enterObject();
    cursor.nextName(true);
    expect(() => cursor.skipValue()).toThrow(expect.objectContaining({ reason: 'depth' }));
  });
});
