// Counts the files, functions and calls of `src` that one warm request passes through (V8's precise coverage). Prints a
// table; `--files` lists them; `--check` fails if a number exceeds the table in ARCHITECTURE.md, or a file is missing
// in its diagrams.
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { Session } from 'node:inspector/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { listen } from '../test/package/site.mjs';
import { ROOT, runNode } from './command.mjs';

const TABLE = /<!-- request paths: start -->([\s\S]*?)<!-- request paths: end -->/;
const JSON_TYPE = { 'content-type': 'application/json' };
const MESSAGE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'message/send',
  params: { message: { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'Hello' }] } },
});
/** Requests before the first measured one, and measured ones: the smallest result contains no timer of another request. */
const WARM_UP = 20;
const COUNTED = 5;

// Separate files, so that the names are those of `src`; inside the project, because they import its packages.
mkdirSync(join(ROOT, 'temp'), { recursive: true });
const folder = mkdtempSync(join(ROOT, 'temp', 'request-paths-'));
const session = new Session();
try {
  const options = ['-p', 'tsconfig.json', '--outDir', folder];
  const status = await runNode(join(ROOT, 'node_modules/typescript/bin/tsc'), options, { cwd: ROOT });
  if (status !== 0) throw new Error('src does not compile');
  const paths = await measureAll();
  const table = tableOf(paths);
  console.log(table);
  if (process.argv.includes('--files')) console.log(paths.map(filesOf).join('\n'));
  if (process.argv.includes('--check')) check(paths);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measureAll() {
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const platform = await listen(createServer(respond));
  const agent = new Agent({ keepAlive: true });
  const sites = await Promise.all([expressSite(platform), nodeSite(platform)]);
  const routes = [
    ['Chat through Express', () => ask(agent, `${sites[0].url}/api/a2a`, MESSAGE)],
    ['Chat on behalf of a user, through Next', await nextRoute(platform)],
    [
      'Widget from the cache, through `node:http`',
      () => ask(agent, `${sites[1].url}/api/service-surfaces/w/render`, '{}'),
    ],
  ];
  const paths = [];
  for (const [name, send] of routes) paths.push({ name, ...(await measure(send)) });
  agent.destroy();
  await Promise.all([platform, ...sites].map(({ close }) => close()));
  session.disconnect();
  return paths;
}

/** The files of `src` a request passes through, each with its functions and their number of calls. */
async function measure(send) {
  for (let sent = 0; sent < WARM_UP; sent += 1) await send();
  let least;
  for (let sent = 0; sent < COUNTED; sent += 1) {
    await taken();
    await send();
    const files = await taken();
    const functions = files.flatMap(({ functions }) => functions);
    const calls = functions.reduce((sum, { count }) => sum + count, 0);
    if (least === undefined || calls < least.calls) least = { files, functions: functions.length, calls };
  }
  return least;
}

/** The calls since the last time. */
async function taken() {
  // Work after a response is part of the request: its connection returns to the pool.
  for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const base = pathToFileURL(folder).href;
  return result
    .filter(({ url }) => url.startsWith(base))
    .map(({ url, functions }) => ({
      file: url.slice(base.length + 1).replace(/\.js$/, '.ts'),
      functions: functions.map(({ functionName, ranges: [{ count }] }) => ({ name: functionName, count })),
    }))
    .map(({ file, functions }) => ({ file, functions: functions.filter(({ count }) => count > 0) }))
    .filter(({ functions }) => functions.length > 0)
    .toSorted((one, other) => one.file.localeCompare(other.file));
}

function tableOf(paths) {
  const rows = paths.map(
    ({ name, files, functions, calls }) => `| ${name} | ${files.length} | ${functions} | ${calls} |`,
  );
  return ['| One warm request | Files | Functions | Calls |', '| --- | --- | --- | --- |', ...rows, ''].join('\n');
}

function filesOf({ name, files }) {
  const lines = files.map(({ file, functions }) => {
    const calls = functions.map(
      ({ name: called, count }) => `${called || '(anonymous)'}${count > 1 ? ` ×${count}` : ''}`,
    );
    return `  src/${file}: ${calls.join(', ')}`;
  });
  return `${name}\n${lines.join('\n')}\n`;
}

function check(paths) {
  const page = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const written = TABLE.exec(page)?.[1] ?? '';
  const rows = written.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  const diagrams = [...page.matchAll(/^## Request path \d: (.*)\n\n```\n([^]*?)```/gm)];
  for (const { name, files, functions, calls } of paths) {
    const [, , diagram = ''] = diagrams.find(([, title]) => title.toLowerCase() === name.toLowerCase()) ?? [];
    const named = new Set(diagram.match(/[\w-]+/g));
    const unnamed = files.map(({ file }) => file).filter((file) => !named.has(basename(file, '.ts')));
    if (unnamed.length > 0) {
      console.error(`The diagram of "${name}" in ARCHITECTURE.md does not name ${unnamed.join(', ')}.`);
      process.exitCode = 1;
    }
    const row = rows.find((cells) => cells[1] === name);
    const limits = (row ?? []).slice(2, 5).map(Number);
    if ([files.length, functions, calls].every((count, at) => count <= limits[at])) continue;
    console.error(`"${name}" has grown beyond the table in ARCHITECTURE.md (${limits.join(', ') || 'no row'}).`);
    console.error('Shorten it, or put the new numbers there and say why in the commit.');
    process.exitCode = 1;
  }
}

/** An agent and a platform in one. */
function respond(incoming, response) {
  incoming.resume().on('end', () => {
    const isChat = incoming.url === '/a2a';
    const body = JSON.stringify(isChat ? { jsonrpc: '2.0', id: 1, result: { kind: 'task' } } : { ui: 'text' });
    response.writeHead(200, { ...JSON_TYPE, 'content-length': body.length });
    response.end(body);
  });
}

async function newToolkit({ url }, ports) {
  const { createToolkit } = await import(compiled('index'));
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' });
  return createToolkit(
    {
      a2aUrl: `${url}/a2a`,
      conversations: 'open',
      serviceApiUrl: url,
      serviceProjectId: 'p',
      telemetry: undefined,
      serviceAccount: { serviceAccountId: 'site', keyId: 'key', privateKeyPem },
    },
    ports,
  );
}

async function expressSite(platform) {
  const { createA2ARouter } = await import(compiled('express'));
  const { default: express } = await import('express');
  const app = express();
  app.use('/api/a2a', createA2ARouter(express, { toolkit: await newToolkit(platform) }));
  return listen(createServer(app));
}

async function nodeSite(platform) {
  const { createNodeHandler } = await import(compiled('node'));
  const surfaces = { cache: { enabled: true, freshMs: 3_600_000, maxAgeMs: 3_600_000 } };
  return listen(createServer(createNodeHandler({ toolkit: await newToolkit(platform), surfaces })));
}

async function nextRoute(platform) {
  const { createA2AProxyHandler } = await import(compiled('next'));
  const tokenExchange = {
    identity: () => ({ principal: 'exchange', proof: '' }),
    exchange: async (_, now) => ({ kind: 'token', token: { value: 'exchanged', expiresAt: now + 3_600_000 } }),
  };
  const toolkit = await newToolkit(platform, { tokenExchange });
  const payload = Buffer.from(JSON.stringify({ sub: 'user' })).toString('base64url');
  const { POST } = createA2AProxyHandler({ idp: () => `e30.${payload}.x`, exchange: 'on_behalf_of', toolkit });
  return async () => {
    const headers = { ...JSON_TYPE, origin: 'http://site.example', host: 'site.example' };
    const response = await POST(new Request('http://site.example/api/a2a', { method: 'POST', headers, body: MESSAGE }));
    await response.text();
    if (!response.ok) throw new Error(`status ${response.status}`);
  };
}

function compiled(entry) {
  return pathToFileURL(join(folder, 'composition', `${entry}.js`)).href;
}

async function ask(agent, url, body) {
  const sent = request(url, { agent, method: 'POST', headers: JSON_TYPE }).end(body);
  const [response] = await once(sent, 'response');
  await once(response.resume(), 'end');
  if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
}
