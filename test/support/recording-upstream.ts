import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createNetServer, type Socket } from 'node:net';
import { freePort } from './free-port.js';
import { closeAll, listening } from './listening.mjs';

/** A request as received on the wire. */
export interface RecordedRequest {
  readonly method: string;
  /** Raw path and query. */
  readonly target: string;
  /** Lower-case names in order of arrival, including repeated ones. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

/** One request to the upstream, with methods to respond to it. */
export class Exchange {
  readonly request: RecordedRequest;
  readonly response: ServerResponse;
  /** Resolves when the connection or the response has ended, on either side. */
  readonly closed: Promise<void>;
  readonly #socket: Socket;

  constructor(request: RecordedRequest, response: ServerResponse, socket: Socket) {
    this.request = request;
    this.response = response;
    this.closed = new Promise((resolve) => {
      response.once('close', resolve);
    });
    this.#socket = socket;
    response.on('error', () => undefined);
  }

  /** True if the site aborted the request before the response was complete. */
  get aborted(): boolean {
    return this.response.closed && !this.response.writableFinished;
  }

  /** All values of one field, in order of arrival. */
  values(name: string): readonly string[] {
    return this.request.fields.filter(([field]) => field === name).map(([, value]) => value);
  }

  /** Sends the head only. */
  head(status: number, headers: Record<string, string | readonly string[]> = {}): this {
    this.response.writeHead(status, headers as Record<string, string | string[]>).flushHeaders();
    return this;
  }

  /** Sends the head of a stream of events. */
  eventStream(headers: Record<string, string> = {}): this {
    return this.head(200, { 'content-type': 'text/event-stream', ...headers });
  }

  /** Sends one chunk of the body at once. */
  write(chunk: string | Uint8Array): this {
    this.response.write(chunk);
    return this;
  }

  end(chunk: string | Uint8Array = ''): void {
    this.response.end(chunk);
  }

  json(status: number, value: unknown, headers: Record<string, string | readonly string[]> = {}): void {
    this.head(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
  }

  /** Writes raw bytes to the socket, after the bytes written before. */
  raw(bytes: string | Uint8Array): this {
    return this.#onWire((socket) => socket.write(bytes));
  }

  /** Resets the connection, like a crashing process (RST). */
  reset(): void {
    this.#onWire((socket) => socket.resetAndDestroy());
  }

  /** Closes the connection (FIN), even if the response is incomplete. */
  fin(): void {
    this.#onWire((socket) => socket.end());
  }

  /** Node collects the chunks of one turn before it writes them to the socket, so this runs one turn later. */
  #onWire(act: (socket: Socket) => unknown): this {
    setImmediate(() => {
      act(this.#socket);
    });
    return this;
  }
}

/** Handles a request that the upstream has read. */
export type Answer = (exchange: Exchange) => void;

/** An agent over real sockets that records its requests and responds as the test defines. */
export class RecordingUpstream {
  readonly origin: string;
  /** Requests whose body has arrived, oldest first. */
  readonly requests: RecordedRequest[] = [];
  readonly #server: Server;
  readonly #held: Exchange[] = [];
  readonly #waiting: ((exchange: Exchange) => void)[] = [];
  #answer: Answer = answerWithTask;

  private constructor(server: Server, origin: string) {
    this.#server = server;
    this.origin = origin;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void this.#receive(request, response));
  }

  static async start(): Promise<RecordingUpstream> {
    const server = createServer();
    return new RecordingUpstream(server, await listening(server));
  }

  /** Connections open right now. */
  connections(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.getConnections((error, count) => {
        if (error === null) resolve(count);
        else reject(error);
      });
    });
  }

  /** Sets the response to later requests. Default: a JSON-RPC result with the request's id. */
  willAnswer(answer: Answer): void {
    this.#answer = answer;
  }

  /** Leaves later requests to the test, which gets them with `next`. */
  willWait(): void {
    this.#answer = (exchange) => {
      const waiting = this.#waiting.shift();
      if (waiting === undefined) this.#held.push(exchange);
      else waiting(exchange);
    };
  }

  /** Restores the default response for later requests. */
  willAnswerAgain(): void {
    this.#answer = answerWithTask;
  }

  /** Resolves with the oldest request that has no response yet. */
  next(): Promise<Exchange> {
    const held = this.#held.shift();
    return held === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(held);
  }

  close(): Promise<void> {
    return closeAll(this.#server);
  }

  async #receive(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
    } catch {
      return; // Aborted during its upload, so not a request.
    }
    const request: RecordedRequest = {
      method: incoming.method ?? '',
      target: incoming.url ?? '',
      fields: pairs(incoming.rawHeaders),
      body: Buffer.concat(chunks),
    };
    this.requests.push(request);
    // The request's own socket, as the response drops it when the site disconnects.
    this.#answer(new Exchange(request, response, incoming.socket));
  }
}

/** An address where no server listens yet, for a test that opens it later. Otherwise use the more reliable `refusedOrigin`. */
export async function freeOrigin(): Promise<string> {
  return `http://127.0.0.1:${String(await freePort('127.0.0.1'))}`;
}

/** Connections that reserve their ports for as long as this process runs. */
const taken: Socket[] = [];

/**
 * An address where no server listens: the local end of a connection. A port that was merely free a moment ago may
 * belong to another test by now.
 */
export async function refusedOrigin(): Promise<string> {
  const server = createNetServer((socket) => taken.push(socket.unref())).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(near, 'connect');
  taken.push(near.unref());
  server.close();
  return `http://127.0.0.1:${String(near.localPort)}`;
}

function answerWithTask(exchange: Exchange): void {
  // A request for a card has no body.
  const { id } = JSON.parse(exchange.request.body.toString() || '{}') as { id?: unknown };
  exchange.json(200, { jsonrpc: '2.0', id, result: { id: 'task-1' } });
}

function pairs(rawHeaders: readonly string[]): [string, string][] {
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name.toLowerCase(), rawHeaders[index + 1] ?? ''] as [string, string]] : [],
  );
}
