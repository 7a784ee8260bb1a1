// A platform on loopback, and a visitor who uses the chat, its configuration and a widget of a site that runs anywhere.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { freePort, started } from '../program.mjs';
import { cardOf, listen, sendMessage } from '../site.mjs';

/** An agent and a platform, and the environment of a site that uses both. */
export async function startPlatform() {
  const server = createServer(async (request, response) => {
    const { url, headers, method } = request;
    const json = (body) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    for await (const chunk of request) void chunk;
    if (url.startsWith('/a2a') && method === 'POST') {
      if (/^Bearer (?:ey|demo-)/.test(headers.authorization))
        json({ jsonrpc: '2.0', id: 1, result: { kind: 'message' } });
      else response.writeHead(401).end();
    } else if (url.includes('agent-card')) {
      response.setHeader('content-type', 'application/json').end(cardOf(request));
    } else if (url.endsWith('/render')) {
      json({ surface: { id: 'counter', name: 'counter', version: 1 }, content: '<p>one</p>' });
    } else if (url.endsWith('.css')) {
      response.setHeader('content-type', 'text/css').end(':root { --brand: red }');
    } else json({});
  });
  const { url, close } = await listen(server);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    close,
    env: {
      A2A_URL: `${url}/a2a`,
      SERVICE_API_URL: `${url}/platform`,
      SERVICE_API_KEY: 'the-key',
      SERVICE_PROJECT_ID: 'project',
      SERVICE_AUTH_STRATEGY: 'service_account',
      A2A_CONVERSATIONS: 'open',
      SERVICE_ACCOUNT_ID: 'site',
      SERVICE_ACCOUNT_PRIVATE_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    },
  };
}

/** A Redis on loopback, and the environment of a site that uses it. */
export async function startRedis(program) {
  const port = await freePort();
  const child = spawn(program, ['--bind', '127.0.0.1', '--port', port, '--save', '', '--appendonly', 'no'].map(String));
  process.once('exit', () => child.kill());
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    if (String(chunk).includes('Ready to accept connections')) break;
  }
  child.stdout.resume();
  return {
    env: { CACHE_URL: `redis://127.0.0.1:${port}`, CACHE_KEYS: randomBytes(32).toString('base64') },
    /** Resolves when the site is connected. */
    async used() {
      const socket = connect(port, '127.0.0.1');
      const deadline = Date.now() + 5_000;
      try {
        for (;;) {
          socket.write('CLIENT LIST\r\n');
          const [list] = await once(socket, 'data');
          if (String(list).split(' addr=').length > 2) return;
          assert.ok(Date.now() < deadline, 'the site did not connect to Redis');
          await after(50);
        }
      } finally {
        socket.destroy();
      }
    },
    close: () => child.kill(),
  };
}

/** Starts a site and uses it while it runs; it must report no fault. */
export async function withSite(command, { cwd, env }, use) {
  const { url, stop, written } = await started(command, cwd, env);
  try {
    await use(url, written);
    // On a busy machine a call of the store may take longer than its 50 ms.
    assert.doesNotMatch(written().replace(/.*\(Error TIMEOUT[^)]*\)/g, ''), /AGENT_BFF|agent-bff:/, written());
  } catch (error) {
    error.message += `\n${written().slice(0, 2_000)}`;
    throw error;
  } finally {
    await stop();
  }
}

/** A visitor of the page: the configuration, a message, a widget and its theme. */
export async function visit(url) {
  const config = await fetch(`${url}/api/a2a/config`);
  assert.equal(config.status, 200, await config.clone().text());
  assert.equal((await config.json()).agentCard.name, 'Agent');
  assert.match(await sendMessage(url), /"result"/);
  const headers = { 'content-type': 'application/json' };
  const widget = `${url}/api/service-surfaces/counter`;
  const render = await fetch(`${widget}/render`, { method: 'POST', headers, body: '{}' });
  assert.equal(render.status, 200, await render.clone().text());
  assert.equal((await render.json()).content, '<p>one</p>');
  const theme = await fetch(`${widget}/theme.css`);
  const rules = await theme.text();
  assert.match(rules, /--brand: ?red/, rules);
}
