import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { configureServer, expressOpenidConnectSession, nextAuthSession } from 'agent-bff';
import type { Express } from 'express';
import { expect, it, onTestFinished, vi } from 'vitest';
import { CookieBrowser } from '../support/cookie-browser.js';
import { documents, ROOT } from '../support/documents.js';
import { freePort } from '../support/free-port.js';
import { type LoginProvider, startLoginProvider } from '../support/identity-provider/login-provider.js';
import { closeAll, listening } from '../support/listening.mjs';
import { A_BUILD_MS, NEXT_EXAMPLE, nextIsInstalled } from '../support/next-example.js';
import { NextServer } from '../support/next-server.js';
import { startSignIn } from '../support/next-sign-in.js';
import { RecordingUpstream } from '../support/recording-upstream.js';
import { MESSAGE } from '../support/visitor.js';

const PAGE = documents().find(({ file }) => file === 'docs/authentication/sessions.md')?.text ?? '';
type AuthJs = { readonly getToken: (parameters: object) => Promise<unknown> };
const SECRET = 'of this run only, and long enough';

/** The block of the page that imports from a module. */
function blockOf(module: string): string {
  const found = [...PAGE.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].find(([, code = '']) => code.includes(`'${module}'`));
  return found?.[1] ?? '';
}

/** The block whose file name begins the paragraph before it. */
function fileOf(name: string): string {
  const paragraph = PAGE.slice(PAGE.indexOf(`\`${name}\``));
  return /^[^\n]*\n\n```ts\n([\s\S]*?)^```$/m.exec(paragraph)?.[1] ?? '';
}

