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
const decoder = new TextDecoder();

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

/** Maximum bytes of the outer levels of a JSON text: more take a parser 20 ms. */
const MAX_OUTLINE_BYTES = 131_072;

/**
 * The outer levels of a JSON text that is read in parts and never held; what the objects and lists below them contain
 * is left out, and only its strings and brackets are checked.
 */
export class JsonOutline {
  readonly #levels: number;
  #shown = new Uint8Array(1_024);
  /** The opening brackets of the current levels. */
  readonly #open = new Uint8Array(MAX_JSON_DEPTH + 1);
  #length = 0;
  #depth = 0;
  #isString = false;
  #isEscaped = false;
  #isBroken = false;

  constructor(levels: number) {
    this.#levels = levels;
  }

  /** Reads the next part. */
  push(bytes: Uint8Array): void {
    // Faster than fields.
    let [depth, isString, isEscaped] = [this.#depth, this.#isString, this.#isEscaped];
    const [open, levels] = [this.#open, this.#levels];
    for (const byte of bytes) {
      let isShown = depth <= levels;
      if (isString) {
        isString = isEscaped || byte !== QUOTE;
        isEscaped = byte === BACKSLASH && !isEscaped;
      } else if (byte === QUOTE) isString = true;
      else if (byte === 0x5b || byte === 0x7b) {
        depth += 1;
        this.#isBroken ||= depth > MAX_JSON_DEPTH;
        open[depth] = byte;
      } else if (byte === 0x5d || byte === 0x7d) {
        this.#isBroken ||= open[depth] !== byte - 2;
        depth -= 1;
        isShown = depth <= levels;
      } else if (isBlank(byte)) isShown &&= !isBlank(this.#shown[this.#length - 1]);
      if (isShown) this.#show(byte);
      if (this.#isBroken) return;
    }
    [this.#depth, this.#isString, this.#isEscaped] = [depth, isString, isEscaped];
  }

  #show(byte: number): void {
    this.#isBroken ||= this.#length === MAX_OUTLINE_BYTES;
    if (this.#length === this.#shown.length) {
      const short = this.#shown;
      this.#shown = new Uint8Array(2 * short.length);
      this.#shown.set(short);
    }
    this.#shown[this.#length] = byte;
    this.#length += 1;
  }

  /** The value; `undefined` if the text is not JSON, is nested too deeply, or its outer levels are too long. */
  value(): unknown {
    return this.#isBroken ? undefined : parsedJson(decoder.decode(this.#shown.subarray(0, this.#length)));
  }
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
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
