import type { HeaderFields } from '../../ports/http.js';

/** The header fields as the Web `Headers` that session libraries read. */
export function webHeaders(fields: HeaderFields): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    // Two cookie fields are one list of cookies, which a comma would break (RFC 9113 §8.2.3).
    headers.set(name, typeof value === 'string' ? value : value.join(name === 'cookie' ? '; ' : ', '));
  }
  return headers;
}
