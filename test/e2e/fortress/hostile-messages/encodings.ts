import { escaped } from './spellings.js';

/** A text in UTF-7 (RFC 2152) with these characters encoded. */
export function utf7(text: string, hidden: (character: string) => boolean): string {
  return text.replaceAll(/[^]/gu, (character) =>
    hidden(character) ? `+${base64Units(character)}-` : character === '+' ? '+-' : character,
  );
}

/** The same in the UTF-7 of mailbox names (RFC 3501 §5.1.3), which iconv-lite calls utf-7-imap. */
export function utf7Imap(text: string, hidden: (character: string) => boolean): string {
  return text.replaceAll(/[^]/gu, (character) =>
    hidden(character) ? `&${base64Units(character).replaceAll('/', ',')}-` : character === '&' ? '&-' : character,
  );
}

function base64Units(character: string): string {
  return utf16be(character).toString('base64').replaceAll('=', '');
}

export function utf16be(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16();
}

/** Bytes that are one message in UTF-8 and another one in each of `charsets`. */
export interface TwoFacedBody {
  readonly charsets: readonly string[];
  readonly body: Uint8Array;
}

/** `members` are visible only to parsers that decode as declared. `before` begins a request that is harmless without them. */
export function twoFaced(before: string, members: string): readonly TwoFacedBody[] {
  const structural = (character: string): boolean => '"{}[]:,\\'.includes(character);
  const more = `",${members},"y":"`;
  const hidden = (written: string): Buffer => Buffer.from(`${before},"x":"${written}"}`);
  const named = (written: (name: string) => string): Buffer =>
    Buffer.from(`${before},${members.replaceAll(/"(\w+)":/g, (_name, name: string) => `"${written(name)}":`)}}`);
  const UTF7 = ['utf-7', 'UTF7', 'unicode-1-1-utf-7', 'csUTF7'];
  return [
    { charsets: UTF7, body: named((name) => utf7(name.slice(0, 1), () => true) + name.slice(1)) },
    { charsets: UTF7, body: hidden(utf7(more, structural)) },
    { charsets: UTF7, body: hidden(utf7(more, () => true)) },
    { charsets: ['utf-7-imap', 'utf7imap'], body: hidden(utf7Imap(more, structural)) },
    { charsets: ['unicode_escape', 'raw_unicode_escape'], body: hidden(more.replaceAll('"', escaped('"'))) },
    // An empty shift to the Chinese character set and back.
    { charsets: ['hz', 'hz-gb-2312'], body: named((name) => `${name.slice(0, 1)}~{~}${name.slice(1)}`) },
  ];
}
