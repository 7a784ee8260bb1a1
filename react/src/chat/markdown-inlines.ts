import { type Delimiter, leaveOpen, pairDelimiters } from './emphasis.js';
import { entityAt, normalized, unescaped, visible } from './inline-text.js';
import { type Inline, type InlineElement, type ParsedInlines, type Token, treeOf } from './inline-tree.js';

export interface Reference {
  readonly href: string;
  readonly title: string;
}

export interface InlineOptions {
  /** More text follows: marks that are not closed yet are not shown. */
  readonly isGrowing: boolean;
  /** The link reference definition of a label. */
  readonly reference: (label: string) => Reference | undefined;
}

/** The longest emphasis, link or code span, in characters. Parsing takes quadratic time up to this length, linear time above. */
const MAX_SPAN = 3000;
/** A browser reads `https:/path` and `https:path` as paths of the site; a visitor does not. */
const ALLOWED_ADDRESS = /^(?:https?:\/\/|mailto:)/i;
const PLAIN = /[^\\`*_~[\]!<&\n]+/y;
const ADDRESS_START = /https?:\/\/[^\s<]|www\.[^\s<]/gi;
const ADDRESS = /[^\s<]{1,2000}/y;
const ANGLE_LINK = /<((?:https?:\/\/|mailto:)[^\s<>]{1,2000}|[\w.+-]{1,64}@[\w.-]{1,250})>/iy;
const TAG = /<(\/?)(br|strong|b|em|i|del|code) ?\/?>/iy;
const PUNCTUATION = /[\p{P}\p{S}]/u;
const SPACE = /\s/;
const TITLE = /\s{1,99}(?:"((?:[^"\\]|\\.){0,999})"|'((?:[^'\\]|\\.){0,999})'|\(((?:[^()\\]|\\.){0,999})\))\s{0,99}\)/y;
const LABEL = /\[([^[\]]{0,999})\]/y;
/** The end of a text that may become a mark once more of it is there. */
const UNFINISHED = /(?:[*_~`]{1,99}|!?\[|!|\\|<[!/\w]?[^\s<>]{0,40}|&#?\w{0,8})$/;

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
  let parsed: ParsedInlines = { inlines: [], settledLength: offset, settledCount: 0 };
  for (let from = offset; from < text.length;) {
    const end = from + MAX_SPAN;
    const isLast = end >= text.length;
    const parser = new InlineParser(isLast ? text : text.slice(0, end), from, options, isLast);
    const part = parser.parse();
    // All of a long text is settled up to where the last marks may still be open, or where they are taken as text.
    const isWhole = isLast || part.settledLength === from;
    const inlines = isWhole ? part.inlines : part.inlines.slice(0, part.settledCount);
    parsed = {
      inlines: [...parsed.inlines, ...inlines],
      settledLength: isLast || !isWhole ? part.settledLength : end,
      settledCount: parsed.inlines.length + (isLast || !isWhole ? part.settledCount : inlines.length),
    };
    if (isLast) break;
    from = parsed.settledLength;
  }
  return parsed;
}

class InlineParser {
  readonly #text: string;
  readonly #from: number;
  readonly #options: InlineOptions;
  readonly #isGrowing: boolean;
  readonly #tokens: Token[] = [];
  readonly #delimiters: Delimiter[] = [];
  readonly #brackets: Bracket[] = [];
  #at: number;
  #end: number;
  /** A code span or a comment has begun, and may contain what follows once its end is there. */
  #isSpanOpen = false;
  /** No bracket closes an address before this offset. */
  #openUntil = 0;

