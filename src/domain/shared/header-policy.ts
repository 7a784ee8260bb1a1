import type { HeaderFields, HttpResponse } from '../../ports/http.js';
import { mediaType } from './body.js';

// The one place that decides which header fields are forwarded, in each direction. Both lists are closed: fields that
// are not listed are dropped, so hop-by-hop fields, cookies, forwarding fields and the browser's own credentials need
// no list of their own. A site may add fields, except those in `WITHHELD`.

type CrossedFields = Record<string, string | readonly string[]>;

/** Request fields that are forwarded to the platform. */
const REQUEST_FIELDS: ReadonlySet<string> = new Set([
  'content-type',
  'accept',
  'accept-language',
  'a2a-version',
  'a2a-extensions',
  'x-a2a-extensions',
  'last-event-id',
  'idempotency-key',
  'traceparent',
  'tracestate',
]);

/** Additional request fields of conversation records, whose body is streamed unchanged in its coding. */
export const RECORD_REQUEST_FIELDS: readonly string[] = [
  'content-encoding',
  'content-length',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  'if-range',
  'range',
];

/**
 * Fields that the response to a request for records keeps if its body is replaced: 405 and 416 require them (RFC 9110
 * §15.5.6, §15.5.17).
 */
export const RECORD_ERROR_FIELDS: readonly string[] = ['allow', 'content-range'];

/** Response fields that are forwarded to the browser. */
const RESPONSE_FIELDS: ReadonlySet<string> = new Set([
  'content-type',
  'content-language',
  'content-encoding',
  'content-length',
  'content-disposition',
  'etag',
  'last-modified',
  'retry-after',
  'vary',
  'a2a-version',
  'a2a-extensions',
  'x-a2a-extensions',
]);

/** Prevents content that a browser runs or sniffs from running on the site's own origin. */
export const ACTIVE_CONTENT_POLICY = "sandbox; default-src 'none'";

/** Additional response fields of a render. */
export const RENDER_RESPONSE_FIELDS: readonly string[] = ['x-surface-version'];

/** Additional response fields of conversation records. */
export const RECORD_RESPONSE_FIELDS: readonly string[] = ['accept-ranges', 'allow', 'content-range'];

/**
 * The fields of an upstream request: the browser's allowed ones, minus those it named in `Connection` (RFC 9110
 * §7.6.1); then the media type its body was checked as; then the credential's, which always win.
 */
export function upstreamRequestHeaders(
  browser: HeaderFields,
  credential: HeaderFields,
  further: readonly string[] = [],
  contentType?: string,
): HeaderFields {
  const headers = withoutConnectionOptions(sendable(crossing(browser, REQUEST_FIELDS, further)), browser);
  if (contentType !== undefined) headers['content-type'] = contentType;
  return Object.assign(headers, credential);
}

/** The fields of a response that are sent to the browser. */
export function browserResponseHeaders(upstream: HeaderFields, further: readonly string[] = []): CrossedFields {
  const headers = crossing(upstream, RESPONSE_FIELDS, further);
  headers['x-content-type-options'] = 'nosniff';
  const type = mediaType(upstream);
  if (isActive(upstream, type)) headers['content-security-policy'] = ACTIVE_CONTENT_POLICY;
  if (type === 'text/event-stream') {
    // RFC 9112 §6: a stream has no length. `no-transform` prevents compression, the last field prevents buffering by nginx.
    delete headers['content-length'];
    headers['cache-control'] = 'no-cache, no-store, no-transform';
    headers['x-accel-buffering'] = 'no';
    return headers;
  }
  headers['cache-control'] = 'no-store';
  return headers;
}

/**
 * Fields that no option of a site can forward, in either direction (decision 91): credentials, cookies and challenges,
 * hop-by-hop and framing fields (RFC 9110 §7.6.1, §8), CORS, control of caches and proxies, and fields this package
 * sets, such as versions, codings and conditions.
 */
const WITHHELD =
  /^(?:a2a-version|accept|accept-encoding|(?:access-control|content|if|proxy|surrogate|www|x-accel|x-ms-token)-.*|auth.*|.*cache-control|(?:set-)?cookie2?|connection|expect|host|http2-settings|keep-alive|range|te|trailer|transfer-encoding|upgrade|x-(?:api-key|cache|content-type-options|project-id)|__proto__)$/;

/** True if a site must not forward this field (in lower case). */
export function isWithheld(name: string): boolean {
  return WITHHELD.test(name);
}

/** Fields that identify the request and do not influence the response (W3C Trace Context, W3C Baggage). */
const TRACING_FIELDS: ReadonlySet<string> = new Set(['traceparent', 'tracestate', 'baggage']);

/** The names of fields that may influence the response. */
export function choosingNames(names: readonly string[]): readonly string[] {
  return names.filter((name) => !TRACING_FIELDS.has(name));
}

const CHOOSING_FIELDS = choosingNames([...REQUEST_FIELDS]);

