// npm run test:recipes [-- Hono Astro]: follows each recipe of docs/frameworks.md in an empty folder, with the commands and files of the
// page
// as written and the packed package. Then a browser requests the configuration, reads a stream and leaves in the middle of another.
// Then a page under the address of this machine in its network sends a message. Only the port differs. Prints one line with seconds for each.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeOf, temporaryFolder } from '../../scripts/temporary-site.mjs';
import { firstResponse, freePort, lanAddress } from './program.mjs';
import { cardOf, listen } from './site.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NODE_22 = '22.23.3';
const PATIENCE_MS = 60_000;
/** Files that the framework's own starter creates before the recipe begins. */
const PROJECTS = {
  SvelteKit: {
    packages: ['@sveltejs/kit', '@sveltejs/vite-plugin-svelte', 'svelte', 'vite'],
    files: { 'src/app.html': '<html><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>' },
  },
  'React Router': {
    // They require each other in exactly the same version.
    packages: [
      ...['@react-router/dev', '@react-router/node', '@react-router/serve', 'react-router'].map(
        (name) => `${name}@8.4.0`,
      ),
      'react',
      'react-dom',
    ],
    files: {
      'vite.config.ts':
        "import { reactRouter } from '@react-router/dev/vite';\nexport default { plugins: [reactRouter()] };",
      'app/root.tsx':
        "import { Outlet, Scripts } from 'react-router';\nexport default () => <html><body><Outlet /><Scripts /></body></html>;",
    },
  },
  Astro: { packages: ['astro'], files: {} },
};

