import { Agent, request as send } from 'node:http';
import { AUTHORIZATION, options, serve } from '../rival-process.mjs';

const agent = new Agent({ keepAlive: true });
const HOP_BY_HOP = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'host'];

serve((request, response) => {
  const headers = { ...request.headers, authorization: AUTHORIZATION };
  for (const name of HOP_BY_HOP) delete headers[name];
  const outgoing = send(options.upstream, { method: request.method, agent, headers }, (answer) => {
    for (const name of HOP_BY_HOP) delete answer.headers[name];
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
    answer.on('error', () => response.destroy());
  });
  outgoing.on('error', () => response.destroy());
  response.on('close', () => outgoing.destroy());
  request.pipe(outgoing);
});
