import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type SecureClientSessionOptions,
} from 'node:http2';
import { type Ending, MESSAGE } from './visitor.js';

/** A request of a browser; by default one chat message. */
export interface Http2VisitOptions {
  /** Default `POST`. */
  readonly method?: string;
  /** Default `/api/a2a`. */
  readonly path?: string;
  /** Header fields, and pseudo-header fields that differ from the default. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Default: a request for a streamed answer, with id 7. `null` sends no body. */
  readonly body?: string | null;
  /** Leaves the body open, so that the test writes the rest. */
  readonly unfinished?: boolean;
}

/** A running request on its own stream. */
export interface Http2Visit {
  readonly stream: ClientHttp2Stream;
  readonly reply: Promise<Http2Reply>;
  leave(): void;
}

/** The end of a stream. */
export interface StreamEnding extends Ending {
  /** The code of its reset; 0 without one (RFC 9113 §7). */
  readonly code: number;
}

/** A browser with one connection for all its requests. */
export class Http2Visitor {
  readonly session: ClientHttp2Session;

  private constructor(session: ClientHttp2Session) {
    this.session = session;
    session.on('error', () => undefined);
  }

  static async arrive(url: string, options: SecureClientSessionOptions = {}): Promise<Http2Visitor> {
    const session = connect(url, options);
    await once(session, 'connect');
    return new Http2Visitor(session);
  }

  start({
    method = 'POST',
    path = '/api/a2a',
    headers = {},
    body,
    unfinished = false,
  }: Http2VisitOptions = {}): Http2Visit {
    const text = body === undefined && method === 'POST' ? MESSAGE : (body ?? null);
    const type = text === null ? {} : { 'content-type': 'application/json' };
    const stream = this.session.request(
      { ':method': method, ':path': path, ...type, ...headers },
      { endStream: text === null && !unfinished },
    );
    const reply = new Promise<Http2Reply>((resolve, reject) => {
      stream.on('response', (fields) => {
        resolve(new Http2Reply(stream, fields[':status'] ?? 0, fields));
      });
      stream.on('error', reject);
      stream.on('close', () => {
        reject(new Error(`the stream was reset with code ${String(stream.rstCode)} before an answer`));
      });
    });
    // A visitor who leaves on purpose ignores the response.
    reply.catch(() => undefined);
    if (text !== null) stream.write(text);
    if (text !== null && !unfinished) stream.end();
    return {
      stream,
      reply,
      leave: () => {
        stream.close(constants.NGHTTP2_CANCEL);
      },
    };
  }

  visit(options: Http2VisitOptions = {}): Promise<Http2Reply> {
    return this.start(options).reply;
  }

  async leave(): Promise<void> {
    if (this.session.destroyed) return;
    const closed = once(this.session, 'close');
    this.session.destroy();
    await closed;
  }
}

/** A response whose head has arrived. The body is read only on demand. */
export class Http2Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly #stream: ClientHttp2Stream;
  readonly #chunks: Buffer[] = [];
  readonly #closed: Promise<unknown>;
  #hasEnded = false;
  #onChange: (() => void) | undefined;

  constructor(stream: ClientHttp2Stream, status: number, headers: IncomingHttpHeaders) {
    this.status = status;
    this.headers = headers;
    this.#stream = stream;
    stream.once('end', () => (this.#hasEnded = true));
    this.#closed = new Promise((resolve) => {
      stream.once('close', () => {
        resolve(undefined);
        this.#onChange?.();
      });
    });
  }

  /** The received body, once the stream has ended. */
  async ending(): Promise<StreamEnding> {
    this.#read();
    await this.#closed;
    const code = this.#stream.rstCode;
    return { bytes: Buffer.concat(this.#chunks), clean: this.#hasEnded && code === constants.NGHTTP2_NO_ERROR, code };
  }

  /** The whole body. Fails if the response was cut. */
  async text(): Promise<string> {
    const { bytes, clean, code } = await this.ending();
    if (!clean) throw new Error(`the answer was cut with code ${String(code)} after: ${bytes.toString()}`);
    return bytes.toString();
  }

  /** Resolves when the received body contains `text`. */
  async until(text: string): Promise<void> {
    this.#read();
    while (!Buffer.concat(this.#chunks).includes(text)) {
      if (this.#stream.closed) throw new Error(`the answer ended without ${JSON.stringify(text)}`);
      await new Promise<void>((resolve) => {
        this.#onChange = resolve;
      });
    }
  }

  leave(): void {
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  #read(): void {
    if (this.#stream.listenerCount('data') > 0) return;
    this.#stream.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#onChange?.();
    });
  }
}
