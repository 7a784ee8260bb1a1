import { type CSSToken, TokenType } from '@csstools/css-tokenizer';
import { BRACKETS, cssText, INVALID, LOADING, MAX_DEPTH, quoted } from './css-text.js';

/** Empty as an image and as a font: the rest of the rule still works. */
const EMPTY_ADDRESS = 'data:,';
const EMPTY_IMAGE = `url(${quoted(EMPTY_ADDRESS)})`;
/** Each broken token costs a stack trace in the tokenizer. */
const MAX_BROKEN = 200;

/** Functions that cannot pass an unknown string to one that loads. Addresses must be literal; `var()` could insert any string. */
const LITERAL: ReadonlySet<string> = new Set(
  (
    'url src image type calc min max clamp rgb rgba hsl hsla hwb lab lch oklab oklch color color-mix light-dark ' +
    'linear-gradient radial-gradient conic-gradient repeating-linear-gradient repeating-radial-gradient repeating-conic-gradient'
  ).split(' '),
);
/** Functions whose strings are text for people, or name a font or a format. */
const TEXT: ReadonlySet<string> = new Set(
  'var env attr if counter counters symbols local format tech type lang dir string target-counter target-counters'.split(
    ' ',
  ),
);

/** A placeholder for the page's address: URLs that resolve to another origin are not the page's own. */
const OWN = 'https://own.invalid';
/** Maximum number of refused origins that are named, each with its count. */
const MAX_NAMED = 8;

interface Bracket {
  readonly closes: string;
  /** The name of a function, in lower case; of a plain bracket, that of the loading function around it, or empty. */
  readonly name: string;
}

/**
 * Writes a theme token by token and checks each address, in any rule. Brackets are balanced, so that the text cannot
 * affect what surrounds it.
 */
export class ThemeRewriter {
  readonly #addresses: CssAddresses;
  readonly #parts: string[] = [];
  readonly #open: Bracket[] = [];
  /** The outermost open function that loads: its depth, the start of its text, and whether its address is known. */
  #loading: { readonly depth: number; readonly start: number; isKnown: boolean } | undefined;
  /** The depth of the at-rule that is being removed. */
  #leaving: number | undefined;
  /** True in the head of `@namespace`, whose address is a name and loads nothing. */
  #isName = false;
  #broken = 0;
  #imports = 0;

  /** `origins`: those whose addresses are kept, besides relative ones. */
  constructor(origins: ReadonlySet<string>) {
    this.#addresses = new CssAddresses(origins);
  }

