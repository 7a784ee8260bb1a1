// Runs every block of the documents that is a whole server, as it stands, in the folder of the installation; only its ports
// and the agent differ. A page of the site sends a message under localhost, and one in the LAN under the address of this machine: over plain HTTP to such an
// address browsers send no Sec-Fetch-Site. Argument: the folder of the documents.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf, hasRun } from './blocks.mjs';
import { firstResponse, freePort, lanAddress } from './program.mjs';
import { sendMessage, startAgent } from './site.mjs';

const PATIENCE_MS = 20_000;
/** Blocks with a reason not to be run here, by file and heading. */
const ELSEWHERE = {
  'docs/frameworks.md HTTP/2': 'needs a certificate; test/adapters/node-http2.test.ts serves it',
  'docs/authentication/sessions.md Library by library': 'needs a provider; test/e2e/sessions-page.test.ts runs it',
};
/** Servers whose page says that other lines go before them: the first block of docs/frameworks.md. */
const CONFIGURED = /configureServer/;

const blocks = blocksOf(process.argv[2]);
const first = blocks.find(({ file }) => file === join('docs', 'frameworks.md'));
const servers = blocks.filter(
  (block) =>
    ['js', 'ts'].includes(block.language) &&
    /\.listen\(/.test(block.code) &&
    !isRecipe(block) &&
    block.file !== join('docs', 'chat.md'),
);
assert.ok(servers.length >= 6, `${servers.length} servers`);
const agent = await startAgent();
const lan = lanAddress();
let visited = 0;
for (const server of servers) await visit(server);
await next();
assert.deepEqual([...new Set(agent.credentials)].sort(), ['key', 'the-key']);
await agent.close();
console.log(`${visited} servers of the documents, visited as localhost and ${lan}: ok`);

async function visit({ file, heading, code }) {
  const name = `${file} ${heading}`;
  if (ELSEWHERE[name] !== undefined) return console.log(`${name}: not run here: ${ELSEWHERE[name]}`);
  const [port, second] = [await freePort(), await freePort()];
  const configured = CONFIGURED.test(code) ? code : first.code + code;
  const ready = configured.replaceAll('3000', port).replaceAll('8081', second);
  writeFileSync('server.mjs', ready.replaceAll('https://agent.example', agent.url));
  const child = spawn(process.execPath, ['server.mjs'], {
    env: { ...process.env, A2A_URL: `${agent.url}/a2a`, SERVICE_API_KEY: 'the-key' },
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
  const exit = once(child, 'exit');
  const ended = exit.then(() => assert.fail(`${name} ended`));
  try {
    await Promise.race([firstResponse(`http://localhost:${port}/`, AbortSignal.timeout(PATIENCE_MS)), ended]);
    for (const host of ['localhost', lan]) {
      const url = `http://${host}:${port}`;
      const config = await fetch(`${url}/api/a2a/config`);
      assert.equal(config.status, 200, `${name}, ${host}`);
      assert.match(await sendMessage(url, fromPage(url)), /"result"/, `${name}, ${host}`);
    }
    if (code.includes('8081')) assert.equal((await fetch(`http://localhost:${second}`)).status, 200, name);
    hasRun(code);
    visited += 1;
  } finally {
    ended.catch(() => undefined);
    process.kill(-child.pid, 'SIGKILL'); // with the workers of a cluster
    await exit;
  }
}

/** Runs the two files of the README for Next without Next, which is tested elsewhere. */
async function next() {
  const [instrumentation, route] = blocks.filter(({ file, heading }) => file === 'README.md' && heading === 'Next');
  writeFileSync('instrumentation.mjs', instrumentation.code.replace('(): Promise<void>', '()'));
  writeFileSync('route.mjs', route.code);
  Object.assign(process.env, { A2A_URL: `${agent.url}/a2a`, SERVICE_API_KEY: 'the-key', NEXT_RUNTIME: 'nodejs' });
  await (await import(join(process.cwd(), 'instrumentation.mjs'))).register();
  const { POST } = await import(join(process.cwd(), 'route.mjs'));
  assert.match(await sendMessage('http://site.example', (url, init) => POST(new Request(url, init))), /"result"/);
  hasRun(instrumentation.code, route.code);
}

/** Requests as a page of that origin sends them. */
function fromPage(origin) {
  return (url, init) => fetch(url, { ...init, headers: { ...init.headers, origin } });
}

/** Recipes of docs/frameworks.md with commands are run by recipes.mjs. */
function isRecipe({ file, heading }) {
  return (
    file === join('docs', 'frameworks.md') &&
    blocks.some((block) => block.file === file && block.heading === heading && block.language === 'bash')
  );
}
