import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { streamOf } from './http2-exchange.js';

/** The error code of a stream that a server cannot complete (RFC 9113 §7). */
export const INTERNAL_ERROR = 2;

/** Ends a response as incomplete: an HTTP/2 stream that is only destroyed reports no error to the browser. */
export function abortResponse(response: ServerResponse): void {
  const stream = streamOf(response);
  const { socket, headersSent, chunkedEncoding } = response;
  if (stream !== undefined) stream.close(INTERNAL_ERROR);
  // Without chunks and length, as over HTTP/1.0, closing the connection means that the response is complete (RFC 9112 §6.3).
  else if (socket && headersSent && !chunkedEncoding && !response.hasHeader('content-length')) resetConnection(socket);
  else response.destroy();
}

/** Resets a connection. If it was only closed, data waiting in the system would stay in memory while the browser responds. */
export function resetConnection(connection: Socket): void {
  try {
    connection.resetAndDestroy();
  } catch {
    // TLS sockets and pipes cannot be reset.
  }
  connection.destroy();
}
