import { type CSSToken, HashType, TokenType } from '@csstools/css-tokenizer';

/** Functions that accept a string as an address. */
export const LOADING: ReadonlySet<string> = new Set(['url', 'src', 'image', 'image-set', '-webkit-image-set']);

/** Replaces a token that cannot be written: an invalid declaration stays invalid. */
export const INVALID = ' ! ';

/** Deeper brackets are not written. */
export const MAX_DEPTH = 100;

/** The closing bracket of each opening one, and of a function. */
export const BRACKETS: ReadonlyMap<TokenType, string> = new Map([
  [TokenType.OpenCurly, '}'],
  [TokenType.OpenParen, ')'],
  [TokenType.OpenSquare, ']'],
  [TokenType.Function, ')'],
]);

/** Writes one token so that every CSS parser finds exactly this token, however it was spelled. */
export function cssText(token: CSSToken): string {
  const [type, spelling] = token;
  switch (type) {
    case TokenType.String:
      return quoted(token[4].value);
    case TokenType.URL:
      return `url(${quoted(token[4].value)})`;
    case TokenType.Ident:
      return isPlain(spelling) ? spelling : identifier(token[4].value);
    case TokenType.Function:
      return isPlain(spelling) ? spelling : `${identifier(token[4].value)}(`;
    case TokenType.AtKeyword:
      return isPlain(spelling) ? spelling : `@${identifier(token[4].value)}`;
    case TokenType.Hash:
      return isPlain(spelling)
        ? spelling
        : `#${token[4].type === HashType.ID ? identifier(token[4].value) : rest(token[4].value)}`;
    case TokenType.Dimension:
      return isPlain(spelling) ? spelling : numberIn(spelling) + unit(token[4].unit);
    case TokenType.Delim:
      // Browsers differ in which characters belong to a name; a backslash would escape the next character.
      return /^[!-[\]-~]$/.test(spelling) ? spelling : INVALID;
    case TokenType.BadString:
    case TokenType.BadURL:
      return INVALID;
    case TokenType.Comment:
      // Separates two names.
      return '/**/';
    case TokenType.CDO:
    case TokenType.CDC:
      return ' ';
    case TokenType.EOF:
      return '';
    case TokenType.Whitespace:
    case TokenType.Number:
    case TokenType.Percentage:
    case TokenType.Colon:
    case TokenType.Semicolon:
    case TokenType.Comma:
    case TokenType.OpenCurly:
    case TokenType.CloseCurly:
    case TokenType.OpenParen:
    case TokenType.CloseParen:
    case TokenType.OpenSquare:
    case TokenType.CloseSquare:
    case TokenType.UnicodeRange:
      return spelling;
  }
}

/** A string in double quotes that cannot end an HTML element either. */
export function quoted(value: string): string {
  const text = value
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll('<', String.raw`\3c `)
    .replaceAll('\n', String.raw`\a `);
  return `"${text.replaceAll(CONTROL, String.raw`\fffd `)}"`;
}

// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/g;

function isPlain(spelling: string): boolean {
  return !spelling.includes('\\') && !spelling.includes('\0');
}

/**
 * A name as CSSOM serializes it ("serialize an identifier"). Non-ASCII characters are escaped too, since browsers
 * differ in which ones a name may contain.
 */
function identifier(name: string): string {
  const text = name.replaceAll(/[^\w-]/gu, escaped);
  // A leading hyphen is escaped too: `--` could begin or end an HTML comment.
  return text.replace(/^-?\d|^-/, (start) => escaped(start[0] ?? '') + start.slice(1));
}

/** The number of a dimension, as spelled. */
function numberIn(spelling: string): string {
  return /^[+-]?(?:\d+\.\d+|\.\d+|\d+)(?:e[+-]?\d+)?/i.exec(spelling)?.[0] ?? '';
}

/** The first letter is escaped: `e3` after a number would be its exponent. */
function unit(name: string): string {
  const [first = ''] = name;
  return escaped(first) + rest(name.slice(first.length));
}

/** The characters after the first letter of a name. */
function rest(name: string): string {
  return identifier(`x${name}`).slice(1);
}

function escaped(character: string): string {
  return `\\${(character.codePointAt(0) ?? 0xfffd).toString(16)} `;
}
