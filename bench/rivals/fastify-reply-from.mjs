import replyFrom from '@fastify/reply-from';
import fastify from 'fastify';
import { AUTHORIZATION, announce, upstreamOrigin, upstreamPath } from '../rival-process.mjs';

const app = fastify({ bodyLimit: 4 * 1024 * 1024 });
// Bodies stream through: the plugin's own advice for whoever does not look into them.
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
await app.register(replyFrom, { base: upstreamOrigin, undici: { connections: 10_000, pipelining: 1, bodyTimeout: 0 } });
app.post('/api/a2a', (_request, reply) =>
  reply.from(upstreamPath, {
    rewriteRequestHeaders: (_original, headers) => ({ ...headers, authorization: AUTHORIZATION }),
  }),
);
await app.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 });
announce(app.server.address().port);
