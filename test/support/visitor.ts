import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request as open } from 'node:http';

/** A request of a visitor's browser; by default one chat message. */
export interface VisitOptions {
  /** Default `POST`. */
  readonly method?: string;
  /** Raw path and query. Default `/api/a2a`. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Default: a request for a streamed answer, with id 7. */
  readonly body?: string | Uint8Array | null;
  /** Sends the body without a Content-Length. */
  readonly chunked?: boolean;
}

/** A running request that the visitor can abort at any time. */
export interface Visit {
  readonly reply: Promise<Reply>;
  readonly request: ClientRequest;
  leave(): void;
}

/** The end of a response. */
export interface Ending {
  readonly bytes: Buffer;
  /** True if the response was complete, by its length or last chunk. */
  readonly clean: boolean;
}

export const MESSAGE = JSON.stringify({
  jsonrpc: '2.0',
  id: 7,
  method: 'SendStreamingMessage',
  params: { message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] } },
});

/** Sends a request and resolves with the response once its head has arrived. */
export function visit(url: string, options: VisitOptions = {}): Promise<Reply> {
  return startVisit(url, options).reply;
}

/** Sends a request and leaves the rest to the test. */
export function startVisit(url: string, options: VisitOptions = {}): Visit {
  const { method = 'POST', path = '/api/a2a', headers = {}, chunked = false } = options;
  const bytes = bodyOf(options);
  const length = bytes === undefined || chunked ? {} : { 'content-length': String(bytes.length) };
  const { hostname, port } = new URL(url);
  const request = open({
    hostname,
    port,
    method,
    path,
    agent: false,
    headers: { ...(bytes === undefined ? {} : { 'content-type': 'application/json' }), ...length, ...headers },
  });
  const reply = new Promise<Reply>((resolve, reject) => {
    request.on('response', (response) => {
      resolve(new Reply(response));
    });
    request.on('error', reject);
  });
  // A visitor who leaves on purpose ignores the response.
  reply.catch(() => undefined);
  request.end(bytes);
  return {
    reply,
    request,
    leave: () => {
      request.destroy();
    },
  };
}

function bodyOf({ method = 'POST', body }: VisitOptions): Buffer | undefined {
  if (body === null || (body === undefined && method !== 'POST')) return undefined;
  return Buffer.from(body ?? MESSAGE);
}

/** A response whose head has arrived. The body is read only on demand. */
export class Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly #response: IncomingMessage;
  readonly #chunks: Buffer[] = [];
  readonly #over: Promise<boolean>;
  #onChange: (() => void) | undefined;

  constructor(response: IncomingMessage) {
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    this.#response = response;
    response.on('error', () => undefined);
    this.#over = new Promise((resolve) => {
      response.once('close', () => {
        resolve(response.complete);
        this.#onChange?.();
      });
    });
  }

  /** The received body, once the response has ended. */
  async ending(): Promise<Ending> {
    this.#read();
    const clean = await this.#over;
    return { bytes: this.#soFar(), clean };
  }

  /** The whole body. Fails if the response was cut. */
  async text(): Promise<string> {
    const { bytes, clean } = await this.ending();
    if (!clean) throw new Error(`the answer was cut after: ${bytes.toString()}`);
    return bytes.toString();
  }

  async json<T = unknown>(): Promise<T> {
    return JSON.parse(await this.text()) as T;
  }

  /** The received text, once it contains `text` this many times. */
  async until(text: string, times = 1): Promise<string> {
    await this.untilSeen((bytes) => bytes.toString().split(text).length > times, JSON.stringify(text));
    return this.#soFar().toString();
  }

  /** Resolves when the received bytes satisfy a condition. */
  async untilSeen(isEnough: (bytes: Buffer) => boolean, what = 'what was awaited'): Promise<void> {
    this.#read();
    while (!isEnough(this.#soFar())) {
      if (this.#response.closed) throw new Error(`the answer ended without ${what}: ${this.#soFar().toString()}`);
      await new Promise<void>((resolve) => {
        this.#onChange = resolve;
      });
    }
  }

  leave(): void {
    this.#response.destroy();
  }

  #read(): void {
    if (this.#response.listenerCount('data') > 0) return;
    this.#response.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#onChange?.();
    });
  }

  #soFar(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}
