/** Deeper values are rejected: common parsers fail at about a thousand levels, or spend too much time on them. */
export const MAX_JSON_DEPTH = 1_000;

/** The reason a cursor stopped: the bytes are not one JSON text in UTF-8, or are nested deeper than `MAX_JSON_DEPTH`. */
export class JsonTextError extends Error {
  /** Always `JsonTextError`. */
  override readonly name: string = 'JsonTextError';
  /** The fault of the text. */
  readonly reason: 'syntax' | 'depth';

  constructor(reason: 'syntax' | 'depth') {
    super(reason === 'syntax' ? 'not JSON in UTF-8' : 'nested too deeply');
    this.reason = reason;
  }
}

/** A range of bytes: the first, and the one after the last. */
export interface JsonSpan {
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;
const ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const ARRAY_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;

/** A string this long is probably a file in base64, which is scanned four bytes at a time. */
const LONG_RUN = 64;

/**
 * Parses a JSON text (RFC 8259) from its bytes, in one pass, without recursion and without creating values. Everything
 * before its position is valid JSON in valid UTF-8 (RFC 3629), so every parser sees the same members.
 *
 * @throws JsonTextError from every method.
 */
export class JsonCursor {
  readonly #bytes: Uint8Array;
  #words: Int32Array | undefined;
  #position = 0;
  #depth = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** The offset of the next byte. */
  get position(): number {
    return this.#position;
  }

  /** The first byte of the next value, after skipping blanks. */
  peek(): number | undefined {
    this.#skipBlanks();
    return this.#bytes[this.#position];
  }

  /** True if the next value is an object, which is then entered. */
  enterObject(): boolean {
    if (this.peek() !== OBJECT) return false;
    this.#position += 1;
    this.#depth += 1;
    return true;
  }

  /** The name of the next member, after skipping its colon; `undefined` at the end of the object, which is then left. */
  nextName(isFirst: boolean): JsonSpan | undefined {
    const byte = this.peek();
    if (byte === OBJECT_END) {
      this.#position += 1;
      this.#depth -= 1;
      return undefined;
    }
    if (!isFirst) this.#expect(COMMA);
    return this.#name();
  }

  /** Skips one value of any kind. */
  skipValue(): void {
    const byte = this.peek();
    if (byte !== OBJECT && byte !== ARRAY) {
      this.#skipScalar(byte);
      return;
    }
    const kinds: number[] = [];
    do {
      this.#skipStart(kinds);
      this.#skipEnds(kinds);
    } while (kinds.length > 0);
  }

  /** Skips the blanks after the last value, and throws if anything else follows. */
  end(): void {
    if (this.peek() !== undefined) throw new JsonTextError('syntax');
  }

  /** Skips a scalar, or the start of an object or array up to its first value. */
  #skipStart(kinds: number[]): void {
    for (;;) {
      const byte = this.peek();
      if (byte === OBJECT || byte === ARRAY) {
        if (this.#depth + kinds.length >= MAX_JSON_DEPTH) throw new JsonTextError('depth');
        this.#position += 1;
        kinds.push(byte);
        if (this.peek() === (byte === OBJECT ? OBJECT_END : ARRAY_END)) return;
        if (byte === OBJECT) this.#name();
      } else {
        this.#skipScalar(byte);
        return;
      }
    }
  }

  /** Skips what may follow a value: the ends of the objects and arrays it is in, and the separator before the next one. */
  #skipEnds(kinds: number[]): void {
    while (kinds.length > 0) {
      const isObject = kinds.at(-1) === OBJECT;
      const byte = this.peek();
      if (byte === (isObject ? OBJECT_END : ARRAY_END)) {
        this.#position += 1;
        kinds.pop();
      } else {
        this.#expect(COMMA);
        if (isObject) this.#name();
        return;
      }
    }
  }

