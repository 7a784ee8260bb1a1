import type { HeaderFields, HttpResponse } from '../../ports/http.js';
import type { ErrorFacts } from '../errors.js';
import { mediaType } from '../shared/media-type.js';

// What responses say of the address they came from: that nothing is found there, or something else. The one place for these sentences;
// visitors read them. `text` is the start of the body where it is known.

/** Who was called, in the words of an error. */
export interface Counterpart {
  readonly name: string;
  /** The fields that say where it is. */
  readonly fields: readonly string[];
  /** What to do where something else is found there: a sentence without its capital and its full stop. */
  readonly check: string;
  /** What a successful response of it is. */
  readonly expected: string;
  /** Whether requests name things that may be missing there though the address is right. Default: false. */
  readonly holdsMany?: boolean;
}

/** What is told in public of such an address. */
export type AddressFacts = Required<Pick<ErrorFacts, 'detail' | 'hint' | 'block' | 'fields'>>;

/** In the text of a page, or the address of one. */
const SIGN_IN = /\b(?:sign|log)[ _-]?(?:in|on)\b|\bsso\b|\bsaml|\/oauth2?\/|\/authorize\b|type=["']?password/i;
/** What nginx and Go, and Apache, say to a client that speaks without TLS. */
const NEEDS_TLS = /HTTP request .{0,40}HTTPS|plain HTTP .{0,40}SSL/i;

/** Of a redirect. */
export function redirected(headers: HeaderFields, counterpart: Counterpart): AddressFacts {
  const { name, fields } = counterpart;
  if (SIGN_IN.test(locationOf(headers))) {
    return signIn(`The ${name} redirects to a sign-in page, and redirects are never followed.`, counterpart);
  }
  const final = `the final address of the ${name}: mind https, and the slash at its end`;
  return facts(
    `The ${name} answered with a redirect, which is never followed.`,
    `Set ${quoted(fields)} in configureServer to ${final}.`,
    fields,
  );
}

/** Of a success that is not what was expected. */
export function unexpected(headers: HeaderFields, counterpart: Counterpart, text: string): AddressFacts {
  const { name, fields, check, expected } = counterpart;
  if (!isPage(headers)) {
    return facts(`The ${name} answered with something else than ${expected}.`, sentence(check), fields);
  }
  return SIGN_IN.test(text)
    ? signIn(`A sign-in page answers at the address of the ${name}.`, counterpart)
    : facts(`A web page answers at the address of the ${name}.`, sentence(check), fields);
}

/** Of an error; `undefined` when it says nothing of the address. */
export function misplaced(
  { status, headers }: Pick<HttpResponse, 'status' | 'headers'>,
  counterpart: Counterpart,
  text: string,
): AddressFacts | undefined {
  const { name, fields, check, holdsMany = false } = counterpart;
  const hint = holdsMany ? `If nothing is found there, ${check}.` : sentence(check);
  switch (status) {
    case 400:
      if (!NEEDS_TLS.test(text)) return undefined;
      return facts(`The address of the ${name} takes https only.`, `Write https in ${quoted(fields)}.`, fields);
    case 401:
      // A challenge for tokens is of an API that reads them, whatever stands beside it (RFC 6750 §3).
      if (!isPage(headers) || /\bbearer\b/i.test(String(headers['www-authenticate']))) return undefined;
      return signIn(`A sign-in page answers at the address of the ${name}.`, counterpart);
    case 404:
    case 410:
      if (holdsMany) return facts(`The ${name} did not find what was asked for.`, hint, fields);
      return facts(`Nothing is found at the address of the ${name}.`, hint, fields);
    case 405:
      return facts(`The ${name} does not take this method at this address.`, hint, fields);
    default:
      return undefined;
  }
}

/** Where a redirect leads, for operators; what is secret in it stands in its query. */
export function locationOf(headers: HeaderFields): string {
  return String(headers['location'] ?? '')
    .split(/[?#]/, 1)
    .join('');
}

/** Fields in a sentence. */
export function quoted(fields: readonly string[]): string {
  return fields.map((field) => `"${field}"`).join(' and ');
}

function signIn(detail: string, { fields, check }: Counterpart): AddressFacts {
  const way = 'If it is right, let requests that carry the credential of this site past the sign-in.';
  return facts(detail, `${sentence(check)} ${way}`, fields);
}

function facts(detail: string, hint: string, fields: readonly string[]): AddressFacts {
  return { detail, hint, block: 'configureServer', fields };
}

/** Whether a message is a page for people. */
export function isPage(headers: HeaderFields): boolean {
  return ['text/html', 'application/xhtml+xml'].includes(mediaType(headers));
}

/** An advice as a sentence. */
export function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
