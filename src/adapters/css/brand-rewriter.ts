import { type CSSToken, TokenType } from '@csstools/css-tokenizer';
import { BRACKETS, cssText, LOADING, MAX_DEPTH } from './css-text.js';

const MAX_SELECTORS = 100;
/** Functions that load something, or read the page's markup. */
const REFUSED_FUNCTIONS: ReadonlySet<string> = new Set([...LOADING, 'attr']);
/** Tokens that the value of a custom property must not contain. */
const REFUSED_TOKENS: ReadonlySet<TokenType> = new Set([
  TokenType.URL,
  TokenType.BadURL,
  TokenType.BadString,
  TokenType.CDO,
  TokenType.CDC,
  TokenType.AtKeyword,
  TokenType.OpenCurly,
  TokenType.CloseCurly,
  TokenType.EOF,
]);
const CLOSERS: ReadonlySet<string> = new Set(BRACKETS.values());

/** Classes and attributes by which a site selects a colour scheme at the root of the page; no other parts of the page are matched. */
const SCHEME = String.raw`(?:\.(?:dark|light)|\[data-(?:theme|mode|color-scheme|bs-theme)=(?:"[\w-]+"|[\w-]+)\])`;
const ROOT = new RegExp(String.raw`^(?:(?::root|html|:where\(:root\))+${SCHEME}*|${SCHEME}+)$`, 'i');
const SHADOW_HOST = /^:host$/i;
/** Matches a media query that only depends on the visitor's preferences. */
const PREFERENCE = /^(?:(?:(?:only|not) )?(?:all|screen) and )?(?:not ?)?\(\)(?: ?(?:and|or) ?(?:not ?)?\(\))*$/i;
const FEATURE = /\( ?prefers-[a-z-]+ ?(?:: ?[a-z-]+ ?)?\)/gi;

/**
 * Parses a brand (CSS Syntax Level 3) and writes it again: `--*` declarations of `:root`, directly or in `@media` about
 * a visitor's preferences. Only understood parts are written, so another parser cannot find anything else in the
 * result.
 */
