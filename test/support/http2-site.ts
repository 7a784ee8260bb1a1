import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { createNodeHandler } from 'agent-bff/node';
import { onTestFinished } from 'vitest';
import { nodeListener } from '../../src/adapters/node/node-listener.js';
import type { HttpBody, HttpHandler, HttpResponse } from '../../src/ports/http.js';
import { type Framework, nobody } from '../site/framework.js';
import { startWorld, type World, type WorldOptions } from '../site/world.js';
import { Http2Visitor } from './http2-visitor.js';

/** The routes behind `node:http2`, without encryption. */
export const http2Site: Framework = {
  name: 'node:http2',
  parsesJson: false,
  start: async ({ toolkit, auth = nobody }) => {
    const handler = createNodeHandler({ toolkit, service: { auth } });
    const server = createServer((request, response) => {
      handler(request, response, () => response.end('host'));
    });
    return { url: await listen(server, 'http'), close: () => close(server) };
  },
};

/** A site over HTTP/2 without encryption, and its visitor. */
export async function startSite(
  options: WorldOptions = {},
): Promise<{ readonly world: World; readonly visitor: Http2Visitor }> {
  const world = await startWorld(http2Site, options);
  return { world, visitor: await arrive(world.url) };
}

/** A visitor of such a site who reads a stream: the visitor's end and the agent's. */
export async function startStream(headers: Record<string, string> = {}) {
  const { world, visitor } = await startSite();
  world.upstream.willWait();
  const visit = visitor.start();
  const exchange = await world.upstream.next();
  exchange.eventStream(headers);
  return { world, visitor, exchange, reply: await visit.reply };
}

/** A visitor of a site with one handler at `/api/a2a`. */
export async function visitorOf(handler: HttpHandler): Promise<Http2Visitor> {
  const listener = nodeListener([{ mount: '/api/a2a', handler }], () => Promise.resolve(answer('otherwise')));
  const server = createServer((request, response) => listener(request, response));
  const url = await listen(server, 'http');
  onTestFinished(() => close(server));
  return arrive(url);
}

/** A visitor who is disconnected after the test. */
export async function arrive(url: string, options = {}): Promise<Http2Visitor> {
  const visitor = await Http2Visitor.arrive(url, options);
  onTestFinished(() => visitor.leave());
  return visitor;
}

/** Serves on a free port of this machine. */
export async function listen(server: Server, scheme: string): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `${scheme}://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

export async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  await closed;
}

export function answer(body: HttpBody, headers: HttpResponse['headers'] = {}, status = 200): HttpResponse {
  return { status, headers, body };
}
