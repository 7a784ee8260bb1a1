import type { HeaderFields } from '../../ports/http.js';
import { utf8Text } from '../shared/bytes.js';
import { ACTIVE_CONTENT_POLICY } from './header-policy.js';

// The one place every header field of a response passes before a host writes it, whatever route, protocol or cache it came from (decision 120).
// What leaves is printable ASCII within bounds, so it reads the same in every encoding a host may choose for it.

/** Characters a value may have. */
export const MAX_VALUE = 8_192;
/** Characters of all names and values together: readers of a whole head take 16 KB, and hosts add fields of their own. */
export const MAX_TOTAL = 12_288;
/** Fields of a response: some readers take a hundred, and hosts add fields of their own. */
export const MAX_FIELDS = 64;

/** Printable ASCII that neither begins nor ends with a blank (RFC 9110 §5.5, RFC 9113 §8.2.1). */
const PLAIN = /^(?:[!-~](?:[ -~]*[!-~])?)?$/;
/** A token of RFC 9110 §5.6.2 in lower case. */
const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
/** Names no field from outside may have: they frame the message, belong to the connection or set cookies, or are an object's own. */
const REFUSED_NAME =
  /^(?:__proto__|connection|keep-alive|proxy-.*|(?:set-)?cookie2?|te|trailer|transfer-encoding|upgrade)$/;

/** A length. Host and browser would disagree about the end of a response with any other. */
const LENGTH = /^\d{1,15}$/;

/** Fields with a single value; of several, the first counts. Any other field is a list, whose values join (RFC 9110 §5.3). */
const SINGLE: ReadonlySet<string> = new Set([
  'content-disposition',
  'content-length',
  'content-range',
  'etag',
  'last-modified',
  'retry-after',
]);

/** Fields that protect the visitor. This package alone writes them, after all others, and no bound counts them. */
const PROTECTING: ReadonlySet<string> = new Set([
  'x-content-type-options',
  'content-security-policy',
  'cache-control',
  'x-accel-buffering',
]);

/** Names met in nearly every response. */
const KNOWN: ReadonlySet<string> = new Set([
  ...PROTECTING,
  'content-type',
  'content-length',
  'content-encoding',
  'etag',
  'vary',
  'x-cache',
]);

/** The reason why a field, or a part of it, is missing. */
export type LeftOutReason = 'characters' | 'length' | 'name' | 'number' | 'repeated' | 'syntax';

/** Handlers of fields that are not plain. */
export interface BrowserFieldRules {
  /**
   * Reads a `Content-Disposition` and writes it in ASCII, within `MAX_VALUE`; `undefined` when it cannot be read.
   * `isWhole`: false when its file name could not be read, and is missing.
   */
  readonly disposition: (text: string) => { readonly value: string; readonly isWhole: boolean } | undefined;
  /** Takes what is left out of one response. */
  readonly leftOut: (fields: readonly LeftOutField[]) => void;
}

/** A field that does not cross, or not whole. */
export interface LeftOutField {
  readonly name: string;
  readonly reason: LeftOutReason;
}

/** The fields as they are written. The same object when nothing in them needs a change, which costs one match for each value. */
export function browserFields(fields: HeaderFields, rules: BrowserFieldRules): HeaderFields {
  return isClean(fields) ? fields : new FieldWriter(rules).write(fields);
}

function isClean(fields: HeaderFields): boolean {
  let count = 0;
  let total = 0;
  // Own ones and inherited ones: hosts write both.
  for (const name in fields) {
    const value = fields[name];
    if (value === undefined) continue;
    // Every response comes by here, so nothing is called that need not be.
    if (typeof value !== 'string' || value.length > MAX_VALUE || !PLAIN.test(value)) return false;
    if (!KNOWN.has(name) && (name === 'content-disposition' || !isName(name))) return false;
    if (name === 'content-length' && !LENGTH.test(value)) return false;
    count += 1;
    total += name.length + value.length;
  }
  if (count > MAX_FIELDS || total > MAX_TOTAL) return false;
  return fields['x-content-type-options'] === 'nosniff' && fields['cache-control'] !== undefined;
}

