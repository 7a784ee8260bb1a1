const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const SPACE = 0x20;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** Shorter texts are parsed sooner than they are left out. */
const LONG = 4_096;
/** A message of many short texts has no outline: looking for long ones would cost more than it saves. */
const MOST_TEXTS = 1_000;

/**
 * A JSON message without its long plain texts, such as files in base64: they become `""`, and everything else stays as it is.
 *
 * The outline is JSON exactly when the message is, and has the same names in the same structure. So a policy can read it in place of the
 * message, whose parsing would be the dearest part of its request. A text stays when it is a name, or a member of the message itself; when
 * it is not printable ASCII; and when it has escapes, which a reader would have to check.
 */
export function jsonOutline(message: Uint8Array): Uint8Array {
  if (message.length < LONG) return message;
  const scan = new PlainScan(message);
  const kept: Uint8Array[] = [];
  let keptFrom = 0;
  let depth = 0;
  let texts = 0;
  for (let position = 0; position < message.length; position += 1) {
    const byte = message[position] as number;
    if (OPENING.has(byte)) depth += 1;
    else if (CLOSING.has(byte)) depth -= 1;
    else if (byte === QUOTE) {
      const plainEnd = scan.endOfPlain(position + 1);
      const end = message[plainEnd] === QUOTE ? plainEnd : closingQuote(message, plainEnd);
      texts += 1;
      if (end < 0 || texts > MOST_TEXTS) break;
      if (end === plainEnd && end - position > LONG && depth > 1 && !isName(message, end)) {
        kept.push(message.subarray(keptFrom, position + 1));
        keptFrom = end;
      }
      position = end;
    }
  }
  if (keptFrom === 0) return message;
  kept.push(message.subarray(keptFrom));
  return joined(kept);
}

/** The index of the first quote from here on that no backslash escapes; -1 when there is none. */
function closingQuote(message: Uint8Array, from: number): number {
  let end = message.indexOf(QUOTE, from);
  while (end > 0 && isEscaped(message, end)) end = message.indexOf(QUOTE, end + 1);
  return end;
}

function isEscaped(message: Uint8Array, quote: number): boolean {
  let backslashes = 0;
  while (message[quote - 1 - backslashes] === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}

function isName(message: Uint8Array, end: number): boolean {
  let next = end + 1;
  while (next < message.length && (message[next] as number) <= SPACE) next += 1;
  return message[next] === COLON;
}

/** Finds the end of a run of printable ASCII without quotes and backslashes; four bytes at a time, since there may be a million. */
class PlainScan {
  readonly #bytes: Uint8Array;
  readonly #words: Int32Array;
  /** Where the message begins among the words, in bytes. */
  readonly #start: number;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#start = bytes.byteOffset;
    this.#words = new Int32Array(bytes.buffer, 0, (bytes.byteOffset + bytes.length) >> 2);
  }

  endOfPlain(from: number): number {
    const bytes = this.#bytes;
    const words = this.#words;
    let position = from;
    while ((this.#start + position) % 4 !== 0 && isPlain(bytes[position])) position += 1;
    if ((this.#start + position) % 4 === 0) {
      const first = (this.#start + position) >> 2;
      let word = first;
      while (word < words.length && isPlainWord(words[word] as number)) word += 1;
      position += (word - first) * 4;
    }
    while (isPlain(bytes[position])) position += 1;
    return position;
  }
}

function isPlain(byte: number | undefined): boolean {
  return byte !== undefined && byte >= SPACE && byte < 0x80 && byte !== QUOTE && byte !== BACKSLASH;
}

/** The highest bit of some byte is set in what is no ASCII, and after these subtractions in what lies below a space, and in a zero: the byte that was looked for. */
function isPlainWord(word: number): boolean {
  const quotes = (word ^ 0x22222222) - 0x01010101;
  const backslashes = (word ^ 0x5c5c5c5c) - 0x01010101;
  return ((word | (word - 0x20202020) | quotes | backslashes) & 0x80808080) === 0;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}
