import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { discard, isStream } from '../../domain/shared/body.js';
import type { HttpResponse } from '../../ports/http.js';
import { closing, resetConnection } from './http2-exchange.js';
import { isComing } from './request-body.js';
import type { SendBudget } from './send-budget.js';

/** Responses that may wait on one connection; then it takes no further requests (RFC 9112 §9.3). */
const MAX_WAITING = 32;

const pipelines = new WeakMap<Socket, Pipeline>();

/**
 * The response to a pipelined request, in its turn. `undefined` when it is not to be sent: the connection has ended, or too many wait on it.
 * A request waits before it is handled, so one connection is one request of work; only one whose body must be read is handled at once, and its
 * response waits here: given to Node, it would pause the connection, and nobody would notice when the visitor leaves.
 */
export async function pipelined(
  request: IncomingMessage,
  response: ServerResponse,
  budget: SendBudget,
  respond: () => Promise<HttpResponse>,
): Promise<HttpResponse | undefined> {
  const { socket } = request;
  let pipeline = pipelines.get(socket);
  if (pipeline === undefined) pipelines.set(socket, (pipeline = new Pipeline(socket)));
  const share = budget.share(response);
  const turn = pipeline.enter(response);
  if (turn === undefined) return undefined;
  share.set(headBytes(request));
  const early = (await pausesConnection(request)) ? respond() : undefined;
  const given = await early;
  if (given !== undefined && given.body !== null && !isStream(given.body)) {
    share.set(headBytes(request) + given.body.length);
  }
  const isInTurn = await turn;
  share.set(0);
  if (isInTurn) {
    const result = given ?? (await respond());
    return pipeline.isLast(response) ? closing(result) : result;
  }
  if (given !== undefined) discard(given.body);
  return undefined;
}

/** True for a body that fills what Node reads ahead: while nobody reads it, Node reads nothing else of the connection either. */
async function pausesConnection(request: IncomingMessage): Promise<boolean> {
  if (!isComing(request)) return false;
  // A short one is there in the next turn.
  await new Promise(setImmediate);
  return isComing(request) || request.readableLength >= request.readableHighWaterMark;
}

function headBytes({ rawHeaders }: IncomingMessage): number {
  let bytes = 0;
  for (const text of rawHeaders) bytes += text.length;
  return bytes;
}

/** The responses of one connection that wait for their turn. */
class Pipeline {
  readonly #socket: Socket;
  readonly #waiting = new Map<ServerResponse, (isInTurn: boolean) => void>();
  #newest: ServerResponse | undefined;
  #isFull = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.once('close', this.#end);
  }

  /** Resolves with true when it is the response's turn, with false when the connection has ended; `undefined` when too many wait. */
  enter(response: ServerResponse): Promise<boolean> | undefined {
    if (this.#waiting.size === MAX_WAITING || this.#isFull) {
      // What still comes waited in a middleware in front, or its runtime's parser does not stop.
      if (this.#isFull) resetConnection(this.#socket);
      this.#isFull = true;
      stopParsing(this.#socket);
      return undefined;
    }
    this.#newest = response;
    return new Promise((resolve) => {
      this.#waiting.set(response, resolve);
      response.once('socket', () => {
        this.#waiting.delete(response);
        resolve(true);
      });
    });
  }

  /** True when the response is the last one that the connection is for. */
  isLast(response: ServerResponse): boolean {
    return this.#isFull && response === this.#newest;
  }

  /** Node tells only the response in turn that its connection has ended. */
  readonly #end = (): void => {
    for (const [response, resolve] of this.#waiting) {
      response.destroy();
      response.emit('close');
      resolve(false);
    }
    this.#waiting.clear();
  };
}

/**
 * Takes no further requests of a connection, which is read on: what comes is dropped, and a departure is noticed.
 * A chunk holds up to 2,500 requests, which Node would all make objects of before it listens to anybody: the memory of 300 such connections ends
 * a process. It has no public way to stop; 2 is what its own callback returns for an upgrade, after which the parser reads no further.
 */
function stopParsing(socket: Socket): void {
  const { parser } = socket as { readonly parser?: { onIncoming?: () => number } | null };
  if (parser !== undefined && parser !== null) parser.onIncoming = () => 2;
}
