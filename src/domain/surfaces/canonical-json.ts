/** Numbers that lose something when they are parsed and written again: long, broken or with an exponent, and minus zero. */
const FRAGILE_NUMBER = /\d{16}|\d[.eE]|(?:^|[[:,\s])-0/;
/** Deeper values are not looked through: that takes as many calls as they have levels, and the stack holds so many. */
const MAX_LEVELS = 500;

/**
 * A JSON text in one spelling, whatever the order of its fields; `undefined` when two readers may take it for two different values.
 * Two texts of one spelling mean the same to every reader, so a response to one is a response to the other.
 *
 * @throws SyntaxError when the text is no JSON.
 */
export function canonicalJson(text: string): string | undefined {
  const value: unknown = JSON.parse(text);
  if (hasDuplicateKey(text, Number.POSITIVE_INFINITY)) return undefined;
  // As it came: another order of fields is then another text, which costs a render and is never wrong.
  if (FRAGILE_NUMBER.test(text) || hasLevels(value, MAX_LEVELS)) return `text ${text}`;
  return `value ${JSON.stringify(sorted(value))}`;
}

/** Whether a value lies inside so many others. */
function hasLevels(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => hasLevels(inner, levels - 1));
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const fields = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(fields).sort();
  // As pairs: an object would put names like "10" first and treat "__proto__" as something else.
  return { o: names.map((name) => [name, sorted(fields[name])]) };
}

/**
 * Whether an object in a JSON text names one field twice, also in another case, down to `depth` levels.
 * Two readers may pick different ones of the pair, so a policy that reads such a text decides about another request than the one it forwards.
 * The text must be valid JSON.
 */
export function hasDuplicateKey(text: string, depth: number): boolean {
  const names: (Set<string> | undefined)[] = [];
  let position = 0;
  let expectsName = false;
  while (position < text.length) {
    switch (text.charCodeAt(position)) {
      case 0x7b: // {
        names.push(names.length < depth ? new Set() : undefined);
        expectsName = true;
        break;
      case 0x5b: // [
        names.push(undefined);
        expectsName = false;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        names.pop();
        expectsName = false;
        break;
      case 0x2c: // ,
        expectsName = names.at(-1) !== undefined;
        break;
      case 0x22: {
        const end = stringEnd(text, position);
        const seen = names.at(-1);
        if (expectsName && seen !== undefined) {
          const name = nameAt(text, position, end).toLowerCase();
          if (seen.has(name)) return true;
          seen.add(name);
        }
        expectsName = false;
        position = end;
        break;
      }
      default:
        break;
    }
    position += 1;
  }
  return false;
}

/** The name between two quotes; only escapes need a reader. */
function nameAt(text: string, start: number, end: number): string {
  const name = text.slice(start + 1, end);
  return name.includes('\\') ? (JSON.parse(`"${name}"`) as string) : name;
}

/** The index of the quote that closes the string opened at `start`. */
function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

function isEscaped(text: string, quote: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(quote - 1 - backslashes) === 0x5c) backslashes += 1;
  return backslashes % 2 === 1;
}
