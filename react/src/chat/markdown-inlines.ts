import {
  type BareAddress,
  bareAddress,
  bareMail,
  characterBefore,
  EAST_ASIAN,
  isData,
  undividedEnd,
  wordEnd,
} from './bare-address.js';
import { type Delimiter, leaveOpen, pairDelimiters } from './emphasis.js';
import { entityAt, normalized, visible, withoutEntities } from './inline-text.js';
import { type Inline, type InlineElement, type ParsedInlines, type Token, treeOf } from './inline-tree.js';
import { endOf, linkTarget, type Reference } from './link-target.js';

export interface InlineOptions {
  /** More text follows: marks that are not closed yet are not shown. */
  readonly isGrowing: boolean;
  /** The link reference definition of a label. */
  readonly reference: (label: string) => Reference | undefined;
  /** False for an address that stays text. */
  readonly isLink: (href: string, isImage: boolean) => boolean;
  /** In the cell of a table, whose dates, numbers and words are not broken. */
  readonly isCell?: boolean;
}

/** The longest emphasis, link or code span, in characters. Parsing takes quadratic time up to this length, linear time above. */
const MAX_SPAN = 3000;
/** At most so many characters, so that an address is not read again for each mark before it. */
const PLAIN = /[^\\`*_~[\]!<&\n]{1,1000}/y;
const ANGLE_LINK = /<(?:([a-z][a-z\d+.-]{1,31}:[^\s\p{Cc}<>]*)|[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d-]+(?:\.[a-z\d-]+)*)>/iuy;
const TAG = /<(\/?)(br|strong|b|em|i|del|code) ?\/?>/iy;
const ANCHOR = /<(?:a\s+href\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)')\s*|(\/a\s*))>/iy;
const UNFINISHED_ANCHOR = /<a\s[^<>]*$/iy;
const PUNCTUATION = /[\p{P}\p{S}]/u;
const SPACE = /\s/;
const LABEL = /\[((?:[^\\[\]]|\\[^]){0,999})\]/y;
const NESTED_LABEL = /(?:^|[^\\])(?:\\\\)*\[/;
/** In a cell: a date, a number or a compound word at which a browser may break a line. */
const COMPOUND = /[\p{L}\p{N}].*[-/–—?&|%!].*[\p{L}\p{N}]|[-+−]\p{N}/u;
const MAX_COMPOUND = 20;
/** A number in groups, a number with its unit or month, a month with its day and year, or any word. */
const CELL_WORDS =
  /\d{1,3}(?: \d{3})+(?!\d)|\d[\d.,]{0,20} [\p{L}\p{Sc}%]{1,9}\.?(?: \d{4})?(?!\S)|\p{L}{3,9}\.? \d{1,2},? \d{4}(?!\S)|\S+/gu;
/** Words in escaped brackets, which are no formula. */
const WORDS = /^..(?:[^\p{L}\p{N}]*|\d+|\p{L}{4}[\p{L} ]*)..$/u;
/** The end of a text that may become a mark once more of it is there. */
const UNFINISHED = /(?:[*_~`]{1,99}|!?\[|!|\\|<[!/\w]?[^\s<>]{0,40}(?: \/?)?|&#?\w{0,8})$/;

const TAG_NAMES: Readonly<Record<string, 'strong' | 'em' | 'del' | 'code'>> = {
  strong: 'strong',
  b: 'strong',
  em: 'em',
  i: 'em',
  del: 'del',
  code: 'code',
};

interface Bracket {
  readonly token: Token;
  readonly isImage: boolean;
  /** Offset of its text. */
  readonly end: number;
  /** The number of delimiters before it. */
  readonly delimiters: number;
  /** False inside of a link, which contains no other. */
  isActive: boolean;
}

/** Parses the text from an offset on, which is 0 or where an earlier parse of the same beginning had settled. */
export function parseInlines(text: string, offset: number, options: InlineOptions): ParsedInlines {
  const inlines: Inline[] = [];
  let [settledLength, settledCount] = [offset, 0];
  for (let from = offset; from < text.length;) {
    const end = undividedEnd(text, from, from + MAX_SPAN);
    const isLast = end >= text.length;
    const part = new InlineParser(isLast ? text : text.slice(0, end), from, options, isLast).parse();
    // All of a long text is settled up to where the last marks may still be open, or where they are taken as text.
    const isText = !isLast && part.settledLength === from;
    const count = isText ? part.inlines.length : part.settledCount;
    settledCount = inlines.length + count;
    settledLength = isText ? end : part.settledLength;
    for (const inline of isLast ? part.inlines : part.inlines.slice(0, count)) inlines.push(inline);
    from = isLast ? end : settledLength;
  }
  return { inlines, settledLength, settledCount };
}

class InlineParser {
  readonly #text: string;
  readonly #from: number;
  readonly #options: InlineOptions;
  /** More text follows, which is not known yet, or which is parsed later. */
  readonly #isGrowing: boolean;
  readonly #isCut: boolean;
  readonly #tokens: Token[] = [];
  readonly #delimiters: Delimiter[] = [];
  readonly #brackets: Bracket[] = [];
  #at: number;
  #end: number;
  /** A code span, a formula or a comment has begun, and may contain what follows once its end is there. */
  #isSpanOpen = false;
  /** The offsets of the runs of backticks from here on, by length, the last one first. */
  #backticks: Map<number, number[]> | undefined;
  /** Ends of formulas and comments that the rest of the text does not contain. */
  readonly #missing = new Set<string>();
  #mail: BareAddress | undefined | 'none';

  constructor(text: string, from: number, options: InlineOptions, isLast: boolean) {
    this.#text = text;
    this.#from = this.#at = from;
    this.#end = text.length;
    this.#options = options;
    this.#isCut = !isLast;
    this.#isGrowing = options.isGrowing && isLast;
    if (this.#isGrowing) {
      const tail = text.slice(Math.max(from, text.length - 120));
      const unfinished = UNFINISHED.exec(tail);
      if (unfinished !== null) this.#end -= tail.length - unfinished.index;
      UNFINISHED_ANCHOR.lastIndex = Math.max(from, text.lastIndexOf('<'));
      if (UNFINISHED_ANCHOR.test(text)) this.#end = text.lastIndexOf('<');
    }
  }

  parse(): ParsedInlines {
    while (this.#at < this.#end) this.#next();
    pairDelimiters(this.#delimiters, 0);
    for (const { token, isActive } of this.#brackets) {
      if (!isActive) continue;
      token.isOpen = true;
      if (this.#isGrowing) token.text = '';
    }
    for (const delimiter of this.#delimiters) leaveOpen(delimiter, this.#isGrowing);
    return treeOf(this.#tokens, this.#from, this.#end);
  }

  #next(): void {
    const character = this.#text[this.#at] as string;
    switch (character) {
      case '\\':
        return this.#escape();
      case '`':
        return this.#code();
      case '*':
      case '_':
      case '~':
        return this.#run(character);
      case '!':
      case '[':
        return this.#open(character);
      case ']':
        return this.#close();
      case '<':
        return this.#angle();
      case '&':
        return this.#entity();
      case '\n':
        return this.#break();
      default:
        return this.#plain();
    }
  }

  #push(text: string, start = -1, element?: InlineElement): Token {
    const token: Token = { text, start, element, closes: 0, opens: [], isOpen: false };
    this.#tokens.push(token);
    return token;
  }

  #element(tag: InlineElement['tag'], children: readonly Inline[], href?: string): void {
    this.#push('', -1, { tag, href, children });
  }

  #plain(): void {
    const from = this.#at;
    const whole = Math.min(endOf(PLAIN, this.#text, from), this.#end);
    const address = this.#address(from, whole);
    const end = address?.start ?? ((whole - from > 999 && wordEnd(this.#text, from, whole)) || whole);
    this.#words(from, end);
    this.#at = address?.end ?? end;
    if (address === undefined) return;
    const { start, href } = address;
    const isImage = isData(href);
    const isOpen = isImage && (this.#isGrowing || this.#isCut) && address.end === this.#text.length;
    const text = this.#text.slice(start, address.end);
    if (isOpen) this.#push('').isOpen = true;
    else if (this.#options.isLink(href, isImage))
      this.#element(isImage ? 'img' : 'a', [isImage ? '' : visible(text)], href);
    else this.#push(text, start);
  }

  /** The first address without marks around it that begins in a part of the text. */
  #address(from: number, end: number): BareAddress | undefined {
    if (this.#mail === undefined || (this.#mail !== 'none' && this.#mail.start < from))
      this.#mail = bareMail(this.#text, from) ?? 'none';
    const address = bareAddress(this.#text, from, end);
    const mail = this.#mail === 'none' || this.#mail.start >= end ? undefined : this.#mail;
    return address === undefined || (mail !== undefined && mail.start < address.start) ? mail : address;
  }

  /** Text; in a cell with its dates and compound words as elements, which the page does not break. */
  #words(from: number, end: number): void {
    let at = from;
    if (this.#options.isCell) {
      for (const { 0: word, index } of this.#text.slice(from, end).matchAll(CELL_WORDS)) {
        if (!word.includes(' ') && (word.length >= MAX_COMPOUND || !COMPOUND.test(word))) continue;
        if (from + index > at) this.#push(this.#text.slice(at, from + index), at);
        this.#element('span', [word]);
        at = from + index + word.length;
      }
    }
    if (at < end) this.#push(this.#text.slice(at, end), at);
  }

  #escape(): void {
    const next = this.#text[this.#at + 1] ?? '';
    if (next === '\n') {
      this.#at += 1;
      return;
    }
    if ((next === '(' || next === '[') && this.#formula(next === '(' ? '\\)' : '\\]')) return;
    const isEscape = /[!-/:-@[-`{-~]/.test(next);
    this.#push(isEscape ? next : '\\');
    this.#at += isEscape ? 2 : 1;
  }

  /** A formula of TeX stays as it is written. */
  #formula(closing: string): boolean {
    const start = this.#at;
    let end = this.#missing.has(closing) ? -1 : start + 2;
    while (end >= 0 && !this.#text.startsWith(closing, end)) {
      end = this.#text.indexOf('\\', end);
      if (end >= 0 && !this.#text.startsWith(closing, end)) end += 2;
    }
    if (end < 0) {
      this.#missing.add(closing);
      this.#isSpanOpen = true;
      if (!this.#isGrowing) {
        this.#push('').isOpen = true;
        return false;
      }
    }
    const formula = this.#text.slice(start, end < 0 ? this.#end : end + 2);
    if (end >= 0 && WORDS.test(formula)) return false;
    for (const [index, line] of formula.split('\n').entries()) {
      if (index > 0) this.#element('br', []);
      this.#push(line).isOpen = end < 0;
    }
    this.#at = start + formula.length;
    return true;
  }

  #code(): void {
    const { length } = /`+/y.exec(this.#text.slice(this.#at, this.#at + 99))?.[0] ?? '`';
    const start = this.#at + length;
    const ends = this.#runsOfBackticks().get(length) ?? [];
    while ((ends[ends.length - 1] ?? Infinity) < start) ends.pop();
    const end = ends[ends.length - 1];
    if (end === undefined && !this.#isGrowing) {
      this.#push('`'.repeat(length)).isOpen = this.#isSpanOpen = true;
      this.#at = start;
      return;
    }
    const code = this.#text.slice(start, end ?? this.#end).replace(/\n/g, ' ');
    const isPadded = end !== undefined && code.startsWith(' ') && code.endsWith(' ') && code.trim() !== '';
    this.#element('code', [isPadded ? code.slice(1, -1) : end === undefined ? code.trimStart() : code]);
    (this.#tokens[this.#tokens.length - 1] as Token).isOpen = end === undefined;
    this.#at = end === undefined ? this.#end : end + length;
  }

  #runsOfBackticks(): Map<number, number[]> {
    if (this.#backticks !== undefined) return this.#backticks;
    this.#backticks = new Map();
    for (const { 0: run, index } of [...this.#text.slice(this.#at).matchAll(/`+/g)].reverse()) {
      const offsets = this.#backticks.get(run.length) ?? [];
      offsets.push(this.#at + index);
      this.#backticks.set(run.length, offsets);
    }
    return this.#backticks;
  }

  #run(mark: string): void {
    let length = 1;
    while (this.#text[this.#at + length] === mark) length += 1;
    const before = characterBefore(this.#text, this.#at) || ' ';
    const token = this.#push(mark.repeat(length));
    this.#at += length;
    const after = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0x20);
    // One tilde is text, as in "3~5".
    if (mark === '~' && length !== 2) return;
    // Beside Chinese, Japanese or Korean no space separates a mark from words, so punctuation there says nothing.
    const [isEastBefore, isEastAfter] = [EAST_ASIAN.test(before), EAST_ASIAN.test(after)];
    const isMarkBefore = PUNCTUATION.test(before) && !isEastBefore;
    const isMarkAfter = PUNCTUATION.test(after) && !isEastAfter;
    const opens = !SPACE.test(after) && (!isMarkAfter || SPACE.test(before) || isMarkBefore || isEastBefore);
    const closes = !SPACE.test(before) && (!isMarkBefore || SPACE.test(after) || isMarkAfter || isEastAfter);
    const isWord = mark === '_';
    const canOpen = opens && (!isWord || !closes || PUNCTUATION.test(before));
    const canClose = closes && (!isWord || !opens || PUNCTUATION.test(after));
    if (canOpen || canClose) this.#delimiters.push({ token, mark, length, count: length, canOpen, canClose });
  }

  #open(character: string): void {
    const isImage = character === '!';
    if (isImage && this.#text[this.#at + 1] !== '[') {
      this.#push('!');
      this.#at += 1;
      return;
    }
    const token = this.#push(isImage ? '![' : '[');
    this.#at += token.text.length;
    this.#brackets.push({ token, isImage, end: this.#at, delimiters: this.#delimiters.length, isActive: true });
  }

  #close(): void {
    const bracket = this.#brackets.pop();
    this.#at += 1;
    if (bracket === undefined) return void this.#push(']');
    const link = bracket.isActive ? this.#target(bracket) : undefined;
    if (link === undefined) {
      bracket.token.isOpen ||= this.#isSpanOpen;
      return void this.#push(']');
    }
    if (link === 'text') {
      bracket.token.text = '';
      bracket.token.isOpen = true;
      return;
    }
    pairDelimiters(this.#delimiters, bracket.delimiters);
    this.#delimiters.length = bracket.delimiters;
    bracket.token.text = '';
    const end = this.#push('');
    const isLink = link === 'pending' || this.#options.isLink(link.href, bracket.isImage);
    bracket.token.isOpen = this.#isSpanOpen || !isLink;
    if (isLink) {
      const { href, title } = link === 'pending' ? { href: undefined, title: '' } : link;
      bracket.token.opens.push({ tag: bracket.isImage ? 'img' : 'a', href, title });
      end.closes = 1;
    }
    if (!bracket.isImage) for (const other of this.#brackets) other.isActive &&= other.isImage;
  }

  /** The link that ends here; `pending` when its address is not complete, `text` when more text decides if it is one. */
  #target({ token, end }: Bracket): Reference | 'pending' | 'text' | undefined {
    const text = this.#text;
    const label = text.slice(end, this.#at - 1);
    if (text[this.#at] === '(') {
      const found = linkTarget(text, this.#at);
      if (typeof found === 'object') {
        this.#at = found.end;
        return found;
      }
      if (found === 'pending' && this.#isGrowing) {
        this.#at = this.#end;
        return found;
      }
      token.isOpen ||= found === 'pending' && this.#isCut;
    }
    if (text[this.#at] === '[') {
      LABEL.lastIndex = this.#at;
      const [whole, other] = LABEL.exec(text) ?? [];
      const isOpen = whole === undefined && !text.slice(this.#at, this.#at + 1000).includes(']');
      if (isOpen && this.#isGrowing) {
        this.#at = this.#end;
        return 'text';
      }
      token.isOpen ||= isOpen && this.#isCut;
      const reference = whole === undefined ? undefined : this.#reference(other || label);
      // "[2][3]" are two citations.
      if (whole !== undefined && (reference !== undefined || (this.#isGrowing && !/^[\d^]/.test(label)))) {
        this.#at += whole.length;
        return reference ?? 'text'; // its definition may follow
      }
      if (other) return undefined;
    }
    if (this.#at >= this.#end) {
      if (this.#isGrowing) return 'text';
      token.isOpen ||= this.#isCut;
    }
    return this.#reference(label);
  }

  /** A label contains no bracket, so nested brackets are not searched once for each of them. */
  #reference(label: string): Reference | undefined {
    return label.length > 999 || NESTED_LABEL.test(label) ? undefined : this.#options.reference(normalized(label));
  }

  #angle(): void {
    const text = this.#text;
    if (text.startsWith('<!--', this.#at)) {
      const end = this.#missing.has('-->') ? -1 : text.indexOf('-->', this.#at + 2);
      if (end < 0) this.#missing.add('-->');
      if (end >= 0 || this.#isGrowing) {
        this.#at = end < 0 ? this.#end : end + 3;
        this.#push('').isOpen = end < 0;
        return;
      }
      this.#push('<').isOpen = this.#isSpanOpen = true;
      this.#at += 1;
      return;
    }
    for (const pattern of [ANGLE_LINK, ANCHOR, TAG]) pattern.lastIndex = this.#at;
    const [link, address = link === undefined ? '' : `mailto:${link.slice(1, -1)}`] = ANGLE_LINK.exec(text) ?? [];
    if (link !== undefined && this.#options.isLink(address, false)) {
      this.#element('a', [visible(link.slice(1, -1))], address);
      this.#at += link.length;
      return;
    }
    const [anchor, quoted, single, end] = ANCHOR.exec(text) ?? [];
    const href = withoutEntities(quoted ?? single ?? '');
    if (anchor !== undefined && (end !== undefined || this.#options.isLink(href, false))) {
      const token = this.#push(anchor);
      const isEnd = end !== undefined;
      this.#delimiters.push({ token, mark: '<a', href, length: 1, count: 1, canOpen: !isEnd, canClose: isEnd });
      this.#at += anchor.length;
      return;
    }
    const [tag, slash, name = ''] = TAG.exec(text) ?? [];
    if (tag === undefined) {
      this.#push('<');
      this.#at += 1;
      return;
    }
    this.#at += tag.length;
    if (/br/i.test(name)) return this.#element('br', []);
    const token = this.#push(tag);
    const mark = `<${TAG_NAMES[name.toLowerCase()] ?? ''}`;
    this.#delimiters.push({ token, mark, length: 1, count: 1, canOpen: slash === '', canClose: slash !== '' });
  }

  #entity(): void {
    const entity = entityAt(this.#text, this.#at);
    this.#push(entity?.character ?? '&');
    this.#at += entity?.length ?? 1;
  }

  /** A line break of the source is one of the page, as agents mean it. */
  #break(): void {
    const last = this.#tokens[this.#tokens.length - 1];
    if (last !== undefined && last.element === undefined) last.text = last.text.trimEnd();
    this.#at += 1;
    while (this.#text[this.#at] === ' ') this.#at += 1;
    this.#element('br', []);
  }
}
