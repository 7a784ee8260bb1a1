import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpResponse } from '../../ports/http.js';
import { pipelined } from './pipeline.js';
import { isComing } from './request-body.js';
import type { SendBudget } from './send-budget.js';
import { beforeBodyEnds } from './unread-body.js';

/** The response of a handler when it may be written, as its connection needs it; `undefined` when nothing is to be written. */
export async function exchange(
  request: IncomingMessage,
  response: ServerResponse,
  budget: SendBudget,
  respond: () => Promise<HttpResponse>,
): Promise<HttpResponse | undefined> {
  const isHttp1 = request.httpVersionMajor === 1;
  // What follows the last response of a connection is not processed (RFC 9112 §9.6).
  if (isHttp1 && (request.socket as IncomingMessage['socket'] | null)?.writableEnded) return undefined;
  const given =
    isHttp1 && isPipelined(request, response) ? await pipelined(request, response, budget, respond) : await respond();
  return given !== undefined && isComing(request) ? beforeBodyEnds(request, response, given) : given;
}

/** True for a response that Node sends only after another one of its connection. */
function isPipelined({ socket }: IncomingMessage, response: ServerResponse): boolean {
  // A response without a socket may also be a host's own, which waits for no other. Node's sockets hold the response in turn.
  const inTurn = (socket as { readonly _httpMessage?: ServerResponse | null } | undefined)?._httpMessage;
  return inTurn !== undefined && inTurn !== null && inTurn !== response;
}
