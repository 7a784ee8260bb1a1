// `agent-bff init`: each starter is written, installed, checked and asked against the demo, and says how long that took.
// Its argument is the tarball, which stands for the release a stranger gets from npm.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const [tarball, ...chosen] = process.argv.slice(2);
const { bin } = JSON.parse(readFileSync('node_modules/agent-bff/package.json', 'utf8'));
const COMMAND = resolve('node_modules/agent-bff', bin['agent-bff']);
const NEXT_COMMANDS = /npm install\nnpx agent-bff demo --port 4000 .*\nnpm run dev /;
const running = [];

const demo = start(process.execPath, [COMMAND, 'demo', '--port', '0'], { cwd: tmpdir() });
const [, agent] = await said(demo, /demo: (http\S+)/);
try {
  for (const framework of chosen.length > 0 ? chosen : ['express', 'koa', 'next']) await tryStarter(framework);
} finally {
  for (const child of running) stop(child);
}

async function tryStarter(framework) {
  const folder = mkdtempSync(join(tmpdir(), `agent-bff-${framework}-`));
  const began = performance.now();
  const written = await run(process.execPath, [COMMAND, 'init', framework, '.'], folder);
  assert.match(written, NEXT_COMMANDS);
  await run('npm', ['install', '--no-audit', '--no-fund', resolve(tarball)], folder);
  const installed = performance.now();

  // The agent of .env stands at a port of its own here.
  const port = await freePort();
  const env = { A2A_URL: `${agent}/api/a2a`, PORT: String(port) };
  const site = start('npm', ['run', 'dev'], { cwd: folder, env });
  await said(site, /(http:\/\/localhost:\d+)/);
  const url = `http://localhost:${port}`;
  const pieces = await stream(url);
  const answered = performance.now();
  assert.ok(pieces.length > 3, `${pieces.length} pieces`);
  assert.match(pieces.join(''), /“Hello”/);
  assert.match(await (await fetch(url)).text(), /<script type="module">/);
  await stop(site);

  assert.match(await run('npm', ['run', 'doctor'], folder, env), /All is well\./);
  await run('npm', ['run', 'typecheck'], folder, env);
  await run('npm', ['run', 'build'], folder, env);
  const built = start('npm', ['start'], { cwd: folder, env });
  await said(built, /(http:\/\/localhost:\d+)/);
  assert.match((await stream(url)).join(''), /“Hello”/);
  await stop(built);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  const seconds = (from, to) => ((to - from) / 1000).toFixed(1);
  console.log(
    `${framework}: ${seconds(began, answered)} s from nothing to a streamed answer, ${seconds(began, installed)} s of it npm install`,
  );
}

/** The pieces of the answer, as the page asks for it. */
async function stream(url) {
  const message = { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] };
  const response = await fetch(`${url}/api/a2a`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', 'a2a-version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: { message } }),
  });
  assert.equal(response.headers.get('content-type'), 'text/event-stream', `status ${response.status}`);
  const events = (await response.text()).split('\n\n').filter((event) => event.startsWith('data:'));
  return events.flatMap((event) =>
    (JSON.parse(event.slice(5)).result.artifactUpdate?.artifact.parts ?? []).map(({ text }) => text),
  );
}

async function run(program, args, cwd, env = {}) {
  try {
    return (await promisify(execFile)(program, args, { cwd, env: { ...process.env, ...env } })).stdout;
  } catch (error) {
    throw new Error(`${program} ${args.join(' ')}: ${error.stdout}${error.stderr}`);
  }
}

/** A program with its children in a group of its own: npm starts others. */
function start(program, args, { cwd, env = {} }) {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  running.push(child);
  return child;
}

async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  process.kill(-child.pid, 'SIGTERM');
  await exit;
}

/** What a pattern finds in the output, or all of it when the program ends without. */
async function said(child, pattern) {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
  const ended = once(child, 'exit').then(() => assert.fail(text));
  for (;;) {
    const found = pattern.exec(text);
    if (found !== null) return found;
    await Promise.race([once(child.stdout, 'data'), ended]);
  }
}

async function freePort() {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
