// Shared by the package tests: an agent that responds, and a visitor who sends one message.
import { once } from 'node:events';
import { createServer } from 'node:http';

/** Serves on a free port. */
export async function listen(server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** An agent with a card, which responds to every message and records its credential. */
export async function startAgent() {
  const credentials = [];
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      const capabilities = { streaming: true };
      const card = { name: 'Agent', url: `http://${request.headers.host}/a2a`, protocolVersion: '0.3.0', capabilities };
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ ...card, version: '1' }));
      return;
    }
    credentials.push(request.headers.authorization ?? request.headers['x-api-key'] ?? '');
    request.resume();
    response.setHeader('content-type', 'application/json');
    response.end('{"jsonrpc":"2.0","id":1,"result":{"kind":"message"}}');
  });
  return { ...(await listen(server)), credentials };
}

/** The text of the answer to one chat message. */
export async function sendMessage(url, send = fetch) {
  const response = await send(`${url}/api/a2a`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'message/send',
      params: { message: { messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'Hello' }] } },
    }),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return response.text();
}
