import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonOutline } from '../../../src/domain/chat/json-outline.js';

const LONG = 5_000;
const file = 'QUJD'.repeat(LONG / 4);

/** The outline of a text whose first byte stands at any place in memory. */
function outline(text: string, offset = 0): string {
  const memory = new TextEncoder().encode('#'.repeat(offset) + text);
  return new TextDecoder().decode(jsonOutline(memory.subarray(offset)));
}

/** What a JSON reader makes of a text, or nothing when it refuses it. */
function read(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** A value without the long plain texts below its first level; names and order stay. */
function withoutTexts(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') {
    return depth > 1 && value.length >= 4_096 && /^[\x20\x21\x23-\x5b\x5d-\x7f]*$/.test(value) ? '' : value;
  }
  if (Array.isArray(value)) return value.map((item) => withoutTexts(item, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value).map(([name, item]) => [name, withoutTexts(item, depth + 1)]);
}

const ends = fc.constantFrom(
  '',
  'a',
  ' ',
  '"',
  '\\',
  '\\"',
  '\\\\',
  '\\n',
  '\\u0022',
  '\n',
  '\u0001',
  '\u001f',
  '\u007f',
  'é',
  '😀',
);
/** Long and short texts, some of them none that a JSON reader takes. */
const quoted = fc
  .tuple(ends, fc.constantFrom(0, 3, 4_093, 4_094, 4_095, 4_096, 4_097, LONG), ends)
  .map(([first, length, last]) => `"${first}${'x'.repeat(length)}${last}"`);
const pieces = fc.array(
  fc.oneof(quoted, fc.constantFrom('{', '}', '[', ']', ',', ':', ' ', '1', '"k":', '{"params":{"a":', '[[', '}}')),
  { maxLength: 12 },
);
const messages = fc
  .tuple(quoted, quoted, quoted, fc.json())
  .map(([one, other, name, rest]) => `{"id":${one},"params":{${name}:"${file}","b":[${other},"${file}",${rest}]}}`);

describe('the outline of a JSON message', () => {
  it('leaves out a file, and keeps everything a policy reads', () => {
    const message = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"parts":[{"raw":"${file}"}]},"configuration":{}}}`;
    expect(outline(message)).toBe(message.replace(file, ''));
  });

  it.each([
    ['a member of the message itself', `{"method":"${file}"}`],
    ['a name', `{"params":{"${file}":1}}`],
    ['a name before a blank', `{"params":{"${file}" :1}}`],
    ['a text with an escape', `{"params":{"a":"${file}\\n"}}`],
    ['a text that is no ASCII', `{"params":{"a":"${file}é"}}`],
    ['a short text', `{"params":{"a":"${'a'.repeat(4_095)}"},"b":"${'b'.repeat(LONG)}"}`],
    ['a text that no quote closes', `{"params":{"a":"${file}`],
  ])('keeps %s', (_what, message) => {
    expect(outline(message)).toBe(message);
  });

  it('keeps a message of very many texts as it is', () => {
    const many = Array.from({ length: 1_001 }, () => '"a"').join();
    expect(outline(`{"params":[${many},"${file}"]}`)).toContain(file);
  });

  it('is JSON exactly when the message is, with the same names and structure', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          messages,
          pieces.map((list) => list.join('')),
        ),
        fc.nat({ max: 3 }),
        (message, offset) => {
          const [whole, outlined] = [read(message), read(outline(message, offset))];
          expect(outlined === undefined).toBe(whole === undefined);
          expect(withoutTexts(outlined?.value)).toEqual(withoutTexts(whole?.value));
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