  /** Refused origins and imports, with their counts. */
  get leftOut(): readonly string[] {
    return [...this.#addresses.refused, ...(this.#imports === 0 ? [] : [`@import (${String(this.#imports)})`])];
  }

  /** Takes the next token; false if the text is given up. */
  push(token: CSSToken): boolean {
    const [type] = token;
    if (type === TokenType.BadString || type === TokenType.BadURL) this.#broken += 1;
    const closes = BRACKETS.get(type);
    if (closes !== undefined) this.#opens(token, closes);
    else if (type === TokenType.CloseCurly || type === TokenType.CloseParen || type === TokenType.CloseSquare)
      this.#closes(token[1]);
    else if (type === TokenType.AtKeyword) this.#atRule(token);
    else if (type === TokenType.Semicolon) this.#semicolon();
    else this.#write(this.#judged(token));
    return this.#open.length <= MAX_DEPTH && this.#broken <= MAX_BROKEN;
  }

  /** The text, with every bracket closed. */
  end(): string {
    for (let bracket = this.#open.at(-1); bracket !== undefined; bracket = this.#open.at(-1))
      this.#closes(bracket.closes);
    return this.#parts.join('');
  }

  #opens(token: CSSToken, closes: string): void {
    const name = token[0] === TokenType.Function ? token[4].value.toLowerCase() : '';
    if (token[0] === TokenType.OpenCurly) this.#isName = false;
    if (this.#loading !== undefined && name !== '' && !LITERAL.has(name)) this.#loading.isKnown = false;
    if (this.#loading === undefined && this.#leaving === undefined && LOADING.has(name)) {
      this.#loading = { depth: this.#open.length, start: this.#parts.length, isKnown: true };
    }
    this.#write(cssText(token));
    // No browser reads addresses in plain brackets yet.
    const around = this.#loading === undefined ? '' : (this.#open.at(-1)?.name ?? '');
    this.#open.push({ closes, name: name || around });
  }

  #closes(closer: string): void {
    const bracket = this.#open.at(-1);
    // CSS parsers ignore an unmatched closing bracket.
    if (bracket?.closes !== closer) {
      this.#write(INVALID);
      return;
    }
    this.#open.pop();
    const depth = this.#open.length;
    if (this.#leaving !== undefined) {
      if (depth < this.#leaving) this.#leaving = undefined;
      else {
        if (depth === this.#leaving && closer === '}') this.#leaving = undefined;
        return;
      }
    }
    this.#write(closer);
    if (this.#loading?.depth !== depth) return;
    if (!this.#loading.isKnown) {
      this.#parts.length = this.#loading.start;
      this.#addresses.refuse('a computed address');
      this.#write(EMPTY_IMAGE);
    }
    this.#loading = undefined;
  }

  #atRule(token: CSSToken & { 0: TokenType.AtKeyword }): void {
    const name = token[4].value.toLowerCase();
    if (name === 'import' || name === 'charset') {
      if (name === 'import') this.#imports += 1;
      // Keeps two adjacent names apart.
      this.#write(' ');
      this.#leaving ??= this.#open.length;
    }
    this.#isName = name === 'namespace' && this.#open.length === 0;
    this.#write(cssText(token));
  }

  #semicolon(): void {
    this.#isName = false;
    if (this.#leaving === this.#open.length) this.#leaving = undefined;
    else this.#write(';');
  }

  #judged(token: CSSToken): string {
    const name = this.#open.at(-1)?.name ?? '';
    // Without its string, `url(` would start an unquoted address.
    if (token[0] === TokenType.BadString && name === 'url') return quoted(EMPTY_ADDRESS);
    if (this.#isName || this.#leaving !== undefined) return cssText(token);
    if (token[0] === TokenType.URL) return `url(${quoted(this.#addresses.judge(token[4].value) ?? EMPTY_ADDRESS)})`;
    if (token[0] === TokenType.String && name !== '' && !TEXT.has(name)) {
      return quoted(this.#addresses.judge(token[4].value) ?? EMPTY_ADDRESS);
    }
    // An attribute of the markup, used as an address.
    if (token[0] === TokenType.Ident && (name === 'attr' || name === 'type') && token[4].value.toLowerCase() === 'url')
      return INVALID;
    return cssText(token);
  }

  #write(text: string): void {
    if (this.#leaving === undefined) this.#parts.push(text);
  }
}

/** Decides about each address in a style sheet, and counts refused origins. */
class CssAddresses {
  readonly #allowed: ReadonlySet<string>;
  readonly #refused = new Map<string, number>();

  /** Takes the origins that may be loaded from, besides the page's own. */
  constructor(allowed: ReadonlySet<string>) {
    this.#allowed = allowed;
  }

  /**
   * The address to write: relative and `data:` addresses unchanged, addresses on an allowed origin in full. `undefined`
   * for any other, which is counted.
   */
  judge(address: string): string | undefined {
    const text = trimmed(address);
    if (text.startsWith('#') || /^data:/i.test(text)) return text;
    const isRelative = !/^[a-z][a-z0-9+.-]*:/i.test(text);
    const base = isRelative ? OWN : undefined;
    // Only some URL parsers read a backslash as a slash.
    if (text.includes('\\') || !URL.canParse(text, base)) return this.refuse('an unreadable address');
    const url = new URL(text, base);
    if (isRelative && url.origin === OWN) return text;
    return this.#allowed.has(url.origin) ? url.href : this.refuse(url.origin === 'null' ? url.protocol : url.origin);
  }

  /** Refused origins with their counts, such as `https://cdn.example (2)`. */
  get refused(): readonly string[] {
    return [...this.#refused].map(([origin, times]) => `${origin} (${String(times)})`);
  }

  /** Counts an address of this origin or kind. */
  refuse(origin: string): undefined {
    const name = this.#refused.has(origin) || this.#refused.size < MAX_NAMED ? origin : 'further origins';
    this.#refused.set(name, (this.#refused.get(name) ?? 0) + 1);
  }
}

/** An address without the characters that URL parsers ignore (URL standard, "basic URL parser"). */
function trimmed(address: string): string {
  const text = address.replaceAll(/[\t\n\r]/g, '');
  let [start, end] = [0, text.length];
  while (start < end && text.charCodeAt(start) <= 0x20) start += 1;
  while (end > start && text.charCodeAt(end - 1) <= 0x20) end -= 1;
  return text.slice(start, end);
}