  #skipScalar(byte: number | undefined): void {
    if (byte === QUOTE) {
      this.#position += 1;
      this.#skipString();
    } else if (byte === MINUS || isDigit(byte)) this.#skipNumber();
    else if (byte === 0x74) this.#skipWord('true');
    else if (byte === 0x66) this.#skipWord('false');
    else if (byte === 0x6e) this.#skipWord('null');
    else throw new JsonTextError('syntax');
  }

  #name(): JsonSpan {
    this.#skipBlanks();
    this.#expect(QUOTE);
    const start = this.#position;
    this.#skipString();
    const end = this.#position - 1;
    this.#skipBlanks();
    this.#expect(COLON);
    return { start, end };
  }

  /** Moves past the closing quote. */
  #skipString(): void {
    const bytes = this.#bytes;
    const from = this.#position;
    let position = from;
    for (;;) {
      while (PLAIN[bytes[position] as number] === 1) {
        position += 1;
        if (position - from === LONG_RUN) position = this.#endOfPlainWords(position);
      }
      const byte = bytes[position];
      if (byte === QUOTE) {
        this.#position = position + 1;
        return;
      }
      position = byte === BACKSLASH ? this.#endOfEscape(position + 1) : this.#endOfCharacter(position);
    }
  }

  #endOfEscape(position: number): number {
    const bytes = this.#bytes;
    const byte = bytes[position];
    if (byte !== 0x75) {
      if (byte === undefined || !ESCAPED.has(byte)) throw new JsonTextError('syntax');
      return position + 1;
    }
    for (let digit = 1; digit <= 4; digit += 1) {
      if (!isHexDigit(bytes[position + digit])) throw new JsonTextError('syntax');
    }
    return position + 5;
  }

  /** The end of a non-ASCII character, by the table of RFC 3629 §4: no overlong form, no surrogate, nothing above U+10FFFF. */
  #endOfCharacter(position: number): number {
    const bytes = this.#bytes;
    const lead = bytes[position] ?? 0;
    const length =
      lead >= 0xc2 && lead <= 0xdf ? 2 : lead >= 0xe0 && lead <= 0xef ? 3 : lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
    const second = bytes[position + 1] ?? 0;
    const lowest = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
    const highest = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
    if (length === 0 || second < lowest || second > highest) throw new JsonTextError('syntax');
    for (let index = 2; index < length; index += 1) {
      if (((bytes[position + index] ?? 0) & 0xc0) !== 0x80) throw new JsonTextError('syntax');
    }
    return position + length;
  }

  /** The end of a run of plain characters, or up to three bytes before it. */
  #endOfPlainWords(from: number): number {
    const { buffer, byteOffset, length } = this.#bytes;
    const words = (this.#words ??= new Int32Array(buffer, 0, (byteOffset + length) >> 2));
    let word = (byteOffset + from + 3) >> 2;
    const position = word * 4 - byteOffset;
    for (let index = from; index < position; index += 1) {
      if (PLAIN[this.#bytes[index] as number] !== 1) return index;
    }
    while (word < words.length && isPlainWord(words[word] as number)) word += 1;
    return Math.max(position, word * 4 - byteOffset);
  }

  #skipNumber(): void {
    const bytes = this.#bytes;
    if (bytes[this.#position] === MINUS) this.#position += 1;
    if (bytes[this.#position] === ZERO) this.#position += 1;
    else this.#skipDigits();
    if (bytes[this.#position] === POINT) {
      this.#position += 1;
      this.#skipDigits();
    }
    const exponent = bytes[this.#position];
    if (exponent !== 0x65 && exponent !== 0x45) return;
    this.#position += 1;
    const sign = bytes[this.#position];
    if (sign === 0x2b || sign === MINUS) this.#position += 1;
    this.#skipDigits();
  }

  #skipDigits(): void {
    const from = this.#position;
    while (isDigit(this.#bytes[this.#position])) this.#position += 1;
    if (this.#position === from) throw new JsonTextError('syntax');
  }

  #skipWord(word: string): void {
    for (let index = 0; index < word.length; index += 1) {
      if (this.#bytes[this.#position + index] !== word.charCodeAt(index)) throw new JsonTextError('syntax');
    }
    this.#position += word.length;
  }

  #skipBlanks(): void {
    const bytes = this.#bytes;
    let byte = bytes[this.#position];
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
      this.#position += 1;
      byte = bytes[this.#position];
    }
  }

  #expect(byte: number): void {
    if (this.#bytes[this.#position] !== byte) throw new JsonTextError('syntax');
    this.#position += 1;
  }
}

/** 1 for printable ASCII except quotes and backslashes. */
const PLAIN: Uint8Array = new Uint8Array(256).map((_, byte) =>
  byte >= 0x20 && byte < 0x80 && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
);
/** The characters that may follow a backslash, except `u`. */
const ESCAPED: ReadonlySet<number> = new Set(new TextEncoder().encode('"\\/bfnrt'));

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= 0x39;
}

function isHexDigit(byte: number | undefined): boolean {
  return isDigit(byte) || (byte !== undefined && (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);
}

/**
 * True if all four bytes are plain. The highest bit of a byte is set if it is not ASCII. The subtractions set it for
 * bytes below a space, and for zeros, which mark a byte that was searched for.
 */
function isPlainWord(word: number): boolean {
  const quotes = (word ^ 0x22222222) - 0x01010101;
  const backslashes = (word ^ 0x5c5c5c5c) - 0x01010101;
  return ((word | (word - 0x20202020) | quotes | backslashes) & 0x80808080) === 0;
}
