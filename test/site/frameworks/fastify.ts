import type { AddressInfo } from 'node:net';
import { createNodeHandler } from 'agent-bff/node';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { type Framework, nobody } from '../framework.js';

/** Plugins in front of the routes. */
export type FastifyPlugins = (app: FastifyInstance) => unknown;

/** Fastify 5 with the routes in a separate plugin that does not parse bodies. */
export function fastifySite(name: string, plugins?: FastifyPlugins): Framework {
  return {
    name,
    parsesJson: false,
    start: async ({ toolkit, before, auth = nobody, cache }) => {
      const app = fastify({ forceCloseConnections: true });
      await plugins?.(app);
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
        const routed = new WeakSet<FastifyRequest>();
        routes.addHook('onSend', (request, reply, payload, next) => {
          if (payload !== undefined || !routed.has(request)) {
            next();
            return;
          }
          reply.hijack();
          for (const [field, value = ''] of Object.entries(reply.getHeaders())) reply.raw.setHeader(field, value);
          handler(request.raw, reply.raw);
        });
        for (const path of ['/api/a2a', '/api/service-surfaces', '/api/service']) {
          for (const url of [path, `${path}/*`]) {
            routes.all(url, (request, reply) => {
              routed.add(request);
              reply.send();
            });
          }
        }
        routes.all('/.well-known/agent-card.json', (request, reply) => {
          request.raw.url = `/api/a2a${request.url}`;
          routed.add(request);
          reply.send();
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
