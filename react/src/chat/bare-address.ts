import { endOf } from './link-target.js';

/** Letters and punctuation of Chinese, Japanese and Korean, which stand beside other words without a space. */
export const EAST_ASIAN =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Bopomofo}\u3000-\u303f\ufe30-\ufe4f\uff00-\uffef]/u;
/** Up to white space, a control, `<>"\`, a curly or angle quote, or another character that belongs to the text around. */
const PART =
  /[^\s\p{Cc}<>"`\\[\]\u00ab\u00bb\u200b-\u206f\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Bopomofo}\u3000-\u303f\ufe30-\ufe4f\uff00-\uffef]*/u
    .source;
/** Brackets come in pairs only: an address may be the text of a link. */
const ADDRESS = new RegExp(`${PART}(?:\\[[\\w%.-]*\\]${PART})*`, 'uy');
const START = /https?:\/\/(?=[\p{L}\p{N}])|www\.(?=[\p{L}\p{N}])|data:image\/[a-z+.-]{1,20};base64,(?=[\w+/=-]{40})/giu;
const LONGEST_START = 80;
const BASE64 = /[\w+/=-]*/y;
const WORD = /[\p{L}\p{N}]/u;
/** A quote that ends a text, not the apostrophe of a word. */
const CLOSING_QUOTE = /'(?![\p{L}\p{N}%])/u;
const ENTITY_END = /&[a-z\d]{1,31};$/i;
const CLOSING: Readonly<Record<string, string>> = { ')': '(', '}': '{' };
const MAIL_NAME = /[\w.+-]/;
const MAIL_HOST = /[a-z\d_-]+(?:\.[a-z\d_-]+)+/iy;

export interface BareAddress {
  readonly start: number;
  readonly end: number;
  readonly href: string;
}

/** A beginning of an address at the end of a part of a text. */
const DIVIDED = new RegExp(`(?:${START.source})${ADDRESS.source}$`, 'iu');

/**
 * The first address without any marks around it that begins in a part of a text (GitHub Flavored Markdown, "extended
 * autolinks"). It may end behind that part.
 */
export function bareAddress(text: string, from: number, to: number): BareAddress | undefined {
  const plain = text.slice(from, to + LONGEST_START);
  START.lastIndex = 0;
  for (let found; (found = START.exec(plain)) !== null && from + found.index < to;) {
    const start = from + found.index;
    if (continuesWord(text, start)) continue;
    const end = isData(found[0]) ? dataEnd(text, start) : addressEnd(text, start);
    if (end <= start + found[0].length) continue;
    const address = text.slice(start, end);
    return { start, end, href: /^w/i.test(address) ? `https://${address}` : address };
  }
  return undefined;
}

/** The rest of a link behind its address. */
const LINK_END = />? ?(?:["'][^"'\n]{0,999}["']?)?\)?/y;

/** The end of a part of a text, or of the address or link that it would divide, however long that is. */
export function undividedEnd(text: string, from: number, end: number): number {
  const at = end < text.length ? text.slice(from, end).search(DIVIDED) : -1;
  return at < 0 ? end : Math.max(end, endOf(LINK_END, text, endOf(ADDRESS, text, from + at)));
}

/** The last offset in a part of a text at which no word is divided; 0 when there is none. */
export function wordEnd(text: string, from: number, end: number): number {
  let at = end;
  while (at > from && text[at - 1] !== ' ' && !EAST_ASIAN.test(text[at - 1] as string)) at -= 1;
  return at > from ? at : 0;
}

export function isData(address: string): boolean {
  return /^d/i.test(address);
}

function dataEnd(text: string, start: number): number {
  return endOf(BASE64, text, text.indexOf(',', start) + 1);
}

/** The first e-mail address that begins at an offset or behind it. */
export function bareMail(text: string, from: number): BareAddress | undefined {
  for (let at = from; (at = text.indexOf('@', at)) >= 0; at += 1) {
    let start = at;
    while (start > 0 && MAIL_NAME.test(text[start - 1] as string)) start -= 1;
    while (text[start] === '_') start += 1;
    const end = endOf(MAIL_HOST, text, at + 1);
    // "-", "_" and a digit are no end of a host.
    if (start < from || start === at || end === at + 1 || /[-_\d]/.test(text[end - 1] as string) || text[end] === '@')
      continue;
    if (text[start - 1] === '/' || continuesWord(text, start)) continue;
    return { start, end, href: `mailto:${text.slice(start, end)}` };
  }
  return undefined;
}

/** True behind a letter or a digit, except those of languages without spaces. */
function continuesWord(text: string, at: number): boolean {
  const before = characterBefore(text, at);
  return WORD.test(before) && !EAST_ASIAN.test(before);
}

export function characterBefore(text: string, at: number): string {
  return (/[^]?$/u.exec(text.slice(Math.max(0, at - 2), at)) as RegExpExecArray)[0];
}

function addressEnd(text: string, start: number): number {
  let address = text.slice(start, endOf(ADDRESS, text, start));
  const quote = address.search(CLOSING_QUOTE);
  if (quote > 0) address = address.slice(0, quote);
  const counts = new Map<string, number>();
  for (const character of address.match(/[(){}]/g) ?? []) counts.set(character, (counts.get(character) ?? 0) + 1);
  for (;;) {
    const last = address[address.length - 1] as string;
    const surplus = (counts.get(last) ?? 0) - (counts.get(CLOSING[last] ?? '') ?? 0);
    if (last === ';') address = address.slice(0, -(ENTITY_END.exec(address.slice(-33))?.[0].length ?? 1));
    else if (!'?!.,:*_~'.includes(last) && !(last in CLOSING && surplus > 0)) return start + address.length;
    else {
      counts.set(last, (counts.get(last) ?? 0) - 1);
      address = address.slice(0, -1);
    }
  }
}
