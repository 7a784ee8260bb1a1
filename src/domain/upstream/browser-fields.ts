import type { HeaderFields } from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { utf8Text } from '../shared/bytes.js';
import { ACTIVE_CONTENT_POLICY } from '../shared/header-policy.js';

// The one place every response header field passes before a host writes it, whatever its route, protocol or cache
// (decision 120). The result is printable ASCII within limits, so it reads the same in every encoding a host may use.

/** Maximum characters of a value. */
export const MAX_VALUE = 8_192;
/** Maximum characters of all names and values together: parsers accept a head of 16 KB, and hosts add fields of their own. */
export const MAX_TOTAL = 12_288;
/** Maximum number of fields in a response: some parsers accept a hundred, and hosts add fields of their own. */
export const MAX_FIELDS = 64;

/** Printable ASCII without leading or trailing blanks (RFC 9110 §5.5, RFC 9113 §8.2.1). */
const PLAIN = /^(?:[!-~](?:[ -~]*[!-~])?)?$/;
/** A token of RFC 9110 §5.6.2 in lower case. */
const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
/**
 * Names that no field from outside may have: they frame the message, belong to the connection, set cookies, or are
 * members of every object.
 */
const REFUSED_NAME =
  /^(?:__proto__|connection|keep-alive|proxy-.*|(?:set-)?cookie2?|te|trailer|transfer-encoding|upgrade)$/;

/** A length. With any other, host and browser would disagree about the end of a response. */
const LENGTH = /^\d{1,15}$/;

/**
 * Fields with a single value; if there are several, the first counts. All other fields are lists, whose values are
 * joined (RFC 9110 §5.3).
 */
const SINGLE: ReadonlySet<string> = new Set([
  'content-disposition',
  'content-length',
  'content-range',
  'etag',
  'last-modified',
  'retry-after',
]);

/** Fields that protect the visitor. Only this package writes them, after all others, and they do not count towards the limits. */
const PROTECTING: ReadonlySet<string> = new Set([
  'x-content-type-options',
  'content-security-policy',
  'cache-control',
  'x-accel-buffering',
]);

/** Names in nearly every response. */
const KNOWN: ReadonlySet<string> = new Set([
  ...PROTECTING,
  'content-type',
  'content-length',
  'content-encoding',
  'etag',
  'vary',
  'x-cache',
]);

/** Handlers of fields that are not plain. */
export interface BrowserFieldRules {
  /**
   * Parses a `Content-Disposition` and rewrites it in ASCII, within `MAX_VALUE`; `undefined` if it cannot be parsed.
   * `isWhole` is false if its file name could not be read and was left out.
   */
  readonly disposition: (text: string) => { readonly value: string; readonly isWhole: boolean } | undefined;
  /** Receives the names of the fields that were left out of one response, entirely or in part, each with its reason. */
  readonly leftOut: (fields: readonly string[]) => void;
}

/** The fields as they are written. Returns the same object if no field needs a change, which costs one match per value. */
export function browserFields(fields: HeaderFields, rules: BrowserFieldRules): HeaderFields {
  return isClean(fields) ? fields : new FieldWriter(rules).write(fields);
}

function isClean(fields: HeaderFields): boolean {
  let count = 0;
  let total = 0;
  // Own and inherited fields: hosts write both.
  for (const name in fields) {
    const value = fields[name];
    if (value === undefined) continue;
    // Inlined: every response runs through here.
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
  readonly #leftOut: string[] = [];
  #count = 0;
  #total = 0;

  constructor(rules: BrowserFieldRules) {
    this.#rules = rules;
  }

  write(fields: HeaderFields): HeaderFields {
    const written = new Map<string, string>();
    const names: string[] = [];
    for (const name in fields) if (!PROTECTING.has(name)) names.push(name);
    // Fields that describe the body come first, so that no other field takes their space.
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
    if (!isName(name)) return this.#drop(name, 'a name that is not allowed');
    // A site's own upstream may pass numbers.
    const values = [field].flat().map(String);
    if (SINGLE.has(name) && new Set(values).size > 1) this.#drop(name, 'sent several times; the first is used');
    const text = SINGLE.has(name) ? (values[0] ?? '') : values.join(', ');
    const clean = decoded(text.slice(0, MAX_TOTAL)).replaceAll('\t', ' ').trim();
    if (name === 'content-disposition') return this.#disposition(name, clean);
    if (text.length > MAX_VALUE) return this.#drop(name, 'too long');
    if (!isPlain(clean)) return this.#drop(name, 'characters other than printable ASCII');
    return name === 'content-length' && !LENGTH.test(clean) ? this.#drop(name, 'could not be read') : clean;
  }

  #disposition(name: string, text: string): string | undefined {
    const written = this.#rules.disposition(text);
    if (written?.isWhole !== true) this.#drop(name, 'could not be read');
    return written?.value;
  }

  #fits(name: string, value: string): boolean {
    const total = this.#total + name.length + value.length;
    if (this.#count === MAX_FIELDS - PROTECTING.size || total > MAX_TOTAL) {
      this.#drop(name, 'too many or too long together');
      return false;
    }
    this.#count += 1;
    this.#total = total;
    return true;
  }

  #drop(name: string, reason: string): undefined {
    this.#leftOut.push(`${NAME.test(name) ? name : 'a field without a valid name'} (${reason})`);
  }
}

function rank(name: string): 0 | 1 {
  return name.startsWith('content-') ? 0 : 1;
}

function own(value: HeaderFields[string], otherwise: string): string {
  return typeof value === 'string' && isPlain(value) ? value : otherwise;
}

/** A value as text: HTTP clients pass bytes as characters, which are UTF-8 if valid, otherwise Latin-1. */
function decoded(value: string): string {
  if (!/[\x80-\xff]/.test(value) || /[^\0-\xff]/.test(value)) return value;
  return utf8Text(Uint8Array.from(value, (character) => character.charCodeAt(0))) ?? value;
}

/** Maximum number of reported faults: sites forward few fields, but an odd store may hold many. */
const MAX_KNOWN = 100;

/** Warns once about each field that is left out, by its name and never by its value. */
export function leftOutReporter(telemetry: Telemetry): BrowserFieldRules['leftOut'] {
  const known = new Set<string>();
  const isNew = (fault: string): boolean => {
    if (known.has(fault) || known.size === MAX_KNOWN) return false;
    known.add(fault);
    return true;
  };
  return (fields) => {
    const list = fields.filter(isNew);
    if (list.length === 0) return;
    const detail = `The platform sent response fields that were left out: ${list.join(', ')}.`;
    telemetry.emit({ type: 'warning', code: 'field_left_out', detail });
  };
}
