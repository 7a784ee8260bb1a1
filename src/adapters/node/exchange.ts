import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { discard, type HttpBody, isStream } from '../../domain/shared/body.js';
import { closing } from '../../domain/shared/message-fields.js';
import type { HttpResponse } from '../../ports/http.js';
import { type NodeBody, toNodeBody } from './body-stream.js';
import { refuseRest, streamOf } from './http2-exchange.js';
import { resetConnection, unlessClosed } from './http2-response.js';
import { drain, isComing, isWasteful } from './request.js';
import { writeHttpResponse } from './response.js';
import type { SendBudget } from './send-budget.js';

/** Passes requests to their handlers, and their responses to the connection. A structural type, because bundlers copy modules. */
export type Exchange = Pick<NodeExchange, keyof NodeExchange>;

/**
 * Exchanges whose waiting responses share one memory budget. The process's first toolkit passes it to the hosts, so
 * that code which only mounts routes does not load it.
 */
export class NodeExchange {
  readonly #memory: SendBudget;

  constructor(memory: SendBudget) {
    this.#memory = memory;
  }

  /** The response of a handler once it may be written, adapted to its connection; `undefined` if it must not be written. */
  async respond(
    request: IncomingMessage,
    response: ServerResponse,
    respond: () => Promise<HttpResponse>,
  ): Promise<HttpResponse | undefined> {
    const isHttp1 = request.httpVersionMajor === 1;
    // Requests after the last response of a connection are not processed (RFC 9112 §9.6).
    if (isHttp1 && (request.socket as IncomingMessage['socket'] | null)?.writableEnded) return undefined;
    const given =
      isHttp1 && isPipelined(request, response)
        ? await pipelined(request, response, this.#memory, respond)
        : await respond();
    // HTTP/2 has a frame for it instead of a field.
    if (given?.headers['connection'] === 'close') streamOf(response)?.session?.close();
    return given !== undefined && isComing(request) ? beforeBodyEnds(request, response, given) : given;
  }

  async serve(request: IncomingMessage, response: ServerResponse, respond: () => Promise<HttpResponse>): Promise<void> {
    const given = await this.respond(request, response, respond);
    if (given !== undefined) writeHttpResponse(response, given, request.method ?? '', this.#memory);
  }

  /** Resolves once all browsers that are still sending have had time to read their response. */
  async settled(): Promise<void> {
    for (const connection of lingering) await new Promise((resolve) => connection.once('close', resolve));
  }

  /** The body of a response for a framework that writes to the socket itself. */
  body(body: HttpBody, response: ServerResponse, sendIdleMs: number): NodeBody {
    return toNodeBody(body, response, sendIdleMs, this.#memory);
  }
}

/** True if Node sends this response only after another one of the connection. */
function isPipelined({ socket }: IncomingMessage, response: ServerResponse): boolean {
  // A response without a socket may also be a host's own, which waits for no other. Node's sockets refer to the response whose turn it is.
  const inTurn = (socket as { readonly _httpMessage?: ServerResponse | null } | undefined)?._httpMessage;
  return inTurn !== undefined && inTurn !== null && inTurn !== response;
}

/** Maximum number of responses waiting on one connection; then it accepts no further requests (RFC 9112 §9.3). */
const MAX_WAITING = 16;

const pipelines = new WeakMap<Socket, Pipeline>();

/**
 * The response to a pipelined request, in its turn; `undefined` if it must not be sent, because the connection has
 * ended or too many are waiting.
 *
 * A request waits before it is handled, so one connection causes the work of one request. Only a request whose body
 * must be read is handled at once, and its response waits here: passed to Node, it would pause the connection, and the
 * visitor's departure would go unnoticed.
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
  if (given !== undefined) {
    // An unread body would go on pausing the connection.
    if (!request.readableDidRead) drain(request);
    if (given.body !== null && !isStream(given.body)) share.set(headBytes(request) + given.body.length);
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

/** True if a body fills Node's read buffer: until it is read, Node does not read anything else from the connection. */
async function pausesConnection(request: IncomingMessage): Promise<boolean> {
  if (!isComing(request)) return false;
  // A short one is complete in the next turn.
  await new Promise(setImmediate);
  return isComing(request) || request.readableLength >= request.readableHighWaterMark;
}

function headBytes({ url = '', rawHeaders }: IncomingMessage): number {
  let bytes = url.length;
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

  /** Resolves with true when it is the response's turn, with false when the connection has ended; `undefined` if too many wait. */
  enter(response: ServerResponse): Promise<boolean> | undefined {
    if (this.#waiting.size === MAX_WAITING || this.#isFull) {
      // Further requests waited in middleware, or the runtime's parser does not stop.
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

  /** True for the last response of the connection. */
  isLast(response: ServerResponse): boolean {
    return this.#isFull && response === this.#newest;
  }

  /** Node only reports the end of a connection to the response whose turn it is. */
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
 * Stops parsing further requests of a connection but keeps reading it: data is dropped, and a departure is noticed. A
 * chunk holds up to 2,500 requests, and Node would create objects for all of them first: 300 such connections exhaust
 * the memory of a process. There is no public way to stop the parser; 2 is the value that its own callback returns for
 * an upgrade, after which it stops.
 */
function stopParsing(socket: Socket): void {
  const { parser } = socket as { readonly parser?: { onIncoming?: () => number } | null };
  if (parser !== undefined && parser !== null) parser.onIncoming = () => 2;
}

/** Milliseconds for which a browser may continue sending after its response is complete (RFC 9112 §9.6). */
const LINGER_MS = 1_000;
/** Maximum number of lingering connections; one more ends the oldest. */
const MAX_LINGERING = 256;

const lingering = new Set<Socket | Http2Stream>();

/**
 * A response to a request whose body is still arriving: its connection closes afterwards.
 *
 * The rest of the body is read and dropped for a second, or left unread if it is wasteful. Closing a connection with
 * unread bytes resets it, and a browser that is still sending would not see the response.
 */
async function beforeBodyEnds(
  request: IncomingMessage,
  response: ServerResponse,
  given: HttpResponse,
): Promise<HttpResponse> {
  // These turns read what the system has received, so a short body does not cost a connection.
  for (let turn = 0; turn < 2 && !isWasteful(request); turn += 1) await new Promise(setImmediate);
  if (!isComing(request)) return given;
  if (!request.readableDidRead) drain(request);
  const stream = streamOf(response);
  if (stream !== undefined) {
    // Node's response reports its end only once the stream has closed.
    stream.once('finish', () => {
      lingering.add(stream.once('close', () => lingering.delete(stream)));
      if (isWasteful(request)) refuseRest(request);
      else unlessClosed(request, LINGER_MS, () => refuseRest(request));
    });
    return given;
  }
  // Node calls it after the last response of a connection, and would close it.
  request.socket.destroySoon = () => {
    linger(request);
  };
  return closing(given);
}

function linger(request: IncomingMessage): void {
  const { socket } = request;
  const end = (): void => {
    socket.destroy();
  };
  unlessClosed(socket, LINGER_MS, end);
  socket.once('close', () => lingering.delete(socket));
  const [oldest] = lingering;
  if (lingering.size >= MAX_LINGERING && oldest !== undefined) {
    lingering.delete(oldest);
    oldest.destroy();
  }
  lingering.add(socket);
  socket.end(() => {
    if (request.complete) end();
    else request.once('end', end);
  });
}
