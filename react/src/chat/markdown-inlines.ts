/** A text or an element inside a paragraph, a heading or a table cell. */
export type Inline = string | InlineElement;

export interface InlineElement {
  readonly tag: 'strong' | 'em' | 'del' | 'code' | 'a' | 'br';
  /** Of a link; undefined while the address is still being written. */
  readonly href?: string | undefined;
  readonly title?: string | undefined;
  readonly children: readonly Inline[];
}

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

export interface ParsedInlines {
  readonly inlines: readonly Inline[];
  /** No later text changes what comes before this offset. */
  readonly settledLength: number;
  /** The number of inlines before that offset; the last one is a text that ends there. */
  readonly settledCount: number;
}

/** The deepest nesting of elements. */
const MAX_DEPTH = 12;
/** The longest emphasis, link or code span, in characters. Parsing takes quadratic time up to this length, linear time above. */
const MAX_SPAN = 3000;
/** A browser reads `https:/path` and `https:path` as paths of the site; a visitor does not. */
const ALLOWED_ADDRESS = /^(?:https?:\/\/|mailto:)/i;
/** Controls, and characters that reorder the text around them. */
const DISGUISE = /\p{Bidi_Control}|[^\P{Cc}\n\t]/gu;
const PLAIN = /[^\\`*_~[\]!<&\n]+/y;
const ADDRESS_START = /https?:\/\/[^\s<]|www\.[^\s<]/gi;
const ADDRESS = /[^\s<]{1,2000}/y;
const ANGLE_LINK = /<((?:https?:\/\/|mailto:)[^\s<>]{1,2000}|[\w.+-]{1,64}@[\w.-]{1,250})>/iy;
const TAG = /<(\/?)(br|strong|b|em|i|del|code) ?\/?>/iy;
const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/iy;
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

/** The entities that agents write. Any other is shown as it is written. */
const ENTITIES: ReadonlyMap<string, string> = new Map(
  (
    'amp & lt < gt > quot " apos \' copy © reg ® trade ™ hellip … mdash — ndash – lsquo ‘ rsquo ’ ldquo “ rdquo ” ' +
    'laquo « raquo » bull • middot · times × divide ÷ deg ° euro € pound £ yen ¥ cent ¢ sect § plusmn ± minus − ' +
    'larr ← rarr → uarr ↑ darr ↓ le ≤ ge ≥ ne ≠ asymp ≈ infin ∞ frac12 ½ auml ä ouml ö uuml ü Auml Ä Ouml Ö Uuml Ü ' +
    'szlig ß eacute é egrave è agrave à ccedil ç ntilde ñ'
  )
    .split(' ')
    .reduce<[string, string][]>(
      (pairs, word, index, words) => {
        if (index % 2 === 0) pairs.push([word, words[index + 1] ?? '']);
        return pairs;
      },
      [['nbsp', '\u00a0']],
    ),
);

type Opening = Omit<InlineElement, 'children'>;

interface Token {
  text: string;
  /** Offset of the text in the source; -1 if it differs from the source. */
  readonly start: number;
  readonly element: InlineElement | undefined;
  /** Elements that end before the text, and those that begin after it, outermost first. */
  closes: number;
  readonly opens: Opening[];
  /** Later text may change what this is. */
  isOpen: boolean;
}

interface Delimiter {
  readonly token: Token;
  readonly mark: string;
  /** The length of the whole run, and of what is left of it. */
  readonly length: number;
  count: number;
  readonly canOpen: boolean;
  readonly canClose: boolean;
}

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
    this.#matchDelimiters(0);
    for (const { token, isActive } of this.#brackets) {
      if (!isActive) continue;
      token.isOpen = true;
      if (this.#isGrowing) token.text = '';
    }
    for (const delimiter of this.#delimiters) this.#leaveOpen(delimiter);
    return this.#build();
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
      const last = address.at(-1) ?? '';
      if (last === ')' && surplus > 0) surplus -= 1;
      else if (!'?!.,:;*_~\'"`]'.includes(last) || last === '') break;
      address = address.slice(0, -1);
    }
    if (this.#brackets.some(({ isActive, isImage }) => isActive && !isImage)) this.#push(address, this.#at);
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
      this.#push('`'.repeat(length)).isOpen = true;
      this.#at = start;
      return;
    }
    const isOpen = end < 0;
    const code = this.#text.slice(start, isOpen ? this.#end : end).replaceAll('\n', ' ');
    const isPadded = !isOpen && code.startsWith(' ') && code.endsWith(' ') && code.trim() !== '';
    this.#element('code', [isPadded ? code.slice(1, -1) : isOpen ? code.trimStart() : code]);
    (this.#tokens.at(-1) as Token).isOpen = isOpen;
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
    if (bracket?.isActive !== true) return void this.#push(']');
    const link = this.#target(bracket);
    if (link === undefined) return void this.#push(']');
    if (link === 'text') return void (bracket.token.text = '');
    this.#matchDelimiters(bracket.delimiters);
    this.#delimiters.length = bracket.delimiters;
    bracket.token.text = '';
    const end = this.#push('');
    if (link === 'pending' || ALLOWED_ADDRESS.test(link.href)) {
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
      const reference = whole === undefined ? undefined : this.#options.reference(normalized(other || label));
      if (whole !== undefined && (reference !== undefined || this.#isGrowing)) {
        this.#at += whole.length;
        return reference ?? 'text'; // its definition may follow
      }
    }
    if (this.#isGrowing && this.#at >= this.#end) return 'text';
    return this.#options.reference(normalized(label));
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
      this.#push('<').isOpen = true;
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
    ENTITY.lastIndex = this.#at;
    const found = ENTITY.exec(this.#text);
    const character = found === null ? undefined : characterOf(found);
    this.#push(character ?? '&');
    this.#at += character === undefined ? 1 : (found?.[0].length ?? 1);
  }

  /** A line break of the source is one of the page, as agents mean it. */
  #break(): void {
    const last = this.#tokens.at(-1);
    if (last !== undefined && last.element === undefined) last.text = last.text.trimEnd();
    this.#at += 1;
    while (this.#text[this.#at] === ' ') this.#at += 1;
    this.#element('br', []);
  }

  /** Pairs the delimiters from an index on (CommonMark, "process emphasis"). */
  #matchDelimiters(bottom: number): void {
    const all = this.#delimiters;
    const floors = new Map<string, number>();
    for (let index = bottom; index < all.length; index += 1) {
      const closer = all[index] as Delimiter;
      while (closer.canClose && closer.count > 0) {
        const kind = `${closer.mark}${closer.canOpen}${closer.length % 3}`;
        let at = index - 1;
        const floor = floors.get(kind) ?? bottom;
        while (at >= floor && !isPair(all[at] as Delimiter, closer)) at -= 1;
        if (at < floor) {
          floors.set(kind, index);
          break;
        }
        const opener = all[at] as Delimiter;
        const used = closer.mark === '~' ? closer.count : opener.count > 1 && closer.count > 1 ? 2 : 1;
        opener.token.opens.unshift({ tag: tagOf(closer.mark, used) });
        closer.token.closes += 1;
        use(opener, used);
        use(closer, used);
        all.splice(at + 1, index - at - 1);
        index = at + 1;
      }
    }
  }

  /** A delimiter that nothing closes: a mark of what is to come, or a text. */
  #leaveOpen({ token, mark, count, canOpen }: Delimiter): void {
    if (!canOpen || count === 0) return;
    token.isOpen = true;
    if (!this.#isGrowing || (mark === '~' && count === 1)) return;
    token.text = '';
    if (count % 2 === 1 && mark !== '~') token.opens.unshift({ tag: tagOf(mark, 1) });
    if (count > 1) token.opens.unshift({ tag: tagOf(mark, 2) });
  }

  #build(): ParsedInlines {
    const root: Inline[] = [];
    const open: { readonly children: Inline[]; readonly isLink: boolean }[] = [{ children: root, isLink: false }];
    const latestSettled = this.#end - 300;
    let settled = { length: this.#from, token: -1, at: 0 };
    let depth = 0;
    for (const [index, { text, start, closes, opens, isOpen, element }] of this.#tokens.entries()) {
      if (isOpen) break;
      depth -= closes;
      if (depth === 0 && start >= 0 && element === undefined) {
        const at = text.lastIndexOf(' ', latestSettled - start - 1) + 1;
        if (at > 0 && start + at <= latestSettled) settled = { length: start + at, token: index, at };
      }
      depth += opens.length;
    }
    let settledCount = 0;
    let mustSplit = false;
    const append = (inline: Inline): void => {
      const { children, isLink } = open.at(-1) as (typeof open)[0];
      const last = children.at(-1);
      if (typeof inline !== 'string') children.push(inline);
      else if (inline === '') return;
      else if (typeof last === 'string' && !mustSplit)
        children[children.length - 1] = last + (isLink ? visible(inline) : inline);
      else children.push(isLink ? visible(inline) : inline);
      mustSplit = false;
    };
    for (const [index, { text, closes, opens, element }] of this.#tokens.entries()) {
      for (let count = closes; count > 0 && open.length > 1; count -= 1) open.pop();
      if (index === settled.token) {
        append(text.slice(0, settled.at));
        settledCount = root.length;
        mustSplit = true;
        append(text.slice(settled.at));
      } else {
        append(element ?? text);
      }
      for (const opening of opens) {
        const { children, isLink } = open.at(-1) as (typeof open)[0];
        if (open.length > MAX_DEPTH) {
          open.push({ children, isLink });
          continue;
        }
        const inner: Inline[] = [];
        children.push({ ...opening, children: inner });
        mustSplit = false;
        open.push({ children: inner, isLink: isLink || opening.tag === 'a' });
      }
    }
    return { inlines: root, settledLength: settled.length, settledCount };
  }
}

function isPair(opener: Delimiter, closer: Delimiter): boolean {
  if (opener.mark !== closer.mark || !opener.canOpen || opener.count === 0) return false;
  if (closer.mark === '~') return opener.count === closer.count;
  const isBoth = opener.canClose || closer.canOpen;
  return !isBoth || (opener.length + closer.length) % 3 !== 0 || (opener.length % 3 === 0 && closer.length % 3 === 0);
}

function use(delimiter: Delimiter, used: number): void {
  delimiter.count -= used;
  delimiter.token.text = delimiter.mark.startsWith('<') ? '' : delimiter.mark.repeat(delimiter.count);
}

function tagOf(mark: string, used: number): InlineElement['tag'] {
  if (mark === '~') return 'del';
  if (mark.startsWith('<')) return mark.slice(1) as InlineElement['tag'];
  return used === 2 ? 'strong' : 'em';
}

/** The text in the order it is written. */
function visible(text: string): string {
  return text.replaceAll(DISGUISE, '');
}

export function normalized(label: string): string {
  return label.trim().replaceAll(/\s+/g, ' ').toLowerCase();
}

/** A text without backslash escapes and entities, as in an address. */
export function unescaped(text: string): string {
  return text
    .replaceAll(/\\([!-/:-@[-`{-~])/g, '$1')
    .replaceAll(
      /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi,
      (...found: string[]) => characterOf(found) ?? (found[0] as string),
    );
}

function characterOf([, decimal, hexadecimal, name = '']: readonly (string | undefined)[]): string | undefined {
  if (decimal === undefined && hexadecimal === undefined) return ENTITIES.get(name);
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
  const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : '\ufffd';
}
