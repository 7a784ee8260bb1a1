import { escaped } from './spellings.js';

/** A text in UTF-7 (RFC 2152), these characters of it encoded. */
export function utf7(text: string, hidden: (character: string) => boolean): string {
  return text.replaceAll(/[^]/gu, (character) =>
    hidden(character) ? `+${base64Units(character)}-` : character === '+' ? '+-' : character,
  );
}

/** The same as mailboxes have it (RFC 3501 §5.1.3), which iconv-lite calls utf-7-imap. */
export function utf7Imap(text: string, hidden: (character: string) => boolean): string {
  return text.replaceAll(/[^]/gu, (character) =>
    hidden(character) ? `&${base64Units(character).replaceAll('/', ',')}-` : character === '&' ? '&-' : character,
  );
}

function base64Units(character: string): string {
  return utf16be(character).toString('base64').replaceAll('=', '');
}

export function utf16le(text: string): Buffer {
  return Buffer.from(text, 'utf16le');
}

export function utf16be(text: string): Buffer {
  return utf16le(text).swap16();
}

export function utf32(text: string, littleEndian: boolean): Buffer {
  const points = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  const bytes = Buffer.alloc(points.length * 4);
  for (const [index, point] of points.entries()) {
    if (littleEndian) bytes.writeUInt32LE(point, index * 4);
    else bytes.writeUInt32BE(point, index * 4);
  }
  return bytes;
}

/** A text in EBCDIC (code page 37), as far as JSON of ASCII needs it. */
export function ebcdic(text: string): Buffer {
  const rows: readonly (readonly [first: number, characters: string])[] = [
    [0x81, 'abcdefghi'],
    [0x91, 'jklmnopqr'],
    [0xa2, 'stuvwxyz'],
    [0xc1, 'ABCDEFGHI'],
    [0xd1, 'JKLMNOPQR'],
    [0xe2, 'STUVWXYZ'],
    [0xf0, '0123456789'],
  ];
  const codes = new Map<string, number>([
    ['{', 0xc0],
    ['}', 0xd0],
    ['[', 0xba],
    [']', 0xbb],
    ['"', 0x7f],
    [':', 0x7a],
    [',', 0x6b],
    ['.', 0x4b],
    ['/', 0x61],
    ['-', 0x60],
    ['_', 0x6d],
    [' ', 0x40],
  ]);
  for (const [first, characters] of rows) {
    for (const [index, character] of characters.split('').entries()) codes.set(character, first + index);
  }
  return Buffer.from(text.split('').map((character) => codes.get(character) ?? 0x6f));
}

/** Two messages in one: what UTF-8 makes of the bytes, and what a reader that decodes otherwise makes of them. */
export interface TwoFacedBody {
  readonly how: string;
  /** The charsets under which it shows its other face. */
  readonly charsets: readonly string[];
  readonly body: Uint8Array;
}

/** `members` shown only to readers that decode as they are told; `before` begins a request that is harmless without them. */
export function twoFaced(before: string, members: string): readonly TwoFacedBody[] {
  const structural = (character: string): boolean => '"{}[]:,\\'.includes(character);
  const hidden = (written: string): string => `${before},"x":"${written}"}`;
  const UTF7 = ['utf-7', 'UTF7', 'unicode-1-1-utf-7', 'csUTF7'];
  const IMAP = ['utf-7-imap', 'utf7imap'];
  return [
    {
      how: 'letters of names in UTF-7',
      charsets: UTF7,
      body: Buffer.from(`${before},${names(members, (name) => utf7(name.slice(0, 1), () => true) + name.slice(1))}}`),
    },
    {
      how: 'quotes in UTF-7',
      charsets: UTF7,
      body: Buffer.from(hidden(utf7(`",${members},"y":"`, (character) => structural(character)))),
    },
    {
      how: 'all in UTF-7',
      charsets: UTF7,
      body: Buffer.from(hidden(utf7(`",${members},"y":"`, () => true))),
    },
    {
      how: 'quotes in the UTF-7 of mailboxes',
      charsets: IMAP,
      body: Buffer.from(hidden(utf7Imap(`",${members},"y":"`, (character) => structural(character)))),
    },
    {
      how: 'quotes as escapes',
      charsets: ['unicode_escape', 'unicode-escape', 'raw_unicode_escape'],
      body: Buffer.from(hidden(`",${members},"y":"`.replaceAll('"', escaped('"')))),
    },
    // An empty shift to Chinese and back.
    {
      how: 'names that HZ shifts',
      charsets: ['hz', 'hz-gb-2312'],
      body: Buffer.from(`${before},${names(members, (name) => `${name.slice(0, 1)}~{~}${name.slice(1)}`)}}`),
    },
  ];
}

/** The names in a JSON text, written otherwise. */
function names(text: string, written: (name: string) => string): string {
  return text.replaceAll(/"(\w+)":/g, (_name, name: string) => `"${written(name)}":`);
}
