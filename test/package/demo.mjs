// Runs `agent-bff demo` as it is installed, without any other package.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

const { bin } = JSON.parse(readFileSync('node_modules/agent-bff/package.json', 'utf8'));
const child = spawn(process.execPath, [`node_modules/agent-bff/${bin['agent-bff']}`, 'demo', '--port', '0'], {
  stdio: ['ignore', 'pipe', 'pipe'],
});
let complained = '';
child.stderr.on('data', (chunk) => (complained += chunk));
const exit = once(child, 'exit');

const said = await Promise.race([once(child.stdout, 'data'), exit.then(() => [complained])]);
const [, url] = /demo: (http\S+)/.exec(String(said[0])) ?? [];
assert.ok(url, String(said[0]));
const page = await (await fetch(url)).text();
const [, script] = /src="([^"]+\.js)"/.exec(page) ?? [];
assert.equal((await fetch(new URL(script, url))).status, 200);
const { agentCard } = await (await fetch(`${url}/api/a2a/config`)).json();
assert.equal(agentCard.name, 'Demo agent');
// The first request of the README, with the demo as the agent.
const [, body] = / -d '(\{.*\})'/.exec(readFileSync('node_modules/agent-bff/README.md', 'utf8')) ?? [];
const headers = { 'content-type': 'application/json' };
assert.match(await (await fetch(`${url}/api/a2a`, { method: 'POST', headers, body })).text(), /“Hello”/);

// Two users, each with their own browser, and a record that only its owner can read.
const [ada, grace] = [browser(), browser()];
assert.equal(await ada.signIn('ada'), 'Ada Lovelace');
assert.equal(await grace.signIn('grace'), 'Grace Hopper');
await ada.send('/api/a2a', {
  method: 'POST',
  headers: { ...headers, 'a2a-version': '1.0' },
  body: message('My secret'),
});
assert.match(await records(ada), /My secret/);
assert.doesNotMatch(await records(grace), /My secret/);

child.kill('SIGTERM');
assert.deepEqual(await exit, [0, null]);

/** Keeps cookies by origin and follows redirects. */
function browser() {
  const jars = new Map();
  const send = async (address, init = {}) => {
    const { origin, href } = new URL(address, url);
    const jar = jars.get(origin) ?? new Map();
    jars.set(origin, jar);
    const cookie = [...jar].map((pair) => pair.join('=')).join('; ');
    const response = await fetch(href, { ...init, redirect: 'manual', headers: { ...init.headers, cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
      jar.set(name, value);
    }
    const location = response.headers.get('location');
    return location === null ? response : send(new URL(location, href).href);
  };
  const signIn = async (user) => {
    assert.equal((await send(`/auth/login?user=${user}`)).status, 200, complained);
    return (await (await send('/auth/me')).json()).user.name;
  };
  return { send, signIn };
}

async function records({ send }) {
  const { conversations } = await (await send('/api/service/conversations')).json();
  const pages = conversations.map(async ({ id }) => (await send(`/api/service/conversations/${id}/messages`)).text());
  return JSON.stringify(conversations) + (await Promise.all(pages)).join('');
}

function message(text) {
  const parts = [{ text }];
  const params = { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts } };
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params });
}
