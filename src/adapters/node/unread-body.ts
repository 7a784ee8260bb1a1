import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpResponse } from '../../ports/http.js';
import { closing, refuseRest, streamOf } from './http2-exchange.js';
import { drain, isComing, isWasteful } from './request-body.js';

/** Milliseconds that a browser may go on sending after its response is complete (RFC 9112 §9.6). */
const LINGER_MS = 1_000;
/** Connections that linger at the same time; one more ends the oldest. */
const MAX_LINGERING = 256;

const lingering = new Set<Socket>();

/**
 * A response to a request whose body is still coming: its connection closes after it.
 *
 * The rest of the body is read and dropped for a second. A connection that is closed with unread bytes is reset, and a browser that is still
 * sending would not see the response.
 */
export async function beforeBodyEnds(
  request: IncomingMessage,
  response: ServerResponse,
  given: HttpResponse,
): Promise<HttpResponse> {
  // What has reached the system is read in these turns: a short body costs no connection.
  for (let turn = 0; turn < 2; turn += 1) await new Promise(setImmediate);
  if (!isComing(request)) return given;
  if (!request.readableDidRead) drain(request);
  const stream = streamOf(response);
  if (stream !== undefined) {
    // Node's response would tell when the stream has closed, and not before.
    stream.once('finish', () => {
      if (isWasteful(request)) refuseRest(request);
      else resetLater(request);
    });
    return given;
  }
  // Node calls it after the last response of a connection, and would end the reading with it.
  if (!isWasteful(request)) {
    request.socket.destroySoon = () => {
      linger(request);
    };
  }
  return closing(given);
}

function linger(request: IncomingMessage): void {
  const { socket } = request;
  const end = (): void => {
    socket.destroy();
  };
  const timer = setTimeout(end, LINGER_MS).unref();
  socket.once('close', () => {
    clearTimeout(timer);
    lingering.delete(socket);
  });
  const [oldest] = lingering;
  if (lingering.size === MAX_LINGERING && oldest !== undefined) {
    lingering.delete(oldest);
    oldest.destroy();
  }
  lingering.add(socket);
  socket.end(() => {
    if (request.complete) end();
    else request.once('end', end);
  });
}

function resetLater(request: IncomingMessage): void {
  const timer = setTimeout(refuseRest, LINGER_MS, request).unref();
  request.once('close', () => {
    clearTimeout(timer);
  });
}
