import type { IncomingMessage, ServerResponse } from 'node:http';
import { discard, isBodiless, isStream } from '../../domain/shared/body.js';
import type { HttpResponse } from '../../ports/http.js';
import { turnOf } from './connection.js';
import { heldBack } from './early-response.js';
import { streamOf } from './http2-exchange.js';
import { drain, isComing, isWasteful } from './request.js';
import { writeHttpResponse } from './response.js';

type Handle = () => Promise<HttpResponse>;

/** Passes a request to its handler in its turn, and the response to the connection. */
export function serve(request: IncomingMessage, response: ServerResponse, handle: Handle): Promise<void> {
  return respond(request, response, handle).then((given) => {
    if (given !== undefined) writeHttpResponse(response, given);
  });
}

/**
 * The response of a handler once it may be written, adapted to its connection; `undefined` if it must not be written.
 * A body that is not a stream is short.
 */
export async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  handle: Handle,
): Promise<HttpResponse | undefined> {
  const turn = turnOf(request, response);
  if (turn === false) return undefined;
  let given = turn === true ? await handle() : await inTurn(request, turn, handle);
  if (given === undefined) return undefined;
  if (isBodiless(request.method ?? '', given.status) && given.body !== null) {
    discard(given.body);
    given = { ...given, body: null };
  }
  // HTTP/2 has a frame for it instead of a field.
  if (given.headers['connection'] === 'close') streamOf(response)?.session?.close();
  const adapted = inPieces(given);
  return isComing(request) ? beforeBodyEnds(request, response, adapted) : adapted;
}

/**
 * The response to a pipelined request, in its turn; `undefined` if the connection ends before.
 *
 * A request waits before it is handled, so one connection causes the work of one request. Only a body that must be read
 * is handled at once: unread, it would pause the connection, and the visitor's departure would go unnoticed.
 */
async function inTurn(
  request: IncomingMessage,
  turn: Promise<boolean>,
  handle: Handle,
): Promise<HttpResponse | undefined> {
  const given = (await pausesConnection(request)) ? await handle() : undefined;
  if (given !== undefined && !request.readableDidRead) drain(request);
  if (await turn) return given ?? handle();
  if (given !== undefined) discard(given.body);
  return undefined;
}

/** True if a body fills Node's read buffer: until it is read, Node does not read anything else from the connection. */
async function pausesConnection(request: IncomingMessage): Promise<boolean> {
  if (!isComing(request)) return false;
  // A short one is complete in the next turn.
  await new Promise(setImmediate);
  return isComing(request) || request.readableLength >= request.readableHighWaterMark;
}

const PIECE_BYTES = 65_536;

/** The response with a long body in pieces: the progress of one long write is not visible, and a slow reader would look like a stalled one. */
function inPieces(given: HttpResponse): HttpResponse {
  const { body } = given;
  if (body === null || isStream(body) || body.length <= PIECE_BYTES) return given;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return { ...given, headers: { ...given.headers, 'content-length': String(bytes.length) }, body: pieces(bytes) };
}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

/** A response to a request whose body may still be arriving. */
async function beforeBodyEnds(
  request: IncomingMessage,
  response: ServerResponse,
  given: HttpResponse,
): Promise<HttpResponse> {
  // These turns read what the system has received, so a short body does not cost a connection.
  for (let turn = 0; turn < 2 && !isWasteful(request); turn += 1) await new Promise(setImmediate);
  if (!isComing(request)) return given;
  const stream = streamOf(response);
  if (stream !== undefined) {
    // A complete response may end its stream early (RFC 9113 §8.1).
    stream.once('finish', () => stream.close());
    return given;
  }
  if (!request.readableDidRead) drain(request);
  // Before Node reads more of it: each read is parsed whole.
  if (isWasteful(request)) response.once('finish', () => request.destroy());
  return heldBack(given, request);
}
