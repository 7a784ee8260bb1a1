import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { discard, isStream } from '../../domain/shared/body.js';
import type { HttpResponse } from '../../ports/http.js';
import { closing } from './http2-exchange.js';
import { resetConnection, type SendBudget } from './send-budget.js';

/** Responses that may wait on one connection; then it takes no further requests (RFC 9112 §9.3). */
const MAX_WAITING = 32;
/** Requests that may arrive after that before the connection is reset: clients that pipeline without a limit. */
const MAX_IGNORED = 32;

const pipelines = new WeakMap<Socket, Pipeline>();

/**
 * The response to a pipelined request, in its turn. `undefined` when it is not to be sent: the connection has ended, or too many wait on it.
 * Until then nothing of it is given to Node, which would pause the connection for bytes that wait, and not notice when the visitor leaves.
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
  const given = await respond();
  if (given.body !== null && !isStream(given.body)) share.set(headBytes(request) + given.body.length);
  const isInTurn = await turn;
  share.set(0);
  if (isInTurn) return pipeline.isLast(response) ? closing(given) : given;
  discard(given.body);
  return undefined;
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
  #ignored = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.once('close', this.#end);
  }

  /** Resolves with true when it is the response's turn, with false when the connection has ended; `undefined` when too many wait. */
  enter(response: ServerResponse): Promise<boolean> | undefined {
    if (this.#ignored > 0 || this.#waiting.size === MAX_WAITING) {
      this.#ignored += 1;
      if (this.#ignored > MAX_IGNORED) resetConnection(this.#socket);
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
    return this.#ignored > 0 && response === this.#newest;
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
