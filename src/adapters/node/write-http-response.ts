import type { ServerResponse } from 'node:http';
import type { HttpBody, HttpResponse } from '../../ports/http.js';
import { cutOff, isComplete, lineOf, responseFields } from './http2-exchange.js';

/** A response a compressor may have wrapped. */
interface FlushableResponse extends ServerResponse {
  /** Sends what a compressor holds back (the `compression` middleware). */
  flush?: () => void;
}

/**
 * Writes our response to Node's. Resolves when the body is written or the browser has left.
 * A body that breaks destroys the connection, or resets the stream of HTTP/2: a clean end would claim that the answer was complete.
 */
export async function writeHttpResponse(
  response: FlushableResponse,
  answer: HttpResponse,
  method: string | undefined,
): Promise<void> {
  const { body } = answer;
  if (lineOf(response).destroyed || response.headersSent) return cancel(body);
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
    return method === 'HEAD' ? cancel(body) : undefined;
  }
  if (typeof body === 'string' || body instanceof Uint8Array) {
    response.end(body);
    return;
  }
  return writeStream(response, body);
}

async function writeStream(response: FlushableResponse, body: AsyncIterable<Uint8Array>): Promise<void> {
  const source = body[Symbol.asyncIterator]();
  const line = lineOf(response);
  // Together with the first chunk when that is there already; else alone, since the first chunk may be long in coming.
  const head = setImmediate(() => response.flushHeaders());
  // Without this the loop below would wait for a chunk nobody wants any more.
  const onClose = (): void => {
    if (!isComplete(response)) void source.return?.();
  };
  response.once('close', onClose);
  try {
    for (;;) {
      const { done, value } = await source.next();
      clearImmediate(head);
      if (line.destroyed) break;
      if (done === true) {
        response.end();
        break;
      }
      const ready = response.write(value);
      response.flush?.();
      if (!ready) await drained(response);
    }
  } catch {
    clearImmediate(head);
    // A browser may send again what it got no head for; and Node holds back until the next turn what was written in this one.
    if (!response.headersSent) response.flushHeaders();
    setImmediate(() => cutOff(response));
  }
}

/** The socket took what was written, or is gone. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
    if (lineOf(response).destroyed) done();
  });
}

async function cancel(body: HttpBody): Promise<void> {
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) return;
  await body[Symbol.asyncIterator]().return?.();
}