export class BrandRewriter {
  readonly #tokens: readonly CSSToken[];
  /** Numbers of removed parts. */
  readonly #leftOut = { rules: 0, properties: 0, values: 0, atRules: 0 };
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly CSSToken[]) {
    this.#tokens = tokens;
  }

  /** Rewrites the whole text. */
  rewrite(): string {
    return this.#rules();
  }

  /** A summary of the removed parts, with their number. */
  get leftOut(): readonly string[] {
    const { rules, properties, values, atRules } = this.#leftOut;
    const kinds: [number, string][] = [
      [rules, 'rules for elements other than :root'],
      [properties, 'declarations other than custom properties'],
      [values, 'values with an address, a block or an error'],
      [atRules, 'at-rules'],
    ];
    return kinds.filter(([count]) => count > 0).map(([count, kind]) => `${String(count)} ${kind}`);
  }

  /** Rules up to the end of their block, or of the text. */
  #rules(): string {
    const texts: string[] = [];
    for (;;) {
      const [type] = this.#token;
      if (type === TokenType.EOF || (type === TokenType.CloseCurly && this.#depth > 0)) return joined(texts, '\n');
      if (isBlank(type) || type === TokenType.CDO || type === TokenType.CDC) this.#at += 1;
      else if (type === TokenType.AtKeyword) texts.push(this.#atRule(() => this.#rules()));
      else texts.push(this.#rule());
    }
  }

  #rule(): string {
    const head = this.#head();
    if (this.#token[0] !== TokenType.OpenCurly) {
      if (this.#token[0] === TokenType.CloseCurly && this.#depth === 0) this.#at += 1;
      this.#leftOut.rules += 1;
      return '';
    }
    const selectors = rootSelectors(head);
    if (selectors === undefined) {
      this.#leftOut.rules += 1;
      this.#skip();
      return '';
    }
    const declarations = this.#block(() => this.#declarations());
    return selectors === '' ? '' : `${selectors}{${declarations}}`;
  }

  /** An at-rule, which is kept if it is a media query about preferences. */
  #atRule(content: () => string): string {
    const [, , , , name] = this.#token as CSSToken & { 0: TokenType.AtKeyword };
    this.#at += 1;
    const query = this.#head(true).trim();
    const isBlock = this.#token[0] === TokenType.OpenCurly;
    if (name.value.toLowerCase() !== 'media' || !isBlock || !isPreference(query)) {
      if (name.value.toLowerCase() !== 'charset') this.#leftOut.atRules += 1;
      if (isBlock) this.#skip();
      else if (this.#token[0] === TokenType.Semicolon) this.#at += 1;
      return '';
    }
    const text = this.#block(content);
    return text === '' ? '' : `@media ${query}{${text}}`;
  }

  /** Declarations up to the end of their block, or of the text. */
  #declarations(): string {
    const texts: string[] = [];
    for (;;) {
      const token = this.#token;
      const [type] = token;
      if (type === TokenType.EOF || type === TokenType.CloseCurly) return joined(texts, ';');
      if (isBlank(type) || type === TokenType.Semicolon) this.#at += 1;
      else if (type === TokenType.AtKeyword) texts.push(this.#atRule(() => this.#declarations()));
      else texts.push(this.#declaration(token));
    }
  }

  #declaration(token: CSSToken): string {
    const isProperty = token[0] === TokenType.Ident && token[4].value.startsWith('--') && token[4].value !== '--';
    let colon = this.#at + 1;
    while (isBlank(this.#tokens[colon]?.[0])) colon += 1;
    if (!isProperty || this.#tokens[colon]?.[0] !== TokenType.Colon) {
      this.#leftOut.properties += 1;
      this.#other();
      return '';
    }
    this.#at = colon + 1;
    const start = this.#at;
    this.#to((type) => type === TokenType.Semicolon);
    const value = writtenValue(this.#tokens.slice(start, this.#at));
    if (value === undefined) {
      this.#leftOut.values += 1;
      return '';
    }
    return `${cssText(token)}:${value}`;
  }

  /** Skips a declaration of another property, or a nested rule. */
  #other(): void {
    this.#to((type) => type === TokenType.Semicolon || type === TokenType.OpenCurly);
    if (this.#token[0] === TokenType.OpenCurly) this.#skip();
  }

  /** The tokens before a block, or before the semicolon of an at-rule. */
  #head(endsAtSemicolon = false): string {
    const start = this.#at;
    this.#to((type) => type === TokenType.OpenCurly || (endsAtSemicolon && type === TokenType.Semicolon));
    return written(this.#tokens.slice(start, this.#at));
  }

  /** Skips to a matching token of this block, otherwise to the block's end. */
  #to(isIt: (type: TokenType) => boolean): void {
    for (;;) {
      const [type] = this.#token;
      if (type === TokenType.EOF || type === TokenType.CloseCurly || isIt(type)) return;
      this.#skip();
    }
  }

  /** Skips a token, or a block with its content. */
  #skip(): void {
    const open: string[] = [];
    do {
      const [type, spelling] = this.#token;
      const closer = BRACKETS.get(type);
      if (closer !== undefined) open.push(closer);
      else if (spelling === open.at(-1)) open.pop();
      if (type === TokenType.EOF) return;
      this.#at += 1;
    } while (open.length > 0);
  }

  /** The content of a block, which is entered and left. */
  #block(content: () => string): string {
    if (this.#depth >= MAX_DEPTH) {
      this.#skip();
      return '';
    }
    this.#at += 1;
    this.#depth += 1;
    const text = content();
    this.#depth -= 1;
    if (this.#token[0] === TokenType.CloseCurly) this.#at += 1;
    return text;
  }

  get #token(): CSSToken {
    return this.#tokens[this.#at] ?? END;
  }
}

const END: CSSToken = [TokenType.EOF, '', -1, -1, undefined];

function isBlank(type: TokenType | undefined): boolean {
  return type === TokenType.Whitespace || type === TokenType.Comment;
}

function joined(texts: readonly string[], separator: string): string {
  return texts.filter((text) => text !== '').join(separator);
}

function written(tokens: readonly CSSToken[]): string {
  return tokens
    .map((token) => (isBlank(token[0]) ? ' ' : cssText(token)))
    .join('')
    .replaceAll(/ {2,}/g, ' ');
}

/** The selectors of a list for the root of the page, as written in the result; `undefined` if one is for anything else. */
function rootSelectors(head: string): string | undefined {
  const selectors = head.split(',').map((selector) => selector.trim());
  // A brand styles the document, which has no shadow host.
  if (selectors.length > MAX_SELECTORS) return undefined;
  const own = selectors.filter((selector) => !SHADOW_HOST.test(selector));
  if (!own.every((selector) => ROOT.test(selector))) return undefined;
  return own.map((selector) => (/^[.[]/.test(selector) ? `:where(:root)${selector}` : selector)).join(',');
}

function isPreference(query: string): boolean {
  if (query.length > 1_000) return false;
  return query.split(',').every((one) => PREFERENCE.test(one.trim().replaceAll(FEATURE, '()')));
}

/** The text of a value; `undefined` if it contains anything that custom properties do not need. */
function writtenValue(tokens: readonly CSSToken[]): string | undefined {
  const open: string[] = [];
  for (const token of tokens) {
    const [type, spelling] = token;
    if (REFUSED_TOKENS.has(type) || open.length > MAX_DEPTH) return undefined;
    if (token[0] === TokenType.Function && REFUSED_FUNCTIONS.has(token[4].value.toLowerCase())) return undefined;
    // Invalid in every parser, or the end of a style element.
    if (type === TokenType.Delim && !/^[!#-;=-[\]-~]$/.test(spelling)) return undefined;
    const closer = BRACKETS.get(type);
    if (closer !== undefined) open.push(closer);
    else if (CLOSERS.has(spelling) && open.pop() !== spelling) return undefined;
  }
  return open.length > 0 ? undefined : written(tokens).trim();
}
