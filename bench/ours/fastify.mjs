import { createNodeHandler } from 'agent-bff/node';
import { announce, options } from '../rival-process.mjs';
import { peer } from './peer.mjs';
import { benchToolkit } from './site.mjs';

const fastify = peer('fastify');
const handler = createNodeHandler({
  a2a: { strategy: 'service_account' },
  toolkit: benchToolkit({ a2aUrl: options.upstream }),
});
const app = fastify();
// The handler reads bodies itself.
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', (_request, _payload, done) => done(null));
app.all('/api/a2a', (request, reply) => {
  reply.hijack();
  handler(request.raw, reply.raw);
});
await app.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 });
announce(app.server.address().port);
