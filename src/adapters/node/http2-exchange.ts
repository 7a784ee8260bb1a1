import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse, Http2Session, Http2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { CONNECTION_FIELDS } from '../../domain/shared/message-fields.js';
import { targetHost } from '../../domain/shared/paths.js';
import type { HeaderFields } from '../../ports/http.js';

// Differences between the objects that `node:http2` passes to listeners of `node:http` and the originals, as far as they matter here.

/** The error code of a stream that a server cannot complete (RFC 9113 §7). */
export const INTERNAL_ERROR = 2;

/**
 * The fields of a request as text, without pseudo-header fields. The host that its target names counts, even if the
 * request has a `host` field (RFC 9113 §8.3.1, RFC 9112 §3.2.2). Hosts that create requests themselves also put numbers
 * into `headers`.
 */
export function requestFields(request: TargetedRequest): HeaderFields {
  const headers: Readonly<Record<string, unknown>> = request.headers;
  const host = isHttp2(request) ? request.authority : targetHost(request.originalUrl ?? request.url ?? '/');
  if (host === undefined && isText(headers) && !isHttp2(request)) return headers;
  const fields: Record<string, string | readonly string[] | undefined> = {};
  for (const name in headers) {
    const value = headers[name] ?? undefined;
    if (name.startsWith(':') || value === undefined) continue;
    fields[name] = Array.isArray(value) ? value.map(String) : String(value as string);
  }
  return host === undefined ? fields : { ...fields, host };
}

/** A request, whose host may have cut `url` at a mount point. */
export interface TargetedRequest extends IncomingMessage {
  /** The whole target, as received. */
  readonly originalUrl?: string;
}

function isText(headers: Readonly<Record<string, unknown>>): headers is HeaderFields {
  for (const name in headers) if (typeof headers[name] !== 'string' && name !== 'set-cookie') return false;
  return true;
}

/** True if a request has a body. HTTP/2 requires no field to announce it. */
export function hasBody(request: IncomingMessage): boolean {
  const { headers, httpVersionMajor } = request;
  if (httpVersionMajor === 2) return !(request as unknown as Http2ServerRequest).stream.endAfterHeaders;
  return headers['transfer-encoding'] !== undefined || String(headers['content-length'] ?? 0) !== '0';
}

/** True if a body that has ended may be truncated: Node ends the request of a reset stream like any other. */
export function maybeTruncated(request: IncomingMessage): boolean {
  return isHttp2(request) && request.aborted;
}

/** The fields of a response that HTTP/2 can carry: Node refuses to send the others. */
export function http2Fields(fields: HeaderFields): HeaderFields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !CONNECTION_FIELDS.has(name)));
}

/** True if the whole response was handed over. A reset stream is finished too, but its response was not ended. */
export function isComplete(response: ServerResponse): boolean {
  return response.writableEnded && response.writableFinished;
}

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

/** Stops reading a request whose response is complete. */
export function refuseRest(request: IncomingMessage): void {
  if (isHttp2(request)) request.stream.close();
  else request.destroy();
}

function isHttp2(request: IncomingMessage | Http2ServerRequest): request is Http2ServerRequest {
  return request.httpVersionMajor === 2;
}

/** The stream of a response over HTTP/2. */
export function streamOf(response: ServerResponse | Http2ServerResponse): Http2Stream | undefined {
  // A host that creates its own responses may leave the request out.
  const request = response.req as IncomingMessage | Http2ServerRequest | undefined;
  return request?.httpVersionMajor === 2 ? (response as Http2ServerResponse).stream : undefined;
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

/** Runs a task after a delay, unless this closes before; does not keep the process alive. */
export function unlessClosed(closing: Pick<NodeJS.EventEmitter, 'once'>, ms: number, task: () => void): void {
  const timer = setTimeout(task, ms).unref();
  closing.once('close', () => {
    clearTimeout(timer);
  });
}
