import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type CSSToken, tokenizer } from '@csstools/css-tokenizer';
import type { CheckedStyle, StyleChecker } from '../../ports/style-checker.js';
import { BrandRewriter } from './brand-rewriter.js';
import { ThemeRewriter } from './theme-rewriter.js';

/** Maximum characters of a theme that are parsed, without embedded files. The tokenizer handles a string of this length in one turn. */
const MAX_THEME = 131_072;
/** Maximum characters of a brand, which is parsed in one turn. */
const MAX_BRAND = 65_536;
/** Characters parsed before yielding to the event loop. */
const TURN = 4_096;
/** Matches the start of an embedded base64 file, and its end. */
const EMBEDDED = /data:[\w.+/-]{0,64}(?:;[\w.=-]{1,64}){0,4};base64,/g;
const NOT_BASE64 = /[^A-Za-z0-9+/=]/g;
/** Shorter files are not worth replacing. */
const MIN_LIFTED = 1_024;

/** Checks CSS with a tokenizer that parses it as browsers do (CSS Syntax Level 3). */
export class CssChecker implements StyleChecker {
  readonly #origins: ReadonlySet<string>;

  /** Takes the origins whose addresses are kept in themes, besides relative ones. */
  constructor(origins: ReadonlySet<string>) {
    this.#origins = origins;
  }

  async brand(css: string): Promise<CheckedStyle> {
    if (css.length > MAX_BRAND) return { css: '', leftOut: [`all of it: more than ${String(MAX_BRAND)} characters`] };
    const tokens: CSSToken[] = [];
    await tokensInTurns(css, (token) => tokens.push(token) > 0);
    const brand = new BrandRewriter(tokens);
    return { css: brand.rewrite(), leftOut: brand.leftOut };
  }

  async theme(css: string): Promise<CheckedStyle | undefined> {
    const { text, files, names } = lifted(css);
    if (text.length > MAX_THEME) return undefined;
    const theme = new ThemeRewriter(this.#origins);
    if (!(await tokensInTurns(text, (token) => theme.push(token)))) return undefined;
    const checked = theme.end().replaceAll(names, (name, index: string) => files[Number(index)] ?? name);
    return { css: checked, leftOut: theme.leftOut };
  }
}

/** Passes on each token, and yields to the event loop regularly; false if the receiver stopped early. */
async function tokensInTurns(css: string, take: (token: CSSToken) => boolean): Promise<boolean> {
  const { nextToken, endOfFile } = tokenizer({ css });
  let turn = TURN;
  while (!endOfFile()) {
    const token = nextToken();
    if (!take(token)) return false;
    if (token[3] < turn) continue;
    turn = token[3] + TURN;
    await nextTurn();
  }
  return true;
}

/** A style sheet whose embedded files are replaced with names: they are most of its length and contain no CSS. */
function lifted(css: string): { readonly text: string; readonly files: readonly string[]; readonly names: RegExp } {
  const files: string[] = [];
  // A text cannot contain a digest of itself, so it has none of these names. Short, because they count as its length.
  const folder = `data:f${createHash('sha256').update(css).digest('base64url').slice(0, 12)}/`;
  let text = '';
  let copied = 0;
  for (const { index, 0: start } of css.matchAll(EMBEDDED)) {
    if (index < copied) continue;
    NOT_BASE64.lastIndex = index + start.length;
    const end = NOT_BASE64.exec(css)?.index ?? css.length;
    if (end - index < MIN_LIFTED) continue;
    text += `${css.slice(copied, index)}${folder}${String(files.push(css.slice(index, end)) - 1)},`;
    copied = end;
  }
  return { text: text + css.slice(copied), files, names: new RegExp(`${folder}(\\d{1,6}),`, 'g') };
}
