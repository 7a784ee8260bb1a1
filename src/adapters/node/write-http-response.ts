import { discard, isStream } from '../../domain/shared/body.js';
import type { HttpResponse } from '../../ports/http.js';
import { connectionOf, responseFields, tellsProgress } from './http2-exchange.js';
import type { SendBudget } from './send-budget.js';
import { SendWatch } from './send-watch.js';
import { type FlushableResponse, StreamWriter } from './stream-writer.js';

/**
 * Writes our response to Node's; a body that streams goes on being written.
 * A body that breaks destroys the connection, or resets the stream of HTTP/2: a clean end would claim that the response was complete.
 */
export function writeHttpResponse(
  response: FlushableResponse,
  given: HttpResponse,
  method: string | undefined,
  budget: SendBudget,
): void {
  const { body, sendIdleMs = 0 } = given;
  if (connectionOf(response).destroyed || response.headersSent) {
    discard(body);
    return;
  }
  response.statusCode = given.status;
  const fields = responseFields(response, given.headers);
  for (const name in fields) {
    const value = fields[name];
    // `appendHeader` for cookies the host has already set: its own stay.
    if (value === undefined) continue;
    if (name === 'set-cookie') response.appendHeader(name, value);
    else response.setHeader(name, value as string | string[]);
  }
  if (method === 'HEAD' || body === null) {
    response.end();
    discard(body);
  } else if (isStream(body)) {
    new StreamWriter(response, sendIdleMs, budget).start(body);
  } else {
    if (body.length > PIECE_BYTES && !tellsProgress(response)) {
      const bytes = typeof body === 'string' ? Buffer.from(body) : body;
      if (!response.hasHeader('content-length')) response.setHeader('content-length', bytes.length);
      budget.share(response).set(bytes.length);
      new StreamWriter(response, sendIdleMs, budget).start(pieces(bytes));
      return;
    }
    response.end(body);
    new SendWatch(response, { idleMs: sendIdleMs, budget }).watchRest();
  }
}

const PIECE_BYTES = 65_536;

/** Where nobody tells how far one long write has got, a slow reader would look like one that takes nothing. */
async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}
