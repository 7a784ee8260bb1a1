import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request whose body can be observed as it arrives. */
export class Upload {
  readonly #incoming: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #chunks: Buffer[] = [];
  readonly #over: Promise<void>;
  #onChange: (() => void) | undefined;

  constructor(incoming: IncomingMessage, response: ServerResponse) {
    this.#incoming = incoming;
    this.#response = response;
    this.#over = new Promise((resolve, reject) => {
      incoming.once('end', resolve).once('error', reject);
    });
    this.#over.catch(() => undefined);
    incoming.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#onChange?.();
    });
  }

  /** Resolves when this many bytes have arrived. */
  async untilLength(bytes: number): Promise<void> {
    while (this.#soFar().length < bytes) {
      if (this.#incoming.readableEnded) throw new Error('the body ended before');
      await new Promise<void>((resolve) => {
        this.#onChange = resolve;
      });
    }
  }

  /** The body, once it is complete. Rejects if it was aborted. */
  async whole(): Promise<Buffer> {
    await this.#over;
    return this.#soFar();
  }

  answer(status: number): void {
    this.#response.writeHead(status).end();
  }

  #soFar(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}

/** A platform that receives uploads as they arrive. It is closed after the test. */
export class StreamingPlatform {
  readonly origin: string;
  readonly #uploads: Upload[] = [];
  readonly #waiting: ((upload: Upload) => void)[] = [];

  private constructor(server: Server) {
    this.origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    server.on('request', (incoming, response) => {
      const upload = new Upload(incoming, response);
      const waiting = this.#waiting.shift();
      if (waiting === undefined) this.#uploads.push(upload);
      else waiting(upload);
    });
  }

  static async start(): Promise<StreamingPlatform> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    return new StreamingPlatform(server);
  }

  /** The next upload, once its head has arrived. */
  next(): Promise<Upload> {
    const upload = this.#uploads.shift();
    return upload === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(upload);
  }
}
