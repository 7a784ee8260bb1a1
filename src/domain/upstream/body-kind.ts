import type { HttpBody } from '../../ports/http.js';

/** Whether a body comes in pieces: such a one is gone once it is read or sent. */
export function isStream(body: HttpBody): body is AsyncIterable<Uint8Array> {
  return body !== null && typeof body !== 'string' && !(body instanceof Uint8Array);
}
