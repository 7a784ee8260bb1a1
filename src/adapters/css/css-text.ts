import { type CSSToken, HashType, TokenType } from '@csstools/css-tokenizer';

/** Functions that take a string for an address. */
export const LOADING: ReadonlySet<string> = new Set(['url', 'src', 'image', 'image-set', '-webkit-image-set']);

/** Stands where a token cannot be written: what is invalid there stays invalid. */
export const INVALID = ' ! ';

/** Writes one token so that every reader of CSS finds this token and no other, whatever its spelling was. */
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
      // Browsers differ in what they count as part of a name; a backslash would escape what follows.
      return /^[!-[\]-~]$/.test(spelling) ? spelling : INVALID;
    case TokenType.BadString:
    case TokenType.BadURL:
      return INVALID;
    case TokenType.Comment:
      // Keeps two names apart.
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

/** A string in double quotes that ends no HTML element either. */
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

/** A name as CSSOM serializes it ("serialize an identifier"); what is not ASCII is escaped too, since browsers differ in which of it a name may hold. */
function identifier(name: string): string {
  const text = name.replaceAll(/[^\w-]/gu, escaped);
  // A leading hyphen is escaped too: `--` could begin or end a comment of HTML.
  return text.replace(/^-?\d|^-/, (start) => escaped(start[0] ?? '') + start.slice(1));
}

/** The number of a dimension, as it is spelled. */
function numberIn(spelling: string): string {
  return /^[+-]?(?:\d+\.\d+|\.\d+|\d+)(?:e[+-]?\d+)?/i.exec(spelling)?.[0] ?? '';
}

/** Its first letter is escaped, since `e3` after a number would be its exponent. */
function unit(name: string): string {
  const [first = ''] = name;
  return escaped(first) + rest(name.slice(first.length));
}

/** Characters after the first letter of a name. */
function rest(name: string): string {
  return identifier(`x${name}`).slice(1);
}

function escaped(character: string): string {
  return `\\${(character.codePointAt(0) ?? 0xfffd).toString(16)} `;
}
