import { once } from 'node:events';
import { type IncomingMessage, request as open, type ServerResponse } from 'node:http';
import { listeningSite } from '../site/frameworks/listening-site.js';

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
  origin = '';
  close: () => Promise<void> = () => Promise.resolve();
  /** Requests so far, oldest first. */
  readonly heard: HeardRequest[] = [];

  /** Forwards to an origin. */
  static async start(target: string): Promise<Forwarder> {
    const forwarder = new Forwarder();
    const { url, close } = await listeningSite((incoming, response) => {
      void forwarder.#forward(target, incoming, response).catch(() => response.destroy());
    });
    return Object.assign(forwarder, { origin: url, close });
  }

  async #forward(target: string, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { method = '', url = '', headers } = incoming;
    const told = TOLD.filter((name) => headers[name] !== undefined).map((name) => [name, String(headers[name])]);
    this.heard.push({ method, target: url, headers: Object.fromEntries(told), body: body.toString() });
    const { host: _host, connection: _connection, ...fields } = headers;
    const upstream = open(target + url, { method, headers: fields, agent: false });
    response.once('close', () => upstream.destroy());
    upstream.once('error', () => response.destroy());
    upstream.end(body);
    const [answer] = (await once(upstream, 'response')) as [IncomingMessage];
    const { connection: _hop, ...answered } = answer.headers;
    response.writeHead(answer.statusCode ?? 0, answered);
    response.flushHeaders();
    for await (const chunk of answer) response.write(chunk);
    response.end();
  }
}
