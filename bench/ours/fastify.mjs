import { createNodeHandler } from 'agent-bff/node';
import { options, serve } from '../rival-process.mjs';
import { benchToolkit, peer } from './site.mjs';

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
await app.ready();
serve(app.routing);
