import { MAX_JSON_DEPTH } from './json-cursor.js';

/** The value of a JSON text; `undefined` if there is no text, it is not JSON, is nested too deeply, or holds too many values. */
export function parsedJson(text: string | undefined, maxValues: number = Infinity): unknown {
  try {
    return isBounded(text ?? '', maxValues) ? JSON.parse(text ?? '') : undefined;
  } catch {
    return undefined;
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;

/** Counts brackets and commas outside of strings, before any value is created. */
function isBounded(text: string, maxValues: number): boolean {
  if (text.length <= MAX_JSON_DEPTH && text.length <= maxValues) return true;
  let depth = 0;
  let values = 0;
  let isString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (isString) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) isString = false;
    } else if (code === QUOTE) isString = true;
    else if (code === COMMA) values += 1;
    else {
      // `[` and `{`, `]` and `}` differ in one bit.
      const bracket = code & ~0x20;
      if (bracket === 0x5b) {
        depth += 1;
        values += 1;
        if (depth > MAX_JSON_DEPTH) return false;
      } else if (bracket === 0x5d) depth -= 1;
    }
    if (values > maxValues) return false;
  }
  return true;
}

/** True for a JSON object, false for a list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The claims of a JWT, whose signature is not verified; `undefined` if the text is not a JWT (RFC 7519 §7.2). */
export function jwtClaims(token: string): Readonly<Record<string, unknown>> | undefined {
  const payload = token.split('.')[1];
  if (payload === undefined) return undefined;
  const claims = parsedJson(fromBase64Url(payload));
  return isObject(claims) ? claims : undefined;
}

function fromBase64Url(text: string): string | undefined {
  try {
    const bytes = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    return new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));
  } catch {
    return undefined;
  }
}

/** A part of a cache key, delimited by its length or its brackets: two different lists of parts never result in the same text. */
export function delimited(part: unknown): string {
  if (typeof part === 'string') return `${part.length.toString()} ${part}`;
  return part === null ? 'null' : JSON.stringify(part);
}
