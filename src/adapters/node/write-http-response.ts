import type { HttpBody, HttpResponse } from '../../ports/http.js';
import { lineOf, responseFields } from './http2-exchange.js';
import { type FlushableResponse, StreamWriter } from './stream-writer.js';

/**
 * Writes our response to Node's; a body that streams goes on being written.
 * A body that breaks destroys the connection, or resets the stream of HTTP/2: a clean end would claim that the answer was complete.
 */
export function writeHttpResponse(response: FlushableResponse, answer: HttpResponse, method: string | undefined): void {
  const { body } = answer;
  if (lineOf(response).destroyed || response.headersSent) {
    cancel(body);
    return;
  }
  response.statusCode = answer.status;
  const fields = responseFields(response, answer.headers);
  for (const name in fields) {
    const value = fields[name];
    // `appendHeader` for cookies the host has already set: its own stay.
    if (value === undefined) continue;
    if (name === 'set-cookie') response.appendHeader(name, value);
    else response.setHeader(name, value as string | string[]);
  }
  if (method === 'HEAD' || body === null) {
    response.end();
    cancel(body);
  } else if (typeof body === 'string' || body instanceof Uint8Array) {
    response.end(body);
  } else {
    new StreamWriter(response).start(body);
  }
}

function cancel(body: HttpBody): void {
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) return;
  // Nobody is left to be told what it says of its end.
  body[Symbol.asyncIterator]()
    .return?.()
    .catch(() => undefined);
}
