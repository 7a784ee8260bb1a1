// npm run test:next [-- name …]: small sites of Next, from the documents' own files, built with both bundlers and opened in Chromium.
// Each has an edge route, and a middleware.ts or proxy.ts: then Next compiles instrumentation.ts for the edge too. A visitor sends a
// message, leaves in the middle of another and comes back, and meets a site whose files are gone. Some pages misuse the package.
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join, relative } from 'node:path';
import { openBrowser } from '../test/package/browser.mjs';
import { started } from '../test/package/program.mjs';
import { cardOf, listen } from '../test/package/site.mjs';
import { ensureBuilt } from './build.mjs';
import { ROOT } from './command.mjs';
import { ensureInstalled } from './installation.mjs';
import { quietly } from './temporary-site.mjs';

const EXAMPLE = join(ROOT, 'examples/next');
const SITES = join(EXAMPLE, '.sites');
const NEXT = join(EXAMPLE, 'node_modules/next/dist/bin/next');
const WORDS = 'Hello from the agent.';
/** Instead of the route files in `app`: the site has `pages` only. */
const PAGES = '## The Pages Router';

/** The sites: the bundler, the file before the routes, and what is set in next.config.ts. */
const VARIANTS = ['turbopack', 'webpack'].flatMap((bundler) => {
  const [one, other] = bundler === 'webpack' ? ['middleware', 'proxy'] : ['proxy', 'middleware'];
  return [
    { name: `${bundler}-plain`, bundler, before: one, misuses: true },
    { name: `${bundler}-standalone`, bundler, before: other, config: { output: 'standalone' } },
    {
      name: `${bundler}-base-path`,
      bundler,
      before: other,
      config: { basePath: '/shop', trailingSlash: true },
      hasCdn: true,
    },
    { name: `${bundler}-pages`, bundler, before: one, pages: true },
  ];
});

const document = (path) => readFileSync(join(ROOT, path), 'utf8');
const section = (text, heading) => text.split(`\n${heading}\n`)[1].split(/\n#{2,3} /)[0];
const blocks = (text) => [...text.matchAll(/^```tsx?\n([\s\S]*?)^```$/gm)].map(([, code]) => code);
const [instrumentation, route] = blocks(section(document('README.md'), '### Next'));
const [pagesRoute] = blocks(section(document('docs/frameworks.md'), `#${PAGES}`));

function filesOf({ name, before, config = {}, pages = false, hasCdn = false, misuses = false }) {
  const settings = {
    ...config,
    ...(hasCdn && { assetPrefix: `${cdn.url}/${name}` }),
    turbopack: { root: ROOT },
    outputFileTracingRoot: ROOT,
    skipTrailingSlashRedirect: true,
  };
  const page = (component) =>
    `import { ${component} } from 'agent-bff-react';\nexport default function Page() {\n  return <main style={{ height: '90vh' }}><${component} /></main>;\n}\n`;
  const style = "import 'agent-bff-react/style.css';\n";
  const frame = `${style}export default function Layout({ children }: { children: React.ReactNode }) {\n  return <html lang="en"><body>{children}</body></html>;\n}\n`;
  const app = `${style}import type { AppProps } from 'next/app';\nexport default function App({ Component, pageProps }: AppProps) {\n  return <Component {...pageProps} />;\n}\n`;
  const edge = "export const runtime = 'edge';\nexport const GET = () => new Response('edge');\n";
  const edgeApi = "export const config = { runtime: 'edge' };\nexport default () => new Response('edge');\n";
  const client = `'use client';\nimport { getAuthHeaders } from 'agent-bff';\nexport default function Page() {\n  return <button onClick={() => getAuthHeaders()}>Call</button>;\n}\n`;
  const edgeCall = `import { handleA2AWebPOST } from 'agent-bff/next';\nexport const runtime = 'edge';\nexport const POST = (request: Request) => {\n  try {\n    return handleA2AWebPOST(request);\n  } catch (error) {\n    return new Response(String(error));\n  }\n};\n`;
  return {
    'package.json': '{ "name": "site", "private": true, "type": "module" }',
    'tsconfig.json': readFileSync(join(EXAMPLE, 'tsconfig.json'), 'utf8').replace(/,\s*"paths": \{[^}]*\}/, ''),
    'next.config.ts': `export default ${JSON.stringify(settings)};\n`,
    'instrumentation.ts': instrumentation,
    [`${before}.ts`]: `import { NextResponse } from 'next/server';\nexport const ${before} = () => NextResponse.next();\nexport const config = { matcher: '/elsewhere' };\n`,
    ...(pages
      ? {
          'pages/_app.tsx': app,
          'pages/index.tsx': page('A2AChat'),
          'pages/floating.tsx': page('A2AChatFloating'),
          'pages/api/a2a/[[...path]].ts': pagesRoute,
          'pages/api/edge.ts': edgeApi,
        }
      : {
          'app/layout.tsx': frame,
          'app/page.tsx': page('A2AChat'),
          'app/floating/page.tsx': page('A2AChatFloating'),
          'app/project/page.tsx': HELPER,
          'app/api/a2a/[[...path]]/route.ts': route,
          'app/api/edge/route.ts': edge,
        }),
    ...(misuses && { 'app/client/page.tsx': client, 'app/api/edge-call/route.ts': edgeCall }),
  };
}