const [introduction, ...sections] = readFileSync(join(ROOT, 'docs/frameworks.md'), 'utf8').split(/^## /m);
const recipes = sections.flatMap((section) => {
  const [name] = section.split('\n', 1);
  const text = section.split(/^### /m)[0];
  const commands = /^```bash\n([\s\S]*?)^```$/m.exec(text)?.[1].trim().split('\n');
  return commands === undefined ? [] : [{ name, text, commands }];
});
const asked = process.argv.slice(2);
const chosen = recipes.filter(({ name }) => asked.length === 0 || asked.includes(name));
assert.notEqual(chosen.length, 0, `the recipes are: ${recipes.map(({ name }) => name).join(', ')}`);

let site;
process.once('exit', stop);
const folder = temporaryFolder('recipes');
const [{ filename }] = JSON.parse(shell(`npm pack '${ROOT}' --json --pack-destination '${folder}'`, folder));
const exchanges = [];
const agent = await startAgent();
const failed = [];
for (const recipe of chosen) {
  const seconds = stopwatch();
  try {
    console.log(`${recipe.name}: ${await run(recipe)}; ${seconds()} s`);
  } catch (error) {
    failed.push(recipe.name);
    console.log(`${recipe.name}: failed after ${seconds()} s: ${error.message}\n${error.stdout ?? ''}`);
  }
  stop();
}
await agent.close();
console.log(`${chosen.length - failed.length} passed, ${failed.length} failed`);
process.exit(failed.length === 0 ? 0 : 1);

async function run({ name, text, commands }) {
  const cwd = join(folder, name.replaceAll(/\W/g, '-'));
  const port = String(await freePort());
  const { packages = [], files = {} } = PROJECTS[name] ?? {};
  const written = { 'package.json': '{ "type": "module" }', ...files, ...filesOf(text) };
  for (const [file, code] of Object.entries(written)) {
    mkdirSync(dirname(join(cwd, file)), { recursive: true });
    writeFileSync(join(cwd, file), code.replaceAll('3000', port));
  }
  const env = {
    ...process.env,
    ...(text.includes('on Node 22') && { PATH: `${await node22()}${delimiter}${process.env.PATH}` }),
    A2A_URL: `${agent.url}/a2a`,
    SERVICE_API_KEY: 'the-key',
    PORT: port,
    NO_COLOR: '1',
  };
  if (packages.length > 0) shell(install(packages.join(' ')), cwd, env);
  const begun = stopwatch();
  const start = commands.at(-1);
  for (const command of commands.slice(0, -1)) {
    const [, names] = /^npm install (.*)$/.exec(command) ?? [];
    shell(names === undefined ? command : install(names.replace('agent-bff', `'${join(folder, filename)}'`)), cwd, env);
  }
  const built = begun();
  site = spawn(start.replaceAll('3000', port), {
    cwd,
    env,
    shell: true,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return `installed and built in ${built} s; ${await visit(`http://localhost:${port}`, start.includes('PUBLIC_URL'))}`;
}

/** The files of a recipe. A block without a name belongs to the server, and follows the lines that every server begins with. */
function filesOf(text) {
  const files = filesNamed(text);
  if (files['server.js'] === undefined) return files;
  const shared = filesNamed(introduction);
  return { ...shared, ...files, 'server.js': shared['server.js'] + files['server.js'] };
}

/** The paragraph before a block begins with the name of its file; the first block without one is the server. */
function filesNamed(text) {
  const files = {};
  for (const [, paragraph, code] of text.matchAll(/([^\n]*)\n\n```(?:ts|js)\n([\s\S]*?)^```$/gm)) {
    const [, name = 'server.js'] = /^`([^`]+\.m?[jt]s)`/.exec(paragraph) ?? [];
    files[name] ??= code;
  }
  return files;
}

/** The requests of a page; each wait ends with an event, or fails after a minute. */
async function visit(url, hasAddress) {
  let log = '';
  for (const output of [site.stdout, site.stderr]) output.on('data', (chunk) => (log += chunk));
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const ended = once(site, 'exit').then(() => assert.fail('the site ended'));
  ended.catch(() => undefined);
  try {
    const config = await Promise.race([firstResponse(`${url}/api/a2a/config`, signal), ended]);
    assert.equal(config.status, 200);
    const { a2aEndpoint, agentCard } = await config.json();
    assert.deepEqual([a2aEndpoint, agentCard.url], ['/api/a2a', `${url}/api/a2a`]);

    const stream = await openStream(url, signal);
    const first = stream.milliseconds();
    stream.exchange.write(event('two'));
    assert.match(await stream.read(), /two/);
    stream.exchange.end();
    assert.equal(await stream.read(), undefined);
    assert.equal(stream.exchange.req.headers['x-api-key'], 'the-key');

    // With a public address, only pages under that name may send messages.
    assert.equal(await fromNetwork(url, signal), hasAddress ? 403 : 200, 'a page in the network');

    const leaving = new AbortController();
    const { exchange } = await openStream(url, AbortSignal.any([signal, leaving.signal]));
    const gone = once(exchange, 'close', { signal });
    const left = stopwatch();
    leaving.abort();
    await gone;
    return `configuration, message from the network, stream (first event after ${first} ms), aborted request (${left('ms')} ms until the agent knew)`;
  } catch (error) {
    throw new Error(`${error.message}\n${log.slice(-2_000)}`, { cause: error });
  }
}

/** A stream whose first event has arrived while the agent holds the next one back. */
async function openStream(url, signal) {
  const message = { kind: 'message', role: 'user', messageId: '1', parts: [{ kind: 'text', text: 'Hello' }] };
  const milliseconds = stopwatch();
  const response = await fetch(`${url}/api/a2a`, {
    method: 'POST',
    // As a page of the site sends it.
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', origin: url },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/stream', params: { message } }),
    signal,
  });
  assert.equal(response.status, 200, `${response.status}: ${response.ok ? '' : await response.text()}`);
  assert.match(response.headers.get('content-type'), /^text\/event-stream/);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const read = async () => (await reader.read()).value;
  assert.match(await read(), /one/);
  return { exchange: exchanges.at(-1), read, milliseconds: () => milliseconds('ms') };
}

/** The status of a message from a page under this machine's address, over plain HTTP: its browser sends no Sec-Fetch-Site. */
async function fromNetwork(url, signal) {
  const host = `${lanAddress()}:${new URL(url).port}`;
  const message = { kind: 'message', role: 'user', messageId: '2', parts: [{ kind: 'text', text: 'Hello' }] };
  // Some servers of the recipes listen on localhost only, so the name is in the request alone.
  const sent = request(`${url}/api/a2a`, {
    method: 'POST',
    headers: { host, origin: `http://${host}`, 'content-type': 'application/json' },
    signal,
  });
  sent.end(JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'message/stream', params: { message } }));
  const [response] = await once(sent, 'response', { signal });
  if (response.statusCode === 200) exchanges.at(-1).end();
  response.resume();
  return response.statusCode;
}

/** An agent that sends one event and leaves the rest to the test. */
async function startAgent() {
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      response.setHeader('content-type', 'application/json').end(cardOf(request));
      return;
    }
    for await (const _ of request);
    exchanges.push(response);
    response.setHeader('content-type', 'text/event-stream').write(event('one'));
  });
  return listen(server);
}

function event(text) {
  const result = { kind: 'message', role: 'agent', messageId: text, parts: [{ kind: 'text', text }] };
  return `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result })}\n\n`;
}

/** The folder of Node 22, for recipes that do not run on older versions. */
async function node22() {
  const isNew = Number(process.versions.node.split('.')[0]) >= 22;
  return dirname(isNew ? process.execPath : await nodeOf(NODE_22));
}

/** Ends the site with its children. */
function stop() {
  if (site?.exitCode === null) process.kill(-site.pid, 'SIGKILL');
  site = undefined;
}

function install(packages) {
  return `npm install --no-audit --no-fund --loglevel=error ${packages}`;
}

function shell(command, cwd, env = process.env) {
  return execFileSync(command, { cwd, env, shell: true, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

function stopwatch() {
  const began = performance.now();
  return (unit = 's') => Math.round((performance.now() - began) / (unit === 's' ? 1_000 : 1));
}
