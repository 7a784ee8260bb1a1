// `agent-bff demo` as it is installed, with nothing beside the package.
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
// The first answer of the README: the demo as an agent.
const [, body] = / -d '(\{.*\})'/.exec(readFileSync('node_modules/agent-bff/README.md', 'utf8')) ?? [];
const headers = { 'content-type': 'application/json' };
assert.match(await (await fetch(`${url}/api/a2a`, { method: 'POST', headers, body })).text(), /“Hello”/);
child.kill('SIGTERM');
assert.deepEqual(await exit, [0, null]);