/** The forwarded fields that may influence the response, in a fixed order: those that are sent, for a cache key. */
export function choosingValues(browser: HeaderFields): readonly unknown[] {
  const { connection = 'keep-alive' } = browser;
  const sent =
    connection === 'keep-alive' ? browser : withoutConnectionOptions(crossing(browser, REQUEST_FIELDS, []), browser);
  return CHOOSING_FIELDS.map((name) => sent[name] ?? null);
}

/** The part of a cache key with the fields that may influence the response; empty if there are none. */
export function choosingFields(fields: HeaderFields = {}): readonly unknown[] {
  const names = choosingNames(Object.keys(fields)).toSorted();
  return names.length === 0 ? [] : [names.map((name) => [name, fields[name]])];
}

/** The browser's fields that a site forwards in addition, minus those it named in `Connection`. */
export function forwardedFields(browser: HeaderFields, names: readonly string[]): HeaderFields {
  return names.length === 0 ? {} : withoutConnectionOptions(sendable(crossing(browser, new Set(names), [])), browser);
}

/** The fields of a message that are on a list. */
function crossing(fields: HeaderFields, names: ReadonlySet<string>, further: readonly string[]): CrossedFields {
  const crossed: CrossedFields = {};
  // Iterates the message: it has fewer fields than the lists, and looking up an absent field is the slowest.
  for (const name in fields) {
    const value = fields[name];
    if (value !== undefined && (names.has(name) || further.includes(name))) crossed[name] = value;
  }
  return crossed;
}

/** Removes values that HTTP clients do not send unchanged: with control characters, or characters above one byte. */
function sendable(headers: CrossedFields): CrossedFields {
  for (const name in headers) {
    const value = headers[name];
    if (!(typeof value === 'string' ? isFieldValue(value) : value?.every(isFieldValue))) delete headers[name];
  }
  return headers;
}

/** True for a value that HTTP clients send unchanged (RFC 9110 §5.5). */
export function isFieldValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

/**
 * The media type of a JSON body in UTF-8 if it is one of `types`, without its parameters. `undefined` if it is another,
 * or if a parameter could make a parser decode the bytes in another charset (RFC 8259 §8.1 only knows UTF-8).
 */
export function jsonMediaType(headers: HeaderFields, types: readonly string[]): string | undefined {
  const field = headers['content-type'];
  if (typeof field !== 'string' || field.includes(',')) return undefined;
  if (types.includes(field)) return field;
  const [type = '', ...parameters] = field.toLowerCase().split(';');
  const charsets = parameters.filter((parameter) => parameter.includes('charset'));
  if (charsets.length > 1 || !charsets.every((charset) => /^\s*charset=(?:utf-?8|"utf-?8")\s*$/.test(charset)))
    return undefined;
  return types.find((known) => known === type.trim());
}

/** True if a message is a style sheet in UTF-8, which browsers do not interpret as anything else. */
export function isStyleSheet(headers: HeaderFields): boolean {
  const field = headers['content-type'];
  if (typeof field !== 'string') return false;
  const [type, ...parameters] = field.split(';').map((part) => part.trim().toLowerCase());
  const charsets = parameters.filter((parameter) => parameter !== '');
  const isUtf8 = charsets.every((charset) => /^charset\s*=\s*"?(?:utf-8|us-ascii)"?$/.test(charset));
  return type === 'text/css' && charsets.length <= 1 && isUtf8;
}

/**
 * True for a success that an A2A client can read: JSON or an event stream by its first media type, or no body if the
 * status allows none (RFC 9110 §15.3.3, §15.3.5). Decided by the head alone, since the body streams.
 */
export function isForA2AClients({ status, headers }: Pick<HttpResponse, 'status' | 'headers'>): boolean {
  const type = mediaType(headers);
  if (type === '') return status === 202 || status === 204;
  const first = type.split(',', 1)[0]?.trimEnd() ?? '';
  return first === 'application/json' || first === 'text/event-stream' || first.endsWith('+json') || status === 204;
}

/** Removes fields for the next hop only (RFC 9110 §7.6.1). */
function withoutConnectionOptions(headers: CrossedFields, { connection }: HeaderFields): CrossedFields {
  if (connection !== undefined && connection !== 'keep-alive') {
    for (const option of String(connection).split(',')) delete headers[option.trim().toLowerCase()];
  }
  return headers;
}

/** True for types that a browser may run on the site's own origin; a missing type is sniffed, so it counts too. */
function isActive({ 'content-type': field }: HeaderFields, type: string): boolean {
  // If there are several values, browsers use the last (Fetch, "extract a MIME type"), and we read the first.
  if (typeof field !== 'string' || field.includes(',') || type === '') return true;
  if (type.endsWith('+xml') || type === 'multipart/x-mixed-replace') return true;
  return /^(?:text|application)\/(?:html|xml|xsl|xhtml|x?-?(?:java|ecma)script[\d.]*|(?:j|live)script)$/.test(type);
}
