// A load balancer with sticky sessions: a cookie names the process of each visitor.
import { createServer, request as send } from 'node:http';
import { once } from 'node:events';

/** Serves at this port, and shares visitors among the processes at the others. */
export async function startBalancer(port, ports) {
  let visitors = 0;
  const server = createServer((request, response) => {
    const named = /(?:^|; )process=(\d)/.exec(request.headers.cookie ?? '')?.[1];
    const chosen = Number(named ?? (visitors += 1) % ports.length);
    const { method, url: path, headers } = request;
    const onward = send({ port: ports[chosen], method, path, headers }, (answer) => {
      const cookies = [...(answer.headers['set-cookie'] ?? []), `process=${chosen}; Path=/`];
      response.writeHead(answer.statusCode, { ...answer.headers, 'set-cookie': cookies });
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  server.listen(port);
  await once(server, 'listening');
  return () => {
    server.close();
    server.closeAllConnections();
  };
}
