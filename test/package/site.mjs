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

/** The card of the agent that a request has reached. */
export function cardOf({ headers: { host } }) {
  const capabilities = { streaming: true };
  return JSON.stringify({
    name: 'Agent',
    version: '1',
    url: `http://${host}/a2a`,
    protocolVersion: '0.3.0',
    capabilities,
  });
}

/** An agent with a card, which responds to every message after `delayMs` and records its credential. */
export async function startAgent() {
  const credentials = [];
  const agent = { credentials, delayMs: 0 };
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    if (request.method === 'GET') {
      response.end(cardOf(request));
      return;
    }
    credentials.push(request.headers.authorization ?? request.headers['x-api-key'] ?? '');
    request.resume();
    setTimeout(() => response.end('{"jsonrpc":"2.0","id":1,"result":{"kind":"message"}}'), agent.delayMs);
  });
  return Object.assign(agent, await listen(server));
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
