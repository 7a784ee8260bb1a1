/** Deeper values are rejected: common parsers fail at about a thousand levels, or spend too much time on them. */
export const MAX_JSON_DEPTH = 1_000;
/**
 * Maximum number of members, list entries, objects and lists in a text that others send: a parser takes up to 40 ms for
 * them, and holds 60 bytes for each.
 */
export const MAX_JSON_VALUES = 20_000;

/** The reason why a text was not read. */
export class JsonTextError extends Error {
  /** Always `JsonTextError`. */
  override readonly name: string = 'JsonTextError';
  readonly reason: JsonFault;
  /** The complete members of the outermost object, as the text of an object. */
  readonly head: string;

  constructor(reason: JsonFault, head: string = '{}') {
    super(REASONS[reason]);
    this.reason = reason;
    this.head = head;
  }
}

type JsonFault = 'syntax' | 'depth' | 'values' | 'numbers';

/** Each as the end of a sentence about the text. */
const REASONS: Readonly<Record<JsonFault, string>> = {
  syntax: 'is not JSON in UTF-8',
  depth: `is nested deeper than ${String(MAX_JSON_DEPTH)} levels`,
  values: `has more than ${String(MAX_JSON_VALUES)} values`,
  numbers: 'has long numbers beside texts that begin with control characters',
};

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
/** Longer integers may lose digits when they are parsed. */
const MAX_DIGITS = 15;
/** `u` and `/`: the other escapes are those of characters that need one, and have one spelling. */
const U = 0x75;
const SLASH = 0x2f;
/** Finds the end of a long number, ten times as fast as a loop. */
const OF_NUMBER = /[-+.\deE]*/y;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** Start and end of each number that may change when it is parsed and written again. */
type Numbers = number[];

/**
 * Counts levels and values of a text in one pass, before any value is created, and lists its numbers that may change.
 *
 * @returns the number of names; -1 if the text has blanks, an escape that may be written differently, or a name that may move when it is parsed.
 * @throws JsonTextError `depth` or `values`.
 */
export function scanJson(text: string, maxValues: number, numbers?: Numbers): number {
  let names = 0;
  let isPlain = true;
  let depth = 0;
  let values = 0;
  /** The end of the last complete member of the outermost object. */
  let complete = 0;
  let escape = -1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const first = text.charCodeAt(at + 1);
      if (escape < at) escape = text.indexOf('\\', at);
      if (escape < 0) escape = text.length;
      at = text.indexOf('"', at + 1);
      // A loop, since there may be many: a search for each costs more.
      if (at < 0 || escape < at) {
        for (at = escape; at < text.length && text.charCodeAt(at) !== QUOTE; at += 1) {
          if (text.charCodeAt(at) !== BACKSLASH) continue;
          at += 1;
          const escaped = text.charCodeAt(at);
          if (escaped === U || escaped === SLASH) isPlain = false;
        }
      }
      // Names of digits are sorted.
      if (isOfNumber(first) && text.charCodeAt(at + 1) === COLON) isPlain = false;
    } else if (code === COMMA) {
      values += 1;
      if (depth === 1) complete = at;
    } else if (code <= 0x39 && numbers !== undefined && isOfNumber(code)) at = endOfNumber(text, at, numbers);
    else if (code === COLON) names += 1;
    else if (code <= 0x20) isPlain = false;
    else {
      // `[` and `{`, `]` and `}` differ in one bit.
      const bracket = code & ~0x20;
      if (bracket === 0x5b) {
        depth += 1;
        values += 1;
      } else if (bracket === 0x5d) depth -= 1;
      else continue;
    }
    if (depth <= MAX_JSON_DEPTH && values <= maxValues) continue;
    throw new JsonTextError(depth > MAX_JSON_DEPTH ? 'depth' : 'values', `${text.slice(0, complete)}}`);
  }
  return isPlain ? names : -1;
}

/** True for digits and signs: the first character of every number. */
function isOfNumber(code: number): boolean {
  return (code >= ZERO && code <= 0x39) || code === MINUS;
}

/** The last character of a number. */
function endOfNumber(text: string, start: number, numbers: Numbers): number {
  let end = start + 1;
  let isPlain = text.charCodeAt(start) !== MINUS || text.charCodeAt(end) !== ZERO;
  for (;;) {
    const code = text.charCodeAt(end);
    // A point, a plus sign, or the letter of an exponent.
    const isOdd = code === 0x2e || code === 0x2b || code === MINUS || (code | 0x20) === 0x65;
    if (!isOdd && !isOfNumber(code)) break;
    if (isOdd) isPlain = false;
    end += 1;
    if (end - start <= MAX_DIGITS) continue;
    OF_NUMBER.lastIndex = end;
    if (OF_NUMBER.test(text)) end = OF_NUMBER.lastIndex;
    break;
  }
  if (!isPlain || end - start > MAX_DIGITS) numbers.push(start, end);
  return end - 1;
}

