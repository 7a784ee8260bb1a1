import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse, Http2Stream } from 'node:http2';
import { targetHost } from '../../domain/shared/paths.js';
import type { HeaderFields } from '../../ports/http.js';

// Differences between the objects that `node:http2` passes to listeners of `node:http` and the originals, as far as they matter here.

/**
 * The fields of a request as text, without pseudo-header fields. The host that its target names counts, even if the
 * request has a `host` field (RFC 9113 §8.3.1, RFC 9112 §3.2.2). Hosts that create requests themselves also put numbers
 * and lists of one value into `headers`.
 */
export function requestFields(request: TargetedRequest): HeaderFields {
  const headers: Readonly<Record<string, unknown>> = request.headers;
  const host = isHttp2(request) ? request.authority : targetHost(request.originalUrl ?? request.url ?? '/');
  if (host === undefined && isText(headers) && !isHttp2(request)) return headers;
  const fields: Record<string, string | readonly string[] | undefined> = {};
  for (const name in headers) {
    const value = headers[name] ?? undefined;
    if (name.startsWith(':') || value === undefined) continue;
    if (!Array.isArray(value)) fields[name] = String(value as string);
    else fields[name] = value.length === 1 ? String(value[0]) : value.map(String);
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

/** True if the whole response was handed over. A reset stream is finished too, but its response was not ended. */
export function isComplete(response: ServerResponse): boolean {
  return response.writableEnded && response.writableFinished;
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
