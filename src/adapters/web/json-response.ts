import type { HeaderFields, HttpRequest, HttpResponse } from '../../ports/http.js';

interface RecordText {
  readonly body: Uint8Array;
  readonly etag: string;
}

/** All responses with the same record share its bytes, however many wait for a slow browser. */
const texts = new WeakMap<object, RecordText>();
const encoder = new TextEncoder();

/** The response with a record as JSON, or 304 if the browser has it already. `hash` names its text. */
export function jsonResponse(
  record: object,
  request: Pick<HttpRequest, 'headers'>,
  hash: (text: string) => string,
  fields: HeaderFields,
): HttpResponse {
  const { body, etag } = textOf(record, hash);
  const headers = { ...fields, etag, 'x-content-type-options': 'nosniff' };
  if (matches(request.headers['if-none-match'], etag)) return { status: 304, headers, body: null };
  return { status: 200, headers: { 'content-type': 'application/json', ...headers }, body };
}

function textOf(record: object, hash: (text: string) => string): RecordText {
  let known = texts.get(record);
  if (known === undefined) {
    const text = JSON.stringify(record);
    known = { body: encoder.encode(text), etag: `"${hash(text)}"` };
    texts.set(record, known);
  }
  return known;
}

/** Weak comparison, as required for GET (RFC 9110 §13.1.2). */
function matches(field: HeaderFields[string], etag: string): boolean {
  const listed = String(field ?? '')
    .split(',')
    .map((entry) => entry.trim().replace(/^W\//, ''));
  return listed.includes('*') || listed.includes(etag);
}
