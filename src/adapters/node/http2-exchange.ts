import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse, Http2Session, Http2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { HeaderFields, HttpResponse } from '../../ports/http.js';

// Where the objects that `node:http2` makes for listeners of `node:http` differ from those they stand for, and it matters here.

/** The code of a stream that a server cannot complete (RFC 9113 §7). */
export const INTERNAL_ERROR = 2;

/** What only HTTP/1.1 has, and Node refuses to send over HTTP/2 (RFC 9113 §8.2.2). */
const CONNECTION_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

/** The fields of a request without the pseudo-header fields. `:authority` is the host (RFC 9113 §8.3.1), also where a `host` came beside it. */
export function requestFields(request: IncomingMessage): HeaderFields {
  if (!isHttp2(request)) return request.headers;
  const fields: Record<string, string | readonly string[] | undefined> = {};
  for (const name in request.headers) if (!name.startsWith(':')) fields[name] = request.headers[name];
  fields['host'] = request.authority;
  return fields;
}

/** Whether a body follows the fields of a request: under HTTP/2 none of them need tell. */
export function hasBody(request: IncomingMessage): boolean {
  if (isHttp2(request)) return !request.stream.endAfterHeaders;
  const { headers } = request;
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** Whether a body that has ended may lack its end: of a stream that was reset the request tells an end as of any other. */
export function maybeTruncated(request: IncomingMessage): boolean {
  return isHttp2(request) && request.aborted;
}

/** The fields of a response that its protocol can carry. */
export function responseFields(response: ServerResponse, fields: HeaderFields): HeaderFields {
  if (streamOf(response) === undefined) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !CONNECTION_FIELDS.has(name)));
}

/** The same response as the last one of its connection (RFC 9112 §9.6). */
export function closing(response: HttpResponse): HttpResponse {
  return { ...response, headers: { ...response.headers, connection: 'close' } };
}

/** What tells whether the browser is still there: the response, or the stream it goes over. */
export function connectionOf(response: ServerResponse): Pick<ServerResponse, 'closed' | 'destroyed'> {
  return streamOf(response) ?? response;
}

/** Whether everything was handed over; a stream that was reset is finished too, but nobody has ended its response. */
export function isComplete(response: ServerResponse): boolean {
  return response.writableEnded && response.writableFinished;
}

/** Ends a response so that nobody takes it for complete: a stream that is only destroyed tells the browser of no error. */
export function abortResponse(response: ServerResponse): void {
  const stream = streamOf(response);
  if (stream === undefined) response.destroy();
  else stream.close(INTERNAL_ERROR);
}

/** What the system has not taken yet of the write under way; undefined where nobody tells. Node's own `net` timeouts go by the same number. */
export function unsentBytes(response: ServerResponse): number | undefined {
  if (streamOf(response) !== undefined) return undefined;
  const socket = response.socket as { readonly _handle?: { readonly writeQueueSize?: number } | null } | null;
  return socket?._handle?.writeQueueSize;
}

/** Whether it can be told of one long write that the browser takes it slowly. */
export function tellsProgress(response: ServerResponse): boolean {
  return unsentBytes(response) !== undefined;
}

/** Takes nothing more of a request whose response is complete. */
export function refuseRest(request: IncomingMessage): void {
  if (isHttp2(request)) request.stream.close();
  else request.destroy();
}

function isHttp2(request: IncomingMessage | Http2ServerRequest): request is Http2ServerRequest {
  return request.httpVersionMajor === 2;
}

/** The stream of a response over HTTP/2. */
export function streamOf(response: ServerResponse | Http2ServerResponse): Http2Stream | undefined {
  // A host that makes its responses itself may leave the request out.
  const request = response.req as IncomingMessage | Http2ServerRequest | undefined;
  return request?.httpVersionMajor === 2 ? (response as Http2ServerResponse).stream : undefined;
}

/** A connection of either protocol. */
export type Connection = Socket | Http2Session;

/** Ends a connection at once. One that is only closed would keep what waits in the system, for as long as the browser answers. */
export function resetConnection(connection: Connection): void {
  try {
    if ('resetAndDestroy' in connection) connection.resetAndDestroy();
  } catch {
    // TLS and pipes know no reset.
  }
  connection.destroy();
}