function isPlain(value: string): boolean {
  return value.length <= MAX_VALUE && PLAIN.test(value);
}

function isName(name: string): boolean {
  return KNOWN.has(name) || (NAME.test(name) && !REFUSED_NAME.test(name));
}

/** Writes the fields of one response. */
class FieldWriter {
  readonly #rules: BrowserFieldRules;
  readonly #leftOut: LeftOutField[] = [];
  #count = 0;
  #total = 0;

  constructor(rules: BrowserFieldRules) {
    this.#rules = rules;
  }

  write(fields: HeaderFields): HeaderFields {
    const written = new Map<string, string>();
    const names: string[] = [];
    for (const name in fields) if (!PROTECTING.has(name)) names.push(name);
    // Those that describe the body first: no other field takes their space.
    for (const name of names.sort((one, other) => rank(one) - rank(other))) {
      const value = this.#value(name, fields[name]);
      if (value !== undefined && this.#fits(name, value)) written.set(name, value);
    }
    const { 'content-security-policy': policy, 'x-accel-buffering': buffering } = fields;
    written.set('x-content-type-options', 'nosniff');
    written.set('cache-control', own(fields['cache-control'], 'no-store'));
    if (buffering !== undefined) written.set('x-accel-buffering', own(buffering, 'no'));
    const isUntyped = fields['content-type'] !== undefined && !written.has('content-type');
    if (policy !== undefined || isUntyped) written.set('content-security-policy', own(policy, ACTIVE_CONTENT_POLICY));
    if (this.#leftOut.length > 0) this.#rules.leftOut(this.#leftOut);
    return Object.fromEntries(written);
  }

  #value(name: string, field: HeaderFields[string]): string | undefined {
    if (field === undefined) return undefined;
    if (!isName(name)) return this.#drop(name, 'name');
    // A site's own upstream may give numbers.
    const values = [field].flat().map(String);
    if (SINGLE.has(name) && new Set(values).size > 1) this.#drop(name, 'repeated');
    const text = SINGLE.has(name) ? (values[0] ?? '') : values.join(', ');
    const clean = decoded(text.slice(0, MAX_TOTAL)).replaceAll('\t', ' ').trim();
    if (name === 'content-disposition') return this.#disposition(name, clean);
    if (text.length > MAX_VALUE) return this.#drop(name, 'length');
    if (!isPlain(clean)) return this.#drop(name, 'characters');
    return name === 'content-length' && !LENGTH.test(clean) ? this.#drop(name, 'syntax') : clean;
  }

  #disposition(name: string, text: string): string | undefined {
    const written = this.#rules.disposition(text);
    if (written?.isWhole !== true) this.#drop(name, 'syntax');
    return written?.value;
  }

  #fits(name: string, value: string): boolean {
    const total = this.#total + name.length + value.length;
    if (this.#count === MAX_FIELDS - PROTECTING.size || total > MAX_TOTAL) {
      this.#drop(name, 'number');
      return false;
    }
    this.#count += 1;
    this.#total = total;
    return true;
  }

  #drop(name: string, reason: LeftOutReason): undefined {
    this.#leftOut.push({ name: NAME.test(name) ? name : 'a field without a valid name', reason });
  }
}

function rank(name: string): 0 | 1 {
  return name.startsWith('content-') ? 0 : 1;
}

function own(value: HeaderFields[string], otherwise: string): string {
  return typeof value === 'string' && isPlain(value) ? value : otherwise;
}

/** A value as text: HTTP clients give bytes as characters, which are UTF-8 where they can be, and Latin-1 otherwise. */
function decoded(value: string): string {
  if (!/[\x80-\xff]/.test(value) || /[^\0-\xff]/.test(value)) return value;
  return utf8Text(Uint8Array.from(value, (character) => character.charCodeAt(0))) ?? value;
}
