import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { createServer as createHttp2Server } from 'node:http2';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HttpBody, HttpHandler } from '../../src/ports/http.js';
import { close, listen } from './http2-site.js';
import { StalledVisitor } from './stalled-visitor.js';
import { visit } from './visitor.js';

export const LONG = Buffer.alloc(33_554_432, 'x');
export const PATH = '/api/a2a/long';

export type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** Responds to `/long` with the given body, and to other paths with `short`. */
export const handlerOf = (body: () => HttpBody, sendIdleMs: number): HttpHandler => {
  return ({ path }) =>
    Promise.resolve({ status: 200, headers: {}, body: path === '/long' ? body() : 'short', sendIdleMs });
};

/** A server that records when the response to `/long` has closed. */
export async function serve(server: Server | ReturnType<typeof createHttp2Server>, listener: Listener) {
  let ended: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => (ended = resolve));
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === PATH) response.once('close', ended);
    listener(request, response);
  });
  const url = await listen(server, 'http');
  onTestFinished(async () => {
    if ('closeAllConnections' in server) server.closeAllConnections();
    await close(server);
  });
  return { url, closed };
}

/** The handling of a complete body by a host, at `/api/a2a/long`. */
export function wholeBodySuite(listenerOf: (handler: HttpHandler) => Listener): void {
  describe('a body passed to the host in one piece', () => {
    it.each<[string, HttpBody]>([
      ['text', LONG.toString()],
      ['bytes', LONG],
    ])('of %s is cut when the browser does not read it', async (_kind, body) => {
      const listener = listenerOf(handlerOf(() => body, 200));
      const { url, closed } = await serve(createServer(), listener);
      const visitor = await StalledVisitor.arrive(url, PATH);
      await closed;
      expect(await visitor.readOn()).toBeLessThan(LONG.length);
    });

    it('arrives completely at a browser that reads slowly', async () => {
      const listener = listenerOf(handlerOf(() => LONG, 1_000));
      const { url } = await serve(createServer(), listener);
      const visitor = await StalledVisitor.arrive(url, PATH);
      const other = async (): Promise<string> => (await visit(url, { path: '/api/a2a' })).text();
      expect(await visitor.readSlowly(LONG.length, 2_000, other)).toBeGreaterThanOrEqual(LONG.length);
      visitor.leave();
    });
  });
}
