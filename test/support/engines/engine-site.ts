import { once } from 'node:events';
import { createServer, type IncomingMessage, request as open, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

import { componentFiles, mediaTypeOf, POLICY } from '../component-files.js';
import { closeAll } from '../listening.mjs';

/**
 * The test page below `/page/`, with the strictest policy, in front of the routes of a site: for engines whose requests
 * cannot be intercepted.
 */
export class EngineSite {
  readonly url: string;
  /** Cuts the connection of every message to the agent. */
  isCut = false;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    // The name that the demo's cookies are for.
    this.url = `http://localhost:${String((server.address() as AddressInfo).port)}`;
  }

  /** Forwards all other requests to the site at `target`. */
  static async start(target: string): Promise<EngineSite> {
    const files = await componentFiles();
    const server = createServer().listen(0, 'localhost');
    await once(server, 'listening');
    const site = new EngineSite(server);
    server.on('request', (incoming: IncomingMessage, response: ServerResponse) => {
      const path = incoming.url ?? '';
      if (path.startsWith('/page/')) serveFile(files, path.replace(/^\/page\/|\?.*/g, ''), response);
      else if (site.isCut && path === '/api/a2a') incoming.socket.destroy();
      else forward(incoming, target + path, response);
    });
    return site;
  }

  close(): Promise<void> {
    return closeAll(this.#server);
  }
}

function serveFile(files: ReadonlyMap<string, string>, name: string, response: ServerResponse): void {
  const body = files.get(name);
  response.writeHead(body === undefined ? 404 : 200, {
    'content-type': mediaTypeOf(name),
    'content-security-policy': POLICY,
  });
  response.end(body);
}

function forward(incoming: IncomingMessage, url: string, response: ServerResponse): void {
  const upstream = open(url, { method: incoming.method ?? 'GET', headers: incoming.headers, agent: false });
  upstream.once('response', (answer) => {
    response.writeHead(answer.statusCode ?? 0, answer.headers);
    response.flushHeaders();
    pipeline(answer, response, () => undefined);
  });
  // A visitor who leaves ends the request.
  response.once('close', () => upstream.destroy());
  pipeline(incoming, upstream, (error) => {
    if (error) response.destroy();
  });
  upstream.once('error', () => response.destroy());
}
