// npm run test:sessions [-- library …]: signs a visitor in with each session library of docs/authentication/sessions.md, its oldest
// supported release and the current one, in a folder of its own with a provider on loopback. A message is refused before the
// sign-in, then reaches the agent with the visitor's token, and with a new one after that has expired, where the library refreshes.
// With the current release of those that refresh, visitors of two processes then wait for a slow agent.
// Its results are written into the table of the page.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { runnerImport } from 'vite';
import { freePort, started } from '../test/package/program.mjs';
import { startBalancer } from '../test/package/sessions/balancer.mjs';
import { startProvider } from '../test/package/sessions/provider.mjs';
import { walkSlowAgent } from '../test/package/sessions/slow-agent.mjs';
import { startAgent } from '../test/package/site.mjs';
import { ensureBuilt } from './build.mjs';
import { ROOT } from './command.mjs';
import { writeTable } from './generated-table.mjs';
import { install, quietly, temporaryFolder } from './temporary-site.mjs';

const SITES = join(ROOT, 'test/package/sessions/sites');
const csrf = (base) => async (browser, site) => {
  const { csrfToken } = await (await browser.send(`${site}${base}/csrf`)).json();
  await browser.open(`${site}${base}/signin/site`, {
    method: 'POST',
    body: new URLSearchParams({ csrfToken, callbackUrl: site }),
  });
};

/** The libraries: package, site, oldest and current release, what they need beside them, and their sign-in. */
const LIBRARIES = [
  { name: 'express-openid-connect', versions: ['2.7.0', '3.4.0'], refreshes: true, walks: [{}] },
  {
    name: '@auth0/nextjs-auth0',
    site: 'nextjs-auth0',
    versions: ['4.9.0', '4.30.0'],
    beside: (version) =>
      version === '4.9.0'
        ? ['next@15.5.0', 'react@19.0.0', 'react-dom@19.0.0']
        : ['next@16.4.6', 'react@19.3.1', 'react-dom@19.3.1'],
    signIn: '/auth/login',
    refreshes: true,
    control: true,
    walks: [{}],
  },
  {
    name: '@azure/msal-node',
    site: 'msal-node',
    versions: ['3.0.1', '7.2.3'],
    beside: ['express-session@1.19.0'],
    refreshes: true,
  },
  {
    name: 'better-auth',
    versions: ['1.6.0', '1.6.34', '1.7.25'],
    refreshes: true,
    walks: [{}, { variant: 'account cookie' }],
  },
  {
    name: '@auth/express',
    site: 'auth-js',
    versions: ['0.5.6', '0.12.3'],
    beside: (version) => [`@auth/core@${version === '0.12.3' ? '0.41.3' : '0.34.1'}`],
    signIn: csrf('/auth'),
    walks: [{ site: 'auth-js-refreshing' }, { site: 'auth-js-refreshing', variant: 'getSession', fails: true }],
  },
  { name: 'next-auth', peers: false, versions: ['4.0.1', '4.24.15'], signIn: csrf('/api/auth') },
  {
    name: 'next-auth',
    site: 'auth-js-next',
    versions: ['5.0.0-beta.32'],
    beside: ['next@16.4.6', 'react@19.3.1', 'react-dom@19.3.1'],
    build: ['node_modules/next/dist/bin/next', 'build', 'next'],
    signIn: csrf('/api/auth'),
    refreshes: true,
    walks: [{}, { variant: 'own source' }],
  },
  { name: 'iron-session', versions: ['8.0.0', '9.0.1'], walks: [{ site: 'iron-session-refreshing' }] },
  { name: 'cookie-session', versions: ['2.1.1'], refreshes: true, walks: [{}] },
  { name: 'express-session', versions: ['1.17.0', '1.19.0'] },
  { name: 'passport', versions: ['0.5.0', '0.7.0'], beside: ['passport-oauth2@1.8.0', 'express-session@1.19.0'] },
];

const { CookieBrowser } = (await runnerImport(join(ROOT, 'test/support/cookie-browser.ts'))).module;

await ensureBuilt('package');
const folder = temporaryFolder('sessions');
const agent = await startAgent();
const chosen = process.argv.slice(2);
const rows = [];
/** Running while the next library is installed. */
const walks = [];
for (const library of LIBRARIES.filter(({ name }) => chosen.length === 0 || chosen.includes(name))) {
  for (const version of library.versions) {
    const cwd = await installed(library, version);
    const row = [library.name, version, ...(await outcome(library, version, cwd))];
    rows.push(row);
    console.log(row.join(' | '));
    if (version !== library.versions.at(-1)) continue;
    walks.push(...(library.walks ?? []).map((walk) => slowAgent(library, walk, cwd)));
  }
}
await agent.close();
const walked = (await Promise.all(walks)).every(Boolean);
await writeTable(
  join(ROOT, 'docs/authentication/sessions.md'),
  'sessions',
  [['Package', 'Version', 'Signed in', 'Refreshed'], ...rows],
  { partly: chosen.length > 0 },
);
process.exitCode = rows.length > 0 && walked && rows.flat().every((cell) => cell !== '✗') ? 0 : 1;