/** A folder inside the package, where its own name and the packages of the tests can be resolved. */
function siteFolder(packages: string): string {
  mkdirSync(join(ROOT, 'temp'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, 'temp', 'sessions-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  symlinkSync(packages, join(folder, 'node_modules'), 'junction');
  return folder;
}

async function startAgent(): Promise<RecordingUpstream> {
  const agent = await RecordingUpstream.start();
  onTestFinished(() => agent.close());
  return agent;
}

/** Serves the `app` of the block that imports from a module. The variables point it to a local provider. */
async function startExpress(
  module: string,
  callbackPath: string,
  variables: (provider: LoginProvider, site: string) => Readonly<Record<string, string>>,
) {
  const server = createServer();
  const url = await listening(server);
  const provider = await startLoginProvider(url, 300, callbackPath, 'client_secret_basic');
  const agent = await startAgent();
  onTestFinished(async () => {
    await closeAll(server);
    await provider.close();
  });
  for (const [name, value] of Object.entries(variables(provider, url))) vi.stubEnv(name, value);
  const file = join(siteFolder(join(ROOT, 'test/site/frameworks/node_modules')), 'server.ts');
  writeFileSync(file, `${blockOf(module).replace('https://id.example', provider.issuer)}\nexport { app };\n`);
  configureServer({ a2aUrl: `${agent.origin}/a2a` });
  const { app } = (await import(file)) as { app: Express };
  server.on('request', app);
  return { url, app, agent, provider };
}

const chat = (browser: CookieBrowser, url: string): Promise<Response> =>
  browser.send(`${url}/api/a2a`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: MESSAGE });

const bearers = (agent: RecordingUpstream): (string | undefined)[] =>
  agent.requests.map(({ fields }) => fields.find(([name]) => name === 'authorization')?.[1].replace('Bearer ', ''));

it('the express-openid-connect example in sessions.md calls the agent as the signed-in user', async () => {
  const { url, app, agent, provider } = await startExpress(
    'express-openid-connect',
    '/callback',
    ({ issuer, client }, site) => ({
      ISSUER_BASE_URL: issuer,
      BASE_URL: site,
      CLIENT_ID: client.id,
      CLIENT_SECRET: client.secret,
      SECRET,
    }),
  );
  const browser = new CookieBrowser();
  expect((await chat(browser, url)).status).toBe(401);
  const login = await browser.open(`${url}/login`);
  await browser.submit(await browser.submit(login, { login: 'ann', password: 'any' }));
  expect((await chat(browser, url)).status).toBe(200);
  expect(await provider.userOf(bearers(agent)[0] ?? '')).toBe('ann');
  const source = expressOpenidConnectSession();
  app.get('/names', async (request, response) => {
    response.json(await source.getToken({ headers: request.headers, native: { request, response } }, {}));
  });
  const { page } = await browser.open(`${url}/names`);
  expect(JSON.parse(page)).toMatchObject({ kind: 'token', issuer: provider.issuer, subject: 'ann' });
});

it('the Auth.js 5 example in sessions.md calls the agent as the signed-in user', async () => {
  const { url, app, agent, provider } = await startExpress('@auth/express', '/auth/callback/site', ({ client }) => ({
    AUTH_SECRET: SECRET,
    AUTH_CLIENT_SECRET: client.secret,
  }));
  const browser = new CookieBrowser();
  expect((await chat(browser, url)).status).toBe(401);
  const { csrfToken } = JSON.parse((await browser.open(`${url}/auth/csrf`)).page) as { csrfToken: string };
  const body = new URLSearchParams({ csrfToken, callbackUrl: url });
  const login = await browser.open(`${url}/auth/signin/site`, { method: 'POST', body });
  await browser.submit(await browser.submit(login, { login: 'ann', password: 'any' }));
  expect((await chat(browser, url)).status).toBe(200);
  expect(await provider.userOf(bearers(agent)[0] ?? '')).toBe('ann');
  const { getToken } = (await import(join(ROOT, 'test/site/frameworks/node_modules/@auth/core/jwt.js'))) as AuthJs;
  const source = nextAuthSession(getToken, {
    secret: SECRET,
    name: 'staff',
    subject: (token: { sub: string }) => token.sub,
  });
  app.get('/names', async (request, response) => {
    response.json(await source.getToken({ headers: request.headers, native: { request, response } }, {}));
  });
  const { subject } = JSON.parse((await browser.open(`${url}/names`)).page) as { subject: string };
  // Auth.js has only its own id of the sign-in, not the provider's user, so the source returns no user by default.
  expect(subject).toMatch(/^[\da-f]{8}-[\da-f-]{27}$/);
});

it.skipIf(!nextIsInstalled)(
  'the nextjs-auth0 example in sessions.md calls the agent as the signed-in user',
  async () => {
    await promisify(execFile)(process.execPath, [join(ROOT, 'scripts/build.mjs'), '--if-needed']);
    const folder = siteFolder(join(NEXT_EXAMPLE, 'node_modules'));
    for (const file of ['lib/auth0.ts', 'proxy.ts', 'app/api/a2a/[[...path]]/route.ts']) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      // The library accepts an http provider only with this option.
      const code = fileOf(file).replace('new Auth0Client({', '$& allowInsecureRequests: true,');
      expect(code).not.toBe('');
      writeFileSync(join(folder, file), code);
    }
    cpSync(join(NEXT_EXAMPLE, 'next.config.ts'), join(folder, 'next.config.ts'));
    cpSync(join(NEXT_EXAMPLE, 'instrumentation.ts'), join(folder, 'instrumentation.ts'));
    // As create-next-app writes it, with the package built here.
    const paths = {
      '@/*': ['./*'],
      'agent-bff': ['../../dist/composition/index.js'],
      'agent-bff/next': ['../../dist/composition/next.js'],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { paths } }));

    const agent = await startAgent();
    const port = await freePort('localhost');
    const signIn = await startSignIn(`http://localhost:${String(port)}`, 300);
    onTestFinished(() => signIn.close());
    const site = await NextServer.start('dev', port, { ...signIn.environment, A2A_URL: `${agent.origin}/a2a` }, folder);
    onTestFinished(() => site.close());
    const browser = new CookieBrowser();
    expect((await chat(browser, site.url)).status).toBe(401);
    const login = await browser.open(`${site.url}/auth/login`);
    await browser.submit(await browser.submit(login, { login: 'ann', password: 'any' }));
    expect((await chat(browser, site.url)).status).toBe(200);
    const [, claims = ''] = bearers(agent)[0]?.split('.') ?? [];
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      sub: 'ann',
      aud: 'https://platform.example/api',
    });
  },
  A_BUILD_MS,
);
