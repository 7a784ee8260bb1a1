import { discard, isBodiless, isStream } from '../../domain/shared/body.js';
import type { HttpBody } from '../../ports/http.js';
import { isBelow } from '../../domain/shared/paths.js';
import type { HttpHandler, HttpResponse, MountedHandler } from '../../ports/http.js';
import { FetchRequest, requestAddress } from './request.js';

const NOT_WEB = "Pass a web Request, such as c.req.raw in Hono. For Node's request use agent-bff/node.";

/** Passes a Web request to the handler mounted at its path, or to `otherwise`. */
export function fetchHandler(
  routes: readonly MountedHandler[],
  otherwise: HttpHandler,
): (request: Request) => Promise<Response> {
  return async (request) => {
    if (typeof Object(request).headers?.get !== 'function') throw new TypeError(NOT_WEB);
    const address = requestAddress(request.url);
    const route = routes.find(({ mount }) => isBelow(address.path, mount));
    const { mount, handler } = route ?? { mount: '', handler: otherwise };
    const read = new FetchRequest(request, address, { mount, path: address.path.slice(mount.length) });
    return toResponse(await handler(read), read);
  };
}

const encoder = new TextEncoder();

/** Writes our response as a Web `Response`, with the fields that session libraries set for it. */
export async function toResponse(given: HttpResponse, request: FetchRequest): Promise<Response> {
  const { status, body, sendIdleMs = 0 } = given;
  const headers = headersOf(given, request);
  const isEmpty = isBodiless(request.method, status);
  if (isEmpty) discard(body);
  return new Response(isEmpty ? null : await bodyInit(body, sendIdleMs), { status, headers });
}

function headersOf(given: HttpResponse, { native: { response: written }, signal }: FetchRequest): Headers {
  const { headers } = written;
  written.headersSent = true;
  // The host sends what it is given, unless the browser has left.
  for (const listener of written.listeners) listener(!signal.aborted);
  for (const name in given.headers) {
    const value = given.headers[name];
    if (value === undefined) continue;
    if (name !== 'set-cookie') headers.delete(name);
    // One by one: cookies joined in one field would be one broken cookie.
    for (const single of typeof value === 'string' ? [value] : value) headers.append(name, single);
  }
  return headers;
}

async function bodyInit(body: HttpBody, sendIdleMs: number): Promise<BodyInit | null> {
  if (body === null) return null;
  // As bytes, because `Response` adds a content type to a string.
  if (typeof body === 'string') return encoder.encode(body);
  if (!isStream(body)) return body as Uint8Array<ArrayBuffer>;
  // Loaded with the first stream, so that mounting routes stays fast.
  const { webStream } = await import('./body-stream.js');
  return webStream(body, sendIdleMs);
}
