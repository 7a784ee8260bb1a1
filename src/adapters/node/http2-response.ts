import type { ServerResponse } from 'node:http';
import type { Http2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { streamOf } from './http2-exchange.js';

// Loaded with the first response: entries only need what reads requests.

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
/**
 * Bytes of the current write that the system has not accepted yet; undefined if Node does not know. Node's own `net`
 * timeouts use the same number.
 */
export function unsentBytes(response: ServerResponse): number | undefined {
  if (streamOf(response) !== undefined) return undefined;
  const socket = response.socket as { readonly _handle?: { readonly writeQueueSize?: number } | null } | null;
  return socket?._handle?.writeQueueSize;
}

/** True if the progress of one long write is visible. */
export function tellsProgress(response: ServerResponse): boolean {
  return unsentBytes(response) !== undefined;
}

/** Runs a task after a delay, unless this closes before; does not keep the process alive. */
export function unlessClosed(closing: Pick<NodeJS.EventEmitter, 'once'>, ms: number, task: () => void): void {
  const timer = setTimeout(task, ms).unref();
  closing.once('close', () => {
    clearTimeout(timer);
  });
}

/** A connection of either protocol. */
export type Connection = Socket | Http2Session;

/** Resets a connection. If it was only closed, data waiting in the system would stay in memory while the browser responds. */
export function resetConnection(connection: Connection): void {
  try {
    if ('resetAndDestroy' in connection) connection.resetAndDestroy();
  } catch {
    // TLS sockets and pipes cannot be reset.
  }
  connection.destroy();
}
