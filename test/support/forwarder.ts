import { once } from 'node:events';
import { createServer, type IncomingMessage, request as open, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The visitor's part of a recorded request. */
export interface HeardRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Request fields that describe the visitor's message. */
const TOLD = ['accept', 'content-type', 'a2a-version', 'a2a-extensions', 'x-a2a-extensions', 'last-event-id'];

/** A minimal forwarder: passes every byte on and records the requests. */
export class Forwarder {
  readonly origin: string;
  /** Requests so far, oldest first. */
  readonly heard: HeardRequest[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  }

  /** Forwards to an origin. */
  static async start(target: string): Promise<Forwarder> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const forwarder = new Forwarder(server);
    server.on('request', (incoming: IncomingMessage, response) => {
      void (async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of incoming) chunks.push(chunk as Buffer);
        const body = Buffer.concat(chunks);
        forwarder.#hear(incoming, body);
        const { host: _host, connection: _connection, ...fields } = incoming.headers;
        const upstream = open(target + String(incoming.url), {
          method: incoming.method ?? 'GET',
          headers: fields,
          agent: false,
        });
        response.once('close', () => upstream.destroy());
        upstream.once('error', () => response.destroy());
        upstream.end(body);
        const [answer] = (await once(upstream, 'response')) as [IncomingMessage];
        const { connection: _hop, ...told } = answer.headers;
        response.writeHead(answer.statusCode ?? 0, told);
        response.flushHeaders();
        for await (const chunk of answer) response.write(chunk);
        response.end();
      })().catch(() => response.destroy());
    });
    return forwarder;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #hear({ method = '', url = '', headers }: IncomingMessage, body: Buffer): void {
    const told = TOLD.filter((name) => headers[name] !== undefined).map((name) => [name, String(headers[name])]);
    this.heard.push({ method, target: url, headers: Object.fromEntries(told), body: body.toString() });
  }
}