/**
 * A JSON value and the bytes it is sent as: those it was read from if `JSON.stringify` writes the same, otherwise
 * written again. So every parser of the bytes reads the value that was checked: each name once, and none in an escape.
 *
 * Numbers keep their text. Until it is written, each number that could change is a string that begins with a mark.
 */
export class JsonDocument {
  readonly value: unknown;
  readonly #read: Uint8Array;
  readonly #text: string;
  /** A control character with which no string of the text begins; empty if no number could change. */
  readonly #mark: string;
  /** The number of names in the text; -1 if it may be written differently. */
  readonly #names: number;

  /** @throws JsonTextError */
  constructor(bytes: Uint8Array) {
    const numbers: Numbers = [];
    this.#read = bytes;
    this.#text = decoded(bytes);
    this.#names = scanJson(this.#text, MAX_JSON_VALUES, numbers);
    this.#mark = numbers.length === 0 ? '' : markFor(this.#text);
    this.value = parsed(numbers.length === 0 ? this.#text : withMarks(this.#text, numbers, this.#mark));
  }

  /** The number of bytes it was read from. */
  get length(): number {
    return this.#read.length;
  }

  /** The bytes to send of a value that was not edited: those it was read from, unless it is written differently. */
  bytes(): Uint8Array {
    // Then it is written as it was read, which is cheaper to know than to compare. A repeated name is counted once.
    if (this.#names === namesIn(this.value)) return this.#read;
    const written = this.#written();
    return written === this.#text ? this.#read : encoder.encode(written);
  }

  /** The bytes to send of a value that was edited. */
  edited(): Uint8Array {
    return encoder.encode(this.#written());
  }

  /** The text of a number; `undefined` for any other value. */
  numberText(value: unknown): string | undefined {
    if (typeof value === 'number') return String(value);
    return this.#isMarked(value) ? value.slice(1) : undefined;
  }

  /** The value if it is a string, otherwise `undefined`. */
  stringOf(value: unknown): string | undefined {
    return typeof value === 'string' && !this.#isMarked(value) ? value : undefined;
  }

  #isMarked(value: unknown): value is string {
    return this.#mark !== '' && typeof value === 'string' && value.startsWith(this.#mark);
  }

  #written(): string {
    const text = JSON.stringify(this.value);
    if (this.#mark === '') return text;
    return withoutMarks(text, this.#mark);
  }
}

/** The number of names in a value. */
function namesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let names = 0;
  if (Array.isArray(value)) for (const one of value) names += namesIn(one);
  // Cheaper than a list of the names.
  // oxlint-disable-next-line guard-for-in -- a further name only means that the texts are compared
  else for (const name in value) names += 1 + namesIn((value as Readonly<Record<string, unknown>>)[name]);
  return names;
}

/** Marks whose escapes have one spelling. */
const MARKS = ['\u0001', '\u0002', '\u0003', '\u0004', '\u0005', '\u0006', '\u0007', '\u0010', '\u0011', '\u0012'];

function markFor(text: string): string {
  const mark = MARKS.find((one) => !text.includes(`"${escaped(one)}`));
  if (mark === undefined) throw new JsonTextError('numbers');
  return mark;
}

function escaped(mark: string): string {
  return String.raw`\u00${mark.charCodeAt(0).toString(16).padStart(2, '0')}`;
}

function withMarks(text: string, numbers: Numbers, mark: string): string {
  const before = `"${escaped(mark)}`;
  const pieces: string[] = [];
  let from = 0;
  for (let index = 0; index < numbers.length; index += 2) {
    const [start = 0, end = 0] = [numbers[index], numbers[index + 1]];
    const number = text.slice(start, end);
    if (!NUMBER.test(number)) throw new JsonTextError('syntax');
    pieces.push(text.slice(from, start), before, number, '"');
    from = end;
  }
  pieces.push(text.slice(from));
  return pieces.join('');
}

function withoutMarks(text: string, mark: string): string {
  const before = `"${escaped(mark)}`;
  const pieces: string[] = [];
  let from = 0;
  for (let at = text.indexOf(before); at >= 0; at = text.indexOf(before, at + 1)) {
    // The quote with which a string begins is never escaped.
    if (text.charCodeAt(at - 1) === BACKSLASH) continue;
    const start = at + before.length;
    const end = text.indexOf('"', start);
    pieces.push(text.slice(from, at), text.slice(start, end));
    from = end + 1;
  }
  pieces.push(text.slice(from));
  return pieces.join('');
}

function decoded(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new JsonTextError('syntax');
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new JsonTextError('syntax');
  }
}

/**
 * Checks that bytes are one JSON text within the limits, and creates nothing that lasts.
 *
 * @throws JsonTextError
 */
export function checkJson(bytes: Uint8Array): void {
  const text = decoded(bytes);
  scanJson(text, MAX_JSON_VALUES);
  parsed(text);
}
