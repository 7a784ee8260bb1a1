import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { streamOf } from './http2-exchange.js';

/** Maximum number of requests of one connection without a complete response; one more ends the connection (decision 83). */
const MAX_UNANSWERED = 16;

const connections = new WeakMap<Socket, Connection>();

/**
 * The turn of a request on its HTTP/1.1 connection: true if it may be handled now, false if never, because its
 * connection has ended or too many wait on it.
 */
export function turnOf(request: IncomingMessage, response: ServerResponse): Promise<boolean> | boolean {
  // Some hosts create requests without a socket, or with a stand-in.
  const socket = request.socket as Socket | undefined;
  if (request.httpVersionMajor !== 1 || typeof socket?.once !== 'function') return true;
  let connection = connections.get(socket);
  if (connection === undefined) connections.set(socket, (connection = new Connection(socket)));
  return connection.turnOf(response);
}

/**
 * Calls `listener` when a response is over, sent or not. Node 20 and 22 emit no `close` on a response that waits for
 * another one of its connection when the browser leaves.
 */
export function onceOver(response: ServerResponse, listener: () => void): void {
  // It is emitted once, and `once` costs more.
  response.on('close', listener);
  if (response.socket === null) queueOf(response)?.onceClosed(response, listener);
}

/** True if Node sends another response of the connection first. */
export function isQueued(response: ServerResponse): boolean {
  return queueOf(response) !== undefined;
}

/** The connection of a response that waits for another one. */
function queueOf(response: ServerResponse): Connection | undefined {
  if (response.socket !== null || streamOf(response) !== undefined) return undefined;
  const socket = socketOf(response);
  return socket === undefined || socket.destroyed ? undefined : connections.get(socket);
}

/** True if no more of a response can be sent. */
export function isOver(response: ServerResponse): boolean {
  const { closed, destroyed } = streamOf(response) ?? response;
  return closed || destroyed || (response.socket === null && socketOf(response)?.destroyed === true);
}

/** The connection of a response, even before its turn; hosts may leave the request or its socket out. */
function socketOf({ req }: ServerResponse): Socket | undefined {
  return (req as Partial<IncomingMessage> | undefined)?.socket;
}

/** The requests of one HTTP/1.1 connection without a complete response. They are handled one after another. */
class Connection {
  readonly #socket: Socket;
  /** Handled, and not over. */
  readonly #handled: ServerResponse[] = [];
  readonly #waiting = new Map<ServerResponse, (isInTurn: boolean) => void>();
  readonly #listeners = new Set<() => void>();

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.once('close', () => {
      for (const resolve of this.#waiting.values()) resolve(false);
      for (const listener of this.#listeners) listener();
    });
  }

  turnOf(response: ServerResponse): Promise<boolean> | boolean {
    // Requests after the last response of a connection are not processed (RFC 9112 §9.6). One chunk can hold thousands.
    if (this.#socket.destroyed || this.#socket.writableEnded) return false;
    if (this.#handled.length + this.#waiting.size >= MAX_UNANSWERED) {
      stopParsing(this.#socket);
      this.#socket.destroy();
      return false;
    }
    response.on('close', () => {
      const at = this.#handled.indexOf(response);
      if (at >= 0) this.#handled.splice(at, 1);
      if (this.#waiting.size > 0) this.#goOn();
    });
    if (this.#handled.length === 0 || !this.#isBusy) {
      this.#handled.push(response);
      return true;
    }
    return new Promise((resolve) => {
      this.#waiting.set(response, resolve);
    });
  }

  onceClosed(response: ServerResponse, listener: () => void): void {
    this.#listeners.add(listener);
    response.once('close', () => this.#listeners.delete(listener));
  }

  /**
   * True if the response that Node is sending is one of these. Behind a response of the host's own, requests do not
   * wait: its end is not visible, and the host may pass requests on in another order.
   */
  get #isBusy(): boolean {
    for (const { socket } of this.#handled) if (socket !== null) return true;
    return false;
  }

  /** Node passes the connection to the next response before it reports that one is over. */
  #goOn(): void {
    const isEnded = this.#socket.destroyed || this.#socket.writableEnded;
    for (const [response, resolve] of this.#waiting) {
      if (this.#isBusy) return;
      this.#waiting.delete(response);
      if (!isEnded) this.#handled.push(response);
      resolve(!isEnded);
    }
  }
}

/**
 * Stops parsing the chunk that Node has read. It holds up to 1,500 requests, and Node would create 4 MB of objects for
 * them, which it frees in the next turn: 300 connections at once end a process with a small heap. There is no public
 * way; 2 is the value that the parser's own callback returns for an upgrade. Ends when Node stops at a closed socket.
 */
function stopParsing(socket: Socket): void {
  const { parser } = socket as { readonly parser?: { onIncoming?: () => number } | null };
  if (parser !== undefined && parser !== null) parser.onIncoming = () => 2;
}
