import { normalized, unescaped, visible } from './inline-text.js';

export interface Reference {
  readonly href: string;
  readonly title: string;
}

export interface LinkTarget extends Reference {
  /** The offset behind it. */
  readonly end: number;
}

/** An address has at most this many opening parentheses, so that no text is read again for each of its brackets. */
const MAX_PARENTHESES = 32;
const BLANKS = /[ \t\n]*/y;
const ANGLED = /[^<>\\\n]*/y;
const PLAIN = /[^ \p{Cc}\\()]*/uy;
const TITLE = /[ \t\n]+("(?:[^"\\]|\\[^]){0,999}"|'(?:[^'\\]|\\[^]){0,999}'|\((?:[^()\\]|\\[^]){0,999}\))/y;
const UNFINISHED_TITLE = /[ \t\n]*(?:["'(][^)]*)?$/y;
const LABEL = /^\[(?!\^)((?:[^\\[\]]|\\[^]){1,999})\]:/;
const LINE_END = /[ \t]*(?:\n|$)/y;

/**
 * The target of a link whose `(` is at an offset; `pending` when more text may complete it, undefined when there is none.
 */
export function linkTarget(text: string, at: number): LinkTarget | 'pending' | undefined {
  const destination = destinationAt(text, endOf(BLANKS, text, at + 1));
  if (typeof destination !== 'object') return destination;
  const { href, end } = destination;
  const [title, behind] = titleAt(text, end);
  const close = endOf(BLANKS, text, behind);
  if (text[close] === ')') return { href, title, end: close + 1 };
  return text.length - end < 1000 && endOf(UNFINISHED_TITLE, text, end) === text.length ? 'pending' : undefined;
}

/** The link reference definition at the beginning of a paragraph. */
export function definitionIn(text: string): (LinkTarget & { readonly label: string }) | undefined {
  const [start, name = ''] = LABEL.exec(text) ?? [];
  const label = normalized(name);
  if (start === undefined || label === '') return undefined;
  const begin = endOf(BLANKS, text, start.length);
  if (begin === text.length) return undefined;
  const destination = destinationAt(text, begin);
  if (typeof destination !== 'object' || destination.end === begin) return undefined;
  const { href, end } = destination;
  const [title, behind] = titleAt(text, end);
  const titled = endOf(LINE_END, text, behind);
  if (titled > behind || behind === text.length) return { label, href, title, end: titled };
  const plain = endOf(LINE_END, text, end);
  return plain > end ? { label, href, title: '', end: plain } : undefined;
}

function destinationAt(text: string, start: number): Omit<LinkTarget, 'title'> | 'pending' | undefined {
  if (text[start] !== '<') {
    const end = plainEnd(text, start);
    return end === undefined ? undefined : { href: unescaped(text.slice(start, end)), end };
  }
  let end = endOf(ANGLED, text, start + 1);
  while (text[end] === '\\') end = endOf(ANGLED, text, end + 2);
  if (text[end] === '>') return { href: unescaped(text.slice(start + 1, end)), end: end + 1 };
  return end >= text.length ? 'pending' : undefined;
}

/** The end of an address without `<>`; undefined if its parentheses are not balanced. */
function plainEnd(text: string, start: number): number | undefined {
  let [depth, count] = [0, 0];
  for (let at = start; ; at += 1) {
    at = endOf(PLAIN, text, at);
    const character = text[at];
    if (character === '(') {
      depth += 1;
      count += 1;
      if (count > MAX_PARENTHESES) return undefined;
    } else if (character === ')' && depth > 0) depth -= 1;
    else if (character === '\\' && /[^ \n]/.test(text[at + 1] ?? '')) at += 1;
    else if (character !== '\\') return depth > 0 && at < text.length ? undefined : at;
  }
}

/** The title at an offset and the offset behind it; an empty one when there is none. */
function titleAt(text: string, at: number): readonly [title: string, end: number] {
  TITLE.lastIndex = at;
  const [whole = '', title = ''] = TITLE.exec(text) ?? [];
  return [visible(unescaped(title.slice(1, -1))), at + whole.length];
}

/** The end of what a sticky pattern matches at an offset. */
export function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
