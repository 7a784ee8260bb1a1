import fastify from 'fastify';
import { announce, options } from '../rival-process.mjs';
import { SCENARIOS } from '../scenarios.mjs';

const { answer, type } = SCENARIOS[options.scenario ?? 'chat'];
const text = answer.toString();
const app = fastify();
app.post('/api/a2a', (_request, reply) => reply.type(type).send(text));
await app.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 });
announce(app.server.address().port);
