import { once } from 'node:events';

/** Lets a server listen on a free port of this machine; its address. */
export async function listening(server, backlog) {
  server.listen({ port: 0, host: '127.0.0.1', backlog });
  await once(server, 'listening');
  return `http://127.0.0.1:${server.address().port}`;
}

/** Ends a server and its connections. */
export async function closeAll(server) {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
