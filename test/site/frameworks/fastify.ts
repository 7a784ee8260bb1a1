import type { AddressInfo } from 'node:net';
import { createNodeHandler } from 'agent-bff/node';
import fastify from 'fastify';
import { type Framework, nobody } from '../framework.js';

/** Fastify 5 with the routes in a separate plugin that does not parse bodies. */
export function fastifySite(name: string): Framework {
  return {
    name,
    parsesJson: false,
    start: async ({ toolkit, before, auth = nobody, cache }) => {
      const app = fastify({ forceCloseConnections: true });
      if (before !== undefined) {
        app.addHook('onRequest', ({ raw }, reply, done) => {
          before(raw, reply.raw, done);
        });
      }
      const handler = createNodeHandler({ toolkit, surfaces: { auth, cache }, service: { auth } });
      app.register((routes, _options, done) => {
        routes.removeAllContentTypeParsers();
        routes.addContentTypeParser('*', (_request, _body, parsed) => {
          parsed(null);
        });
        for (const path of ['/api/a2a', '/api/service-surfaces', '/api/service']) {
          for (const url of [path, `${path}/*`]) {
            routes.all(url, (request, reply) => {
              reply.hijack();
              handler(request.raw, reply.raw);
            });
          }
        }
        routes.all('/.well-known/agent-card.json', (request, reply) => {
          reply.hijack();
          request.raw.url = `/api/a2a${request.url}`;
          handler(request.raw, reply.raw);
        });
        done();
      });
      app.setNotFoundHandler((_request, reply) => reply.code(200).send('host'));
      await app.listen({ port: 0, host: '127.0.0.1' });
      const { port } = app.server.address() as AddressInfo;
      return { url: `http://127.0.0.1:${String(port)}`, close: () => app.close() };
    },
  };
}