async function outcome(library, version, cwd) {
  const marks = { signedIn: '✗', refreshed: library.refreshes ? '✗' : '–' };
  const provider = await startProvider();
  const site = `http://localhost:${await freePort()}`;
  let server;
  try {
    server = await startSite(library, cwd, { ISSUER: provider.issuer, SITE: site, A2A_URL: `${agent.url}/a2a` });
    await visit(library, provider, site, marks);
    if (library.control) await control(library, provider, site, version);
  } catch (error) {
    console.error(`${library.name} ${version}: ${error.message}\n${server?.written().slice(0, 3_000) ?? ''}`);
  }
  await server?.stop();
  await provider.close();
  return [marks.signedIn, marks.refreshed];
}

function startSite({ site, name }, cwd, env) {
  const SECRET = 'of this run only, and more than thirty-two characters';
  const given = { SECRET, ...env };
  return started([process.execPath, `${site ?? name}.mjs`], cwd, given, /ready http\S+/);
}

/** True if the visitors of two processes behind a balancer, which sends each to one of them, are signed out as expected. */
async function slowAgent(library, { site: other = library.site, variant = '', fails = false }, cwd) {
  const provider = await startProvider();
  const slow = await startAgent();
  const [port, ...ports] = [await freePort(), await freePort(), await freePort()];
  const site = `http://localhost:${port}`;
  const env = { ISSUER: provider.issuer, SITE: site, VARIANT: variant, A2A_URL: `${slow.url}/a2a` };
  const start = (PORT) => startSite({ ...library, site: other }, cwd, { ...env, PORT: String(PORT) });
  const servers = await Promise.all(ports.map(start));
  const close = await startBalancer(port, ports);
  const visitor = async () => {
    const browser = new CookieBrowser();
    await signedIn(browser, site, library.signIn ?? '/login');
    return browser;
  };
  const name = `${other ?? library.name} ${variant}`.trim();
  let isKept = fails;
  try {
    isKept = await walkSlowAgent(name, { provider, agent: slow, site, visitor, chat });
  } catch (error) {
    console.error(`${error.message}\n${servers.map((server) => server.written().slice(0, 3_000)).join('\n')}`);
  }
  close();
  for (const server of servers) await server.stop();
  await Promise.all([provider.close(), slow.close()]);
  return isKept !== fails;
}

/** A folder with the library, and the sites beside it. */
async function installed({ name, beside = [], peers = true, build }, version) {
  const cwd = mkdtempSync(join(folder, 'site-'));
  writeFileSync(join(cwd, 'package.json'), '{ "name": "site", "private": true, "type": "module" }');
  const packages = [
    `${name}@${version}`,
    `express@${version === '0.5.6' ? '4.22.3' : '5.3.0'}`,
    ...(typeof beside === 'function' ? beside(version) : beside),
  ];
  await install(cwd, packages, ...(peers ? [] : ['--legacy-peer-deps']));
  symlinkSync(ROOT, join(cwd, 'node_modules/agent-bff'), 'junction');
  cpSync(SITES, cwd, { recursive: true });
  // Vite sets NODE_ENV.
  const env = { NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' };
  if (build !== undefined) await quietly(process.execPath, build, cwd, env);
  return cwd;
}

async function visit({ signIn = '/login', refreshes }, provider, site, marks) {
  const browser = new CookieBrowser();
  assert.equal((await chat(browser, site)).status, 401, 'a visitor without a session');
  provider.lifetimeSeconds = refreshes ? 2 : 3_600;
  await signedIn(browser, site, signIn);
  const first = await chat(browser, site);
  assert.equal(first.status, 200, await first.text());
  const token = agent.credentials.at(-1);
  assert.match(token, /^Bearer eyJ/);
  marks.signedIn = '✓';
  if (!refreshes) return;
  provider.lifetimeSeconds = 3_600;
  const deadline = Date.now() + 10_000;
  do {
    assert.ok(Date.now() < deadline, 'the token was not refreshed');
    await after(100);
    const response = await chat(browser, site);
    assert.equal(response.status, 200, await response.text());
  } while (agent.credentials.at(-1) === token);
  assert.equal(provider.reused, 0);
  marks.refreshed = '✓';
}

async function signedIn(browser, site, signIn) {
  if (typeof signIn === 'function') await signIn(browser, site);
  else await browser.open(`${site}${signIn}`);
}

function chat(browser, site, { query = '', signal } = {}) {
  const params = { message: { messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'Hello' }] } };
  return browser.send(`${site}/api/a2a${query}`, {
    method: 'POST',
    signal,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params }),
  });
}

/** Six parallel requests after the token expired: through these routes and without them, before and behind the middleware. */
async function control({ signIn }, provider, site, version) {
  const ways = {
    'chat, narrow matcher': (browser) => chat(browser, site),
    'chat, broad matcher': (browser) => chat(browser, site, { query: '?broad' }),
    'without agent-bff, narrow matcher': (browser) => browser.send(`${site}/control`),
    'without agent-bff, broad matcher': (browser) => browser.send(`${site}/control?broad`),
  };
  for (const [name, ask] of Object.entries(ways)) {
    const browser = new CookieBrowser();
    provider.lifetimeSeconds = 1;
    await signedIn(browser, site, signIn);
    await after(2_000); // The library compares whole seconds.
    provider.lifetimeSeconds = 3_600;
    Object.assign(provider, { refreshes: 0, reused: 0 });
    const found = await Promise.all(Array.from({ length: 6 }, async () => (await ask(browser)).status));
    const { refreshes, reused } = provider;
    console.log(
      `  ${version}, ${name}: ${found.join(' ')}; refreshes ${refreshes}, refused ${reused}; later ${(await ask(browser)).status}`,
    );
  }
}
