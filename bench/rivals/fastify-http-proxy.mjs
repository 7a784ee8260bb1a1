import httpProxy from '@fastify/http-proxy';
import fastify from 'fastify';
import { AUTHORIZATION, announce, upstreamOrigin, upstreamPath } from '../rival-process.mjs';

const app = fastify({ bodyLimit: 4 * 1024 * 1024 });
await app.register(httpProxy, {
  upstream: upstreamOrigin,
  prefix: '/api/a2a',
  rewritePrefix: upstreamPath,
  undici: { connections: 10_000, pipelining: 1, bodyTimeout: 0 },
  replyOptions: {
    rewriteRequestHeaders: (_original, headers) => ({ ...headers, authorization: AUTHORIZATION }),
  },
});
await app.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 });
announce(app.server.address().port);