  constructor(text: string, from: number, options: InlineOptions, isLast: boolean) {
    this.#text = text;
    this.#from = this.#at = from;
    this.#end = text.length;
    this.#options = options;
    this.#isGrowing = options.isGrowing && isLast;
    if (this.#isGrowing) {
      const tail = text.slice(Math.max(from, text.length - 120));
      const unfinished = UNFINISHED.exec(tail);
      if (unfinished !== null) this.#end -= tail.length - unfinished.index;
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
    PLAIN.lastIndex = this.#at;
    const [found] = PLAIN.exec(this.#text) ?? [this.#text[this.#at] as string];
    const plain = found.slice(0, this.#end - this.#at);
    ADDRESS_START.lastIndex = 0;
    for (let start; (start = ADDRESS_START.exec(plain)) !== null;) {
      if (/[\p{L}\p{N}_]/u.test(this.#text[this.#at + start.index - 1] ?? '')) continue;
      if (start.index > 0) this.#push(plain.slice(0, start.index), this.#at);
      this.#at += start.index;
      return this.#address();
    }
    this.#push(plain, this.#at);
    this.#at += plain.length;
  }

  /** An address without any marks around it (GitHub Flavored Markdown, "extended autolinks"). */
  #address(): void {
    ADDRESS.lastIndex = this.#at;
    let [address] = ADDRESS.exec(this.#text) as RegExpExecArray;
    let surplus = 0;
    for (const character of address) surplus += character === ')' ? 1 : character === '(' ? -1 : 0;
    for (;;) {
      const last = address[address.length - 1] ?? '';
      if (last === ')' && surplus > 0) surplus -= 1;
      else if (!'?!.,:;*_~\'"`]'.includes(last) || last === '') break;
      address = address.slice(0, -1);
    }
    const around = this.#brackets.filter(({ isActive, isImage }) => isActive && !isImage);
    // A parse that begins after these brackets would find a link here, so it must not begin there.
    for (const { token } of around) token.isOpen = true;
    if (around.length > 0) this.#push(address, this.#at);
    else this.#element('a', [visible(address)], /^www/i.test(address) ? `https://${address}` : address);
    this.#at += address.length;
  }

  #escape(): void {
    const next = this.#text[this.#at + 1] ?? '';
    if (next === '\n') {
      this.#at += 1;
      return;
    }
    const isEscape = /[!-/:-@[-`{-~]/.test(next);
    this.#push(isEscape ? next : '\\');
    this.#at += isEscape ? 2 : 1;
  }

  #code(): void {
    let length = 1;
    while (this.#text[this.#at + length] === '`') length += 1;
    const start = this.#at + length;
    let end = -1;
    for (let at = start; at < this.#text.length;) {
      const from = this.#text.indexOf('`', at);
      if (from < 0) break;
      let count = 1;
      while (this.#text[from + count] === '`') count += 1;
      if (count === length) {
        end = from;
        break;
      }
      at = from + count;
    }
    if (end < 0 && !this.#isGrowing) {
      this.#push('`'.repeat(length)).isOpen = this.#isSpanOpen = true;
      this.#at = start;
      return;
    }
    const isOpen = end < 0;
    const code = this.#text.slice(start, isOpen ? this.#end : end).replace(/\n/g, ' ');
    const isPadded = !isOpen && code.startsWith(' ') && code.endsWith(' ') && code.trim() !== '';
    this.#element('code', [isPadded ? code.slice(1, -1) : isOpen ? code.trimStart() : code]);
    (this.#tokens[this.#tokens.length - 1] as Token).isOpen = isOpen;
    this.#at = isOpen ? this.#end : end + length;
  }

  #run(mark: string): void {
    let length = 1;
    while (this.#text[this.#at + length] === mark) length += 1;
    const before = this.#text[this.#at - 1] ?? ' ';
    const after = this.#text[this.#at + length] ?? ' ';
    const token = this.#push(mark.repeat(length));
    this.#at += length;
    if (mark === '~' && length > 2) return;
    const opens = !SPACE.test(after) && (!PUNCTUATION.test(after) || SPACE.test(before) || PUNCTUATION.test(before));
    const closes = !SPACE.test(before) && (!PUNCTUATION.test(before) || SPACE.test(after) || PUNCTUATION.test(after));
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
    if (link === 'text') return void (bracket.token.text = '');
    pairDelimiters(this.#delimiters, bracket.delimiters);
    this.#delimiters.length = bracket.delimiters;
    bracket.token.text = '';
    const end = this.#push('');
    const isLink = link === 'pending' || ALLOWED_ADDRESS.test(link.href);
    bracket.token.isOpen = this.#isSpanOpen || !isLink;
    if (isLink) {
      bracket.token.opens.push({ tag: 'a', ...(link === 'pending' ? {} : { href: link.href, title: link.title }) });
      end.closes = 1;
    }
    // The address of an image is a link here: showing it would fetch it without the reader's will.
    for (const other of this.#brackets) other.isActive &&= bracket.isImage;
  }

  /** The link that ends here; `pending` when its address is not complete, `text` when more text decides if it is one. */
  #target({ end }: Bracket): Reference | 'pending' | 'text' | undefined {
    const text = this.#text;
    const label = text.slice(end, this.#at - 1);
    if (text[this.#at] === '(') {
      const found = this.#destination();
      if (found !== undefined) return found;
    }
    if (text[this.#at] === '[') {
      LABEL.lastIndex = this.#at;
      const [whole, other] = LABEL.exec(text) ?? [];
      if (whole === undefined && this.#isGrowing && !text.slice(this.#at).includes(']')) {
        this.#at = this.#end;
        return 'text';
      }
      const reference = whole === undefined ? undefined : this.#reference(other || label);
      if (whole !== undefined && (reference !== undefined || this.#isGrowing)) {
        this.#at += whole.length;
        return reference ?? 'text'; // its definition may follow
      }
    }
    if (this.#isGrowing && this.#at >= this.#end) return 'text';
    return this.#reference(label);
  }

  /** A label contains no bracket, so nested brackets are not searched once for each of them. */
  #reference(label: string): Reference | undefined {
    return label.includes('[') ? undefined : this.#options.reference(normalized(label));
  }

  #destination(): Reference | 'pending' | undefined {
    const text = this.#text;
    const limit = Math.min(text.length, this.#at + 2100);
    let at = this.#at + 1;
    if (at < this.#openUntil && !this.#isGrowing) return undefined;
    while (at < limit && SPACE.test(text[at] as string)) at += 1;
    const start = at;
    let depth = 0;
    let hasClosed = false;
    const isAngle = text[at] === '<';
    for (; at < limit; at += 1) {
      const character = text[at] as string;
      if (character === '\\') at += 1;
      else if (isAngle ? character === '>' || character === '\n' : SPACE.test(character)) break;
      else if (!isAngle && character === '(') depth += 1;
      else if (!isAngle && character === ')') {
        hasClosed = true;
        depth -= 1;
        if (depth < 0) break;
      }
    }
    if (!hasClosed && !isAngle && at >= limit) this.#openUntil = at;
    const pending = (): 'pending' | undefined => {
      if (!this.#isGrowing) return undefined;
      this.#at = this.#end;
      return 'pending';
    };
    if (at >= text.length) return pending();
    if (isAngle && text[at] !== '>') return undefined;
    const href = unescaped(text.slice(isAngle ? start + 1 : start, at));
    if (isAngle) at += 1;
    let close = at;
    while (close < limit && SPACE.test(text[close] as string)) close += 1;
    if (text[close] === ')') {
      this.#at = close + 1;
      return { href, title: '' };
    }
    TITLE.lastIndex = at;
    const titled = TITLE.exec(text);
    if (titled === null) return /^\s*(?:$|["'(][^\n)]*$)/.test(text.slice(at)) ? pending() : undefined;
    this.#at = TITLE.lastIndex;
    return { href, title: visible(unescaped(titled[1] ?? titled[2] ?? titled[3] ?? '')) };
  }

  #angle(): void {
    const text = this.#text;
    if (text.startsWith('<!--', this.#at)) {
      const end = text.indexOf('-->', this.#at + 4);
      if (end >= 0 || this.#isGrowing) {
        this.#at = end < 0 ? this.#end : end + 3;
        this.#push('').isOpen = end < 0;
        return;
      }
      this.#push('<').isOpen = this.#isSpanOpen = true;
      this.#at += 1;
      return;
    }
    ANGLE_LINK.lastIndex = TAG.lastIndex = this.#at;
    const [link, address] = ANGLE_LINK.exec(text) ?? [];
    if (link !== undefined && address !== undefined) {
      const isAddress = ALLOWED_ADDRESS.test(address);
      this.#element('a', [visible(address)], isAddress ? address : `mailto:${address}`);
      this.#at += link.length;
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
