import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpBody } from '../../domain/shared/body.js';
import type { HttpResponse } from '../../ports/http.js';
import { type NodeBody, toNodeBody } from './body-stream.js';
import { pipelined } from './pipeline.js';
import { isComing } from './request-body.js';
import type { SendBudget } from './send-budget.js';
import type { FlushableResponse } from './stream-writer.js';
import { beforeBodyEnds } from './unread-body.js';
import { writeHttpResponse } from './write-http-response.js';

/** Takes requests through their handlers, and their responses to the connection. */
export interface Exchange {
  /** The response of a handler when it may be written, as its connection needs it; `undefined` when nothing is to be written. */
  respond(
    request: IncomingMessage,
    response: ServerResponse,
    respond: () => Promise<HttpResponse>,
  ): Promise<HttpResponse | undefined>;
  /** Writes it; a body that streams goes on being written. */
  write(response: FlushableResponse, given: HttpResponse, method: string | undefined): void;
  /** Its body for a framework that writes to the socket itself. */
  body(body: HttpBody, response: ServerResponse, sendIdleMs: number): NodeBody;
}

/**
 * Exchanges whose waiting responses share one memory. Hosts are given it by the process's first toolkit: what only mounts routes loads
 * none of this.
 */
export class NodeExchange implements Exchange {
  readonly #memory: SendBudget;

  constructor(memory: SendBudget) {
    this.#memory = memory;
  }

  async respond(
    request: IncomingMessage,
    response: ServerResponse,
    respond: () => Promise<HttpResponse>,
  ): Promise<HttpResponse | undefined> {
    const isHttp1 = request.httpVersionMajor === 1;
    // What follows the last response of a connection is not processed (RFC 9112 §9.6).
    if (isHttp1 && (request.socket as IncomingMessage['socket'] | null)?.writableEnded) return undefined;
    const given =
      isHttp1 && isPipelined(request, response)
        ? await pipelined(request, response, this.#memory, respond)
        : await respond();
    return given !== undefined && isComing(request) ? beforeBodyEnds(request, response, given) : given;
  }

  write(response: FlushableResponse, given: HttpResponse, method: string | undefined): void {
    writeHttpResponse(response, given, method, this.#memory);
  }

  body(body: HttpBody, response: ServerResponse, sendIdleMs: number): NodeBody {
    return toNodeBody(body, response, sendIdleMs, this.#memory);
  }
}

/** True for a response that Node sends only after another one of its connection. */
function isPipelined({ socket }: IncomingMessage, response: ServerResponse): boolean {
  // A response without a socket may also be a host's own, which waits for no other. Node's sockets hold the response in turn.
  const inTurn = (socket as { readonly _httpMessage?: ServerResponse | null } | undefined)?._httpMessage;
  return inTurn !== undefined && inTurn !== null && inTurn !== response;
}
