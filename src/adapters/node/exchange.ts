import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { discard, type HttpBody, isStream } from '../../domain/shared/body.js';
import type { HttpResponse } from '../../ports/http.js';
import { type NodeBody, toNodeBody } from './body-stream.js';
import { closing, refuseRest, resetConnection, streamOf } from './http2-exchange.js';
import { drain, isComing, isWasteful } from './request.js';
import { writeHttpResponse } from './response.js';
import type { SendBudget } from './send-budget.js';

/** Takes requests through their handlers, and their responses to the connection. By its members: bundlers copy modules. */
export type Exchange = Pick<NodeExchange, keyof NodeExchange>;

/**
 * Exchanges whose waiting responses share one memory. Hosts are given it by the process's first toolkit: what only mounts routes loads
 * none of this.
 */
export class NodeExchange {
  readonly #memory: SendBudget;

  constructor(memory: SendBudget) {
    this.#memory = memory;
  }

  /** The response of a handler when it may be written, as its connection needs it; `undefined` when nothing is to be written. */
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

  async serve(request: IncomingMessage, response: ServerResponse, respond: () => Promise<HttpResponse>): Promise<void> {
    const given = await this.respond(request, response, respond);
    if (given !== undefined) writeHttpResponse(response, given, request.method ?? '', this.#memory);
  }

  /** The body of a response for a framework that writes to the socket itself. */
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

/** Responses that may wait on one connection; then it takes no further requests (RFC 9112 §9.3). */
const MAX_WAITING = 32;

const pipelines = new WeakMap<Socket, Pipeline>();

/**
 * The response to a pipelined request, in its turn. `undefined` when it is not to be sent: the connection has ended, or too many wait on it.
 * A request waits before it is handled, so one connection is one request of work; only one whose body must be read is handled at once, and its
 * response waits here: given to Node, it would pause the connection, and nobody would notice when the visitor leaves.
 */
async function pipelined(
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
async function beforeBodyEnds(
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
