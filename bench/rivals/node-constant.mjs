import { options, serve } from '../rival-process.mjs';
import { SCENARIOS } from '../scenarios.mjs';

const { answer, type } = SCENARIOS[options.scenario ?? 'chat'];
serve((request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'content-type': type, 'content-length': answer.length });
    response.end(answer);
  });
});
