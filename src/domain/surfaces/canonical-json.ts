const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const ARRAY = 0x5b;
const ARRAY_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;

/**
 * A canonical form of a JSON text, independent of blanks, escapes and the order of fields. `undefined` if an object has
 * a field twice, even in different case, because two parsers may pick different ones. Texts with the same form mean the
 * same to every parser.
 *
 * The text must be valid JSON. Takes linear time, and one nested call per level.
 *
 * @throws SyntaxError when the text ends too early.
 */
export function canonicalJson(text: string): string | undefined {
  return new Speller(text).spelling();
}

class Speller {
  readonly #text: string;
  #position = 0;
  #hasTwins = false;

  constructor(text: string) {
    this.#text = text;
  }

  spelling(): string | undefined {
    const spelling = this.#value();
    return this.#hasTwins ? undefined : spelling;
  }

  #value(): string {
    switch (this.#next()) {
      case OBJECT:
        return this.#object();
      case ARRAY:
        return this.#array();
      case QUOTE:
        return this.#string();
      default:
        return this.#token();
    }
  }

  #object(): string {
    const members: string[] = [];
    const names = new Set<string>();
    this.#position += 1;
    while (this.#next() !== OBJECT_END) {
      if (members.length > 0) {
        this.#position += 1;
        this.#next();
      }
      const name = this.#string();
      // By way of upper case, like Go's encoding/json: `ſ` becomes `s`.
      const folded = name.toUpperCase().toLowerCase();
      if (names.has(folded)) this.#hasTwins = true;
      names.add(folded);
      this.#next();
      this.#position += 1;
      members.push(`${name}:${this.#value()}`);
    }
    this.#position += 1;
    return `{${members.sort().join(',')}}`;
  }

  #array(): string {
    const items: string[] = [];
    this.#position += 1;
    while (this.#next() !== ARRAY_END) {
      if (items.length > 0) this.#position += 1;
      items.push(this.#value());
    }
    this.#position += 1;
    return `[${items.join(',')}]`;
  }

  #string(): string {
    const text = this.#text;
    const start = this.#position;
    let end = start + 1;
    let isPlain = true;
    for (let code = text.charCodeAt(end); code !== QUOTE; code = text.charCodeAt(end)) {
      if (end >= text.length) throw new SyntaxError('The JSON text ends within a string.');
      if (code === BACKSLASH) isPlain = false;
      end += code === BACKSLASH ? 2 : 1;
    }
    this.#position = end + 1;
    const string = text.slice(start, end + 1);
    return isPlain ? string : JSON.stringify(JSON.parse(string));
  }

  /** A number or a literal, unchanged: parsing `9007199254740993` would lose a digit, and `-0` its sign. */
  #token(): string {
    const text = this.#text;
    const start = this.#position;
    let end = start + 1;
    while (end < text.length && !isEnd(text.charCodeAt(end))) end += 1;
    this.#position = end;
    return text.slice(start, end);
  }

  /** The next character that is not blank. */
  #next(): number {
    const text = this.#text;
    let code = text.charCodeAt(this.#position);
    while (code <= 0x20) {
      this.#position += 1;
      code = text.charCodeAt(this.#position);
    }
    if (this.#position >= text.length) throw new SyntaxError('The JSON text ends before its value.');
    return code;
  }
}

function isEnd(code: number): boolean {
  return code <= 0x20 || code === COMMA || code === ARRAY_END || code === OBJECT_END;
}
