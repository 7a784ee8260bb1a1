import { hasDuplicateKey } from './json-names.js';

/** Numbers that lose something when they are parsed and written again: long, broken or with an exponent, and minus zero. */
const FRAGILE_NUMBER = /\d{16}|\d[.eE]|(?:^|[[:,\s])-0/;
/** Deeper values are not looked through: that takes as many calls as they have levels, and the stack holds so many. */
const MAX_LEVELS = 500;

/**
 * A JSON text in one spelling, whatever the order of its fields; `undefined` when two readers may take it for two different values.
 * Two texts of one spelling mean the same to every reader, so an answer to one is an answer to the other.
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