/** A page with a helper, which Next would otherwise prerender while it builds. */
const HELPER = `import { resolveServiceProjectId } from 'agent-bff';
import { connection } from 'next/server';

export default async function Page() {
  await connection();
  return <p>Project: {await resolveServiceProjectId()}</p>;
}
`;

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

/** The variables of a site and of its build. */
const environment = () => ({
  A2A_URL: `${agent.url}/a2a`,
  SERVICE_API_KEY: 'the-key',
  SERVICE_PROJECT_ID: 'project-7',
  NEXT_TELEMETRY_DISABLED: '1',
});

/** The walk of a visitor, a client and a careless developer. */
async function visit(url, variant, staticFolder) {
  const { config: { basePath = '' } = {}, pages = false, misuses = false } = variant;
  const site = `${url}${basePath}`;
  const context = await browser.newContext();
  context.setDefaultTimeout(30_000);
  try {
    const page = await context.newPage();
    await page.goto(`${site}/`);
    await send(page, 'Hello');
    await page.locator('.a2a-message-agent').filter({ hasText: WORDS }).waitFor();

    await send(page, 'slow');
    await until(() => agent.open === 1, 'the agent has an open stream');
    await page.goto(`${site}/api/edge`);
    expect(await page.innerText('body'), 'edge');
    await until(() => agent.open === 0, 'a page that was left has let its stream go');
    await page.goBack({ waitUntil: 'commit' }); // a page that was put away loads nothing
    await page.locator('.a2a-message-agent').filter({ hasText: 'Taken up again.' }).waitFor();

    const other = await (await browser.newContext()).newPage(); // without the first one's cache
    await other.goto(`${site}/floating`);
    const button = other.locator('.agent-bff button').first();
    await button.waitFor();
    await other.waitForLoadState('networkidle');
    renameSync(staticFolder, `${staticFolder}-gone`); // as after a new release
    await button.click();
    await other.getByText('Please reload the page.').waitFor();
    renameSync(`${staticFolder}-gone`, staticFolder);
    await Promise.all([other.waitForEvent('load'), other.getByRole('button', { name: 'Reload' }).click()]);
    await other.context().close();

    const card = await (await fetch(`${site}/api/a2a/.well-known/agent-card.json`)).json();
    expect(new URL(card.url).pathname.replace(/\/$/, ''), `${basePath}/api/a2a`);
    if (!pages) expect((await (await fetch(`${site}/project`)).text()).includes('project-7'), true);
    if (misuses) {
      const edge = await fetch(`${site}/api/edge-call`, { method: 'POST' });
      expect(/handleA2AWebPOST of agent-bff needs Node/.test(await edge.text()), true);
      await page.goto(`${site}/client`);
      const thrown = page.waitForEvent('pageerror');
      await page.getByRole('button', { name: 'Call' }).click();
      expect(/getAuthHeaders of agent-bff needs Node/.test((await thrown).message), true);
    }
  } finally {
    await context.close();
  }
}

/** Next reports an error of `register`; its words must lead to the variable. */
async function startWithBadAddress(folder, command) {
  const env = { ...environment(), A2A_URL: 'agent.example/a2a' };
  const server = await started(command, folder, env, /In the environment: A2A_URL/);
  await server.stop();
}

async function send(page, text) {
  const input = page.locator('.a2a-panel textarea');
  await input.fill(text);
  await input.press('Enter');
}

