// npm run test:next [-- name …]: small sites of Next, from the README's own files, built with both bundlers and opened in Chromium.
// Each has an edge route, and a middleware.ts or proxy.ts: then Next compiles instrumentation.ts for the edge too.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { build } from './build.mjs';
import { ensureInstalled } from './installation.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const EXAMPLE = join(ROOT, 'examples/next');
const SITES = join(EXAMPLE, '.sites');
const NEXT = join(EXAMPLE, 'node_modules/next/dist/bin/next');
const WORDS = 'Hello from the agent.';
const BELOW_SHOP = { basePath: '/shop', trailingSlash: true };

/** The sites: the bundler, the file before the routes, and what is set in next.config.ts. */
const VARIANTS = [
  { name: 'turbopack-proxy', bundler: 'turbopack', before: 'proxy' },
  { name: 'webpack-middleware', bundler: 'webpack', before: 'middleware' },
  { name: 'turbopack-base-path', bundler: 'turbopack', before: 'middleware', config: BELOW_SHOP },
  { name: 'webpack-base-path', bundler: 'webpack', before: 'proxy', config: BELOW_SHOP },
  { name: 'turbopack-pages', bundler: 'turbopack', before: 'middleware', pages: true },
  { name: 'webpack-pages', bundler: 'webpack', before: 'proxy', pages: true },
];

const [instrumentation, route] = readmeFiles();

/** The code of README.md for Next. */
function readmeFiles() {
  const section = readFileSync(join(ROOT, 'README.md'), 'utf8')
    .split('\n### Next\n')[1]
    .split(/\n##+ /)[0];
  return [...section.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code);
}

function filesOf({ before, config = {}, pages = false }) {
  const settings = {
    ...config,
    turbopack: { root: ROOT },
    outputFileTracingRoot: ROOT,
    skipTrailingSlashRedirect: true,
  };
  const page =
    "import { A2AChat } from 'agent-bff-react';\nexport default function Page() {\n  return <main style={{ height: '90vh' }}><A2AChat /></main>;\n}\n";
  const style = "import 'agent-bff-react/style.css';\n";
  const frame = `${style}export default function Layout({ children }: { children: React.ReactNode }) {\n  return <html lang="en"><body>{children}</body></html>;\n}\n`;
  const app = `${style}import type { AppProps } from 'next/app';\nexport default function App({ Component, pageProps }: AppProps) {\n  return <Component {...pageProps} />;\n}\n`;
  return {
    'package.json': '{ "name": "site", "private": true, "type": "module" }',
    'tsconfig.json': readFileSync(join(EXAMPLE, 'tsconfig.json'), 'utf8').replace(/,\s*"paths": \{[^}]*\}/, ''),
    'next.config.ts': `export default ${JSON.stringify(settings)};\n`,
    'instrumentation.ts': instrumentation,
    'app/api/a2a/[[...path]]/route.ts': route,
    'app/edge/route.ts': "export const runtime = 'edge';\nexport const GET = () => new Response('edge');\n",
    [`${before}.ts`]: `import { NextResponse } from 'next/server';\nexport const ${before} = () => NextResponse.next();\nexport const config = { matcher: '/elsewhere' };\n`,
    ...(pages ? { 'pages/index.tsx': page, 'pages/_app.tsx': app } : { 'app/page.tsx': page, 'app/layout.tsx': frame }),
  };
}

/** Writes a site with copies of both packages: as installed, nothing is taken from their sources. */
function writeSite(folder, variant) {
  rmSync(folder, { recursive: true, force: true });
  for (const [path, text] of Object.entries(filesOf(variant))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  for (const [name, from] of [
    ['agent-bff', ROOT],
    ['agent-bff-react', join(ROOT, 'react')],
  ])
    for (const part of ['package.json', 'dist'])
      cpSync(join(from, part), join(folder, 'node_modules', name, part), { recursive: true });
}

/** Runs Next in a folder until it ends, or until it prints `until`. */
async function next(folder, args, until) {
  const env = { ...process.env, A2A_URL: `${agent.url}/a2a`, SERVICE_API_KEY: 'the-key', NEXT_TELEMETRY_DISABLED: '1' };
  const child = spawn(process.execPath, [NEXT, ...args], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  let found;
  const ready = new Promise((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        text += chunk;
        found = until?.exec(text) ?? undefined;
        if (found !== undefined) resolve();
      });
  });
  const ended = once(child, 'close');
  await Promise.race([ready, ended]);
  if (until === undefined ? child.exitCode !== 0 : found === undefined) throw new Error(text.slice(-2_000));
  return { found, stop: () => (child.kill('SIGTERM'), ended) };
}

