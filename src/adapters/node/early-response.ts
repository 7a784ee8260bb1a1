import type { IncomingMessage } from 'node:http';
import { endingWith, isBodiless, isStream } from '../../domain/shared/body.js';
import { closing } from '../../domain/shared/message-fields.js';
import type { HttpResponse } from '../../ports/http.js';
import { isComing, isWasteful } from './request.js';

/** Milliseconds for which a browser may continue sending after its response is complete (RFC 9112 §9.6). */
const LINGER_MS = 1_000;
/** Maximum number of browsers that are waited for; one more is not. */
const MAX_LINGERING = 256;

const lingering = new Set<Promise<void>>();

/** Resolves once all browsers that are still sending have had time to read their response. */
export async function settled(): Promise<void> {
  await Promise.all(lingering);
}

/**
 * A response to a request whose body is still arriving: the last one of its connection, and written whole, but its end
 * waits for the rest of the body. Node closes the connection at the end, and closing one with unread bytes resets it: a
 * browser that is still sending would not see the response.
 */
export function heldBack(given: HttpResponse, request: IncomingMessage): HttpResponse {
  const { status, headers, body } = closing(given);
  const held = (source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> =>
    endingWith(source, (isComplete) => (isComplete ? arrival(request) : Promise.resolve()));
  if (isStream(body)) return { ...given, headers, body: held(body) };
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  // The browser sees the response before its end.
  const length = isBodiless(request.method ?? '', status) ? {} : { 'content-length': String(bytes?.length ?? 0) };
  return { ...given, headers: { ...headers, ...length }, body: held(inOnePiece(bytes)) };
}

async function* inOnePiece(bytes: Uint8Array | null): AsyncGenerator<Uint8Array> {
  if (bytes !== null) yield bytes;
}

/** Resolves once the body of a request has arrived, or its browser has had a second to send it. */
async function arrival(request: IncomingMessage): Promise<void> {
  if (!isComing(request) || isWasteful(request) || lingering.size >= MAX_LINGERING) return;
  let done: () => void = () => undefined;
  const arrived = new Promise<void>((resolve) => (done = resolve));
  const timer = setTimeout(done, LINGER_MS).unref();
  request.once('end', done).once('close', done);
  lingering.add(arrived);
  await arrived;
  lingering.delete(arrived);
  clearTimeout(timer);
}