function expect(found, wanted) {
  if (found !== wanted) throw new Error(`${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
}

async function until(isTrue, what) {
  const end = performance.now() + 15_000;
  while (!isTrue()) {
    if (performance.now() > end) throw new Error(`Timed out before ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** An agent that responds to every message with the same words, except to "slow": that task works until it is taken up again. */
async function startAgent() {
  const agent = { open: 0 };
  let contextId;
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      if (!request.url.includes('agent-card')) return response.writeHead(404).end();
      return response.setHeader('content-type', 'application/json').end(cardOf(request));
    }
    let body = '';
    for await (const chunk of request) body += chunk;
    const { id, method, params } = JSON.parse(body);
    contextId = params.message?.contextId ?? contextId; // the one that the site names
    // The route asks once whose task it is, as `conversations: 'visitor'` wants.
    if (method === 'tasks/get') {
      const result = { kind: 'task', id: 't', contextId, status: { state: 'working' } };
      return response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    }
    response.setHeader('content-type', 'text/event-stream');
    const event = (result) => response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
    const ids = { taskId: 't', contextId };
    if (method === 'tasks/resubscribe') {
      const parts = [{ kind: 'text', text: 'Taken up again.' }];
      event({ kind: 'artifact-update', ...ids, artifact: { artifactId: 'a', parts } });
      event({ kind: 'status-update', ...ids, status: { state: 'completed' }, final: true });
    } else if (body.includes('"slow"')) {
      agent.open += 1;
      response.once('close', () => (agent.open -= 1));
      return event({ kind: 'task', id: 't', contextId, status: { state: 'working' } });
    } else event({ kind: 'message', messageId: 'a', role: 'agent', parts: [{ kind: 'text', text: WORDS }] });
    response.end();
  });
  return Object.assign(agent, await listen(server));
}

/** The static files of the sites on an origin of their own. */
async function startCdn() {
  return listen(
    createServer((request, response) => {
      const [, name, path] = /^\/([\w-]+)\/_next\/(static\/[^?]*)/.exec(request.url) ?? [];
      const file = join(SITES, name ?? '', '.next', decodeURIComponent(path ?? ''));
      response.setHeader('access-control-allow-origin', '*');
      if (path === undefined || !existsSync(file)) return response.writeHead(404).end();
      response.setHeader('content-type', file.endsWith('.css') ? 'text/css' : 'text/javascript');
      response.end(readFileSync(file));
    }),
  );
}

async function tryVariant(variant) {
  const folder = join(SITES, variant.name);
  writeSite(folder, variant);
  const result = { site: variant.name, build: '–', seconds: '–', visit: '–' };
  let server;
  try {
    const start = performance.now();
    await quietly(process.execPath, [NEXT, 'build', `--${variant.bundler}`], folder, environment());
    Object.assign(result, { build: '✓', seconds: Math.round((performance.now() - start) / 1000), visit: '✗' });
    let staticFolder = join(folder, '.next/static');
    let command = [process.execPath, NEXT, 'start', '--port', '0', '--hostname', '127.0.0.1'];
    let env = environment();
    if (variant.config?.output === 'standalone') {
      const standalone = join(folder, '.next/standalone', relative(ROOT, folder));
      cpSync(staticFolder, join(standalone, '.next/static'), { recursive: true }); // as Next's documentation says
      staticFolder = join(standalone, '.next/static');
      command = [process.execPath, join(standalone, 'server.js')];
      env = { ...env, PORT: '0', HOSTNAME: '127.0.0.1' };
    }
    server = await started(command, folder, env, /http:\/\/127\.0\.0\.1:\d+(?=\s)/);
    await visit(server.url, variant, staticFolder);
    if (variant.misuses) await startWithBadAddress(folder, command);
    result.visit = '✓';
  } catch (error) {
    if (result.build === '–') result.build = '✗';
    console.error(`${variant.name}: ${error.message}\n${error.stdout ?? server?.written().slice(-1_000) ?? ''}`);
  } finally {
    await server?.stop();
  }
  return result;
}

await ensureBuilt('package', 'react');
if (!existsSync(NEXT)) await ensureInstalled(EXAMPLE);

const chosen = process.argv.slice(2);
const [agent, cdn] = await Promise.all([startAgent(), startCdn()]);
const browser = await openBrowser({ ignoreDefaultArgs: ['--disable-back-forward-cache'] });
const results = [];
try {
  for (const variant of VARIANTS)
    if (chosen.length === 0 || chosen.includes(variant.name)) results.push(await tryVariant(variant));
} finally {
  await browser.close();
  await Promise.all([agent.close(), cdn.close()]);
  rmSync(SITES, { recursive: true, force: true });
}
console.table(results);
const isGood = results.length > 0 && results.every(({ build: built, visit: seen }) => built === '✓' && seen === '✓');
process.exitCode = isGood ? 0 : 1;