/** A visitor sends a message in the chat and reads the answer; a client reads the card. */
async function visit(url, { config: { basePath = '' } = {} }) {
  const context = await browser.newContext();
  context.setDefaultTimeout(15_000);
  try {
    const page = await context.newPage();
    await page.goto(`${url}${basePath}/`);
    const input = page.locator('.a2a-panel textarea');
    await input.fill('Hello');
    await input.press('Enter');
    await page.locator('.a2a-message-agent').filter({ hasText: WORDS }).waitFor();
    const card = await (await fetch(`${url}${basePath}/api/a2a/.well-known/agent-card.json`)).json();
    if (new URL(card.url).pathname.replace(/\/$/, '') !== `${basePath}/api/a2a`)
      throw new Error(`The card names ${card.url}`);
    const edge = await (await fetch(`${url}${basePath}/edge`)).text();
    if (edge !== 'edge') throw new Error(`The edge route responds ${edge.slice(0, 200)}`);
  } finally {
    await context.close();
  }
}

/** An agent that responds to every message with the same words. */
async function startAgent() {
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      if (!request.url.includes('agent-card')) return response.writeHead(404).end();
      const card = {
        name: 'Agent',
        url: `${agent.url}/a2a`,
        protocolVersion: '0.3.0',
        capabilities: { streaming: true },
      };
      return response.setHeader('content-type', 'application/json').end(JSON.stringify(card));
    }
    let body = '';
    for await (const chunk of request) body += chunk;
    const result = { kind: 'message', messageId: 'a', role: 'agent', parts: [{ kind: 'text', text: WORDS }] };
    const message = JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(body).id, result });
    response.setHeader('content-type', 'text/event-stream').end(`data: ${message}\n\n`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${server.address().port}` };
}

async function tryVariant(variant) {
  const folder = join(SITES, variant.name);
  writeSite(folder, variant);
  const result = { site: variant.name, build: '–', seconds: '–', chat: '–' };
  try {
    const start = performance.now();
    await next(folder, ['build', `--${variant.bundler}`]);
    Object.assign(result, { build: '✓', seconds: Math.round((performance.now() - start) / 1000), chat: '✗' });
    const server = await next(
      folder,
      ['start', '--port', '0', '--hostname', '127.0.0.1'],
      /http:\/\/127\.0\.0\.1:\d+(?=\s)/,
    );
    try {
      await visit(server.found[0], variant);
      result.chat = '✓';
    } finally {
      await server.stop();
    }
  } catch (error) {
    if (result.build === '–') result.build = '✗';
    console.error(`${variant.name}: ${error.message}`);
  }
  return result;
}

await ensureInstalled();
if (!existsSync(NEXT)) await ensureInstalled(EXAMPLE);
for (const part of ['package', 'react']) if ((await build(part, { onlyIfNeeded: true })) !== 0) process.exit(1);

const chosen = process.argv.slice(2);
const agent = await startAgent();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
});
const results = [];
try {
  for (const variant of VARIANTS)
    if (chosen.length === 0 || chosen.includes(variant.name)) results.push(await tryVariant(variant));
} finally {
  await browser.close();
  agent.server.close();
  agent.server.closeAllConnections();
  rmSync(SITES, { recursive: true, force: true });
}
console.table(results);
const isGood = results.length > 0 && results.every(({ build: built, chat }) => built === '✓' && chat === '✓');
process.exitCode = isGood ? 0 : 1;
