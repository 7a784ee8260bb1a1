import { configFromEnv, createToolkit, type ToolkitPorts } from 'agent-bff';
import { createHandlers } from 'agent-bff/express';
import express, { type Express } from 'express';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

import { listeningSite } from '../../site/frameworks/listening-site.js';
import { findChromium, launchChromium } from '../../support/chromium.js';
import { runCommandLine } from '../../support/command-line.js';
import type { ComponentPage } from '../../support/component-browser.js';
import { bundledPage } from '../../support/component-files.js';
import { selfSigned } from '../../support/first-hour.js';
import { runIdpA } from '../../support/identity-provider/index.js';
import { refusedOrigin } from '../../support/recording-upstream.js';
import { watchTerminal } from '../../support/terminal.js';

// Ten commonest mistakes of a site configured by its environment, as four readers meet them. The file beside this one,
// first-hour-page.md, has their words: `vitest run --update` replaces it.

const KEY = 'the-key-of-the-site';
const SENTENCE = 'This is not available at the moment. Please try again later.';
/** Words for operators, which visitors do not read. */
const OPERATORS = /configur|[A-Z]{3,}_[A-Z]|status \d|strateg|serviceApiKey|a2aUrl|Unexpected token|mount/i;

interface Mistake {
  readonly what: string;
  /** The changes of the environment. */
  readonly env?: (agent: string) => Promise<Environment> | Environment;
  /** The words that lead to the fix. */
  readonly fix: RegExp;
  /** A mistake in the page or the site, of which terminal and doctor know nothing. */
  readonly site?: (app: Express, routes: express.Router) => void;
  readonly ports?: ToolkitPorts;
}

type Environment = Readonly<Record<string, string | undefined>>;

const { idp, trusting } = await runIdpA();

const MISTAKES: readonly Mistake[] = [
  { what: 'A wrong path', env: (agent) => ({ A2A_URL: `${agent}/a3a` }), fix: /\bA2A_URL\b/ },
  { what: 'A host without a path', env: (agent) => ({ A2A_URL: agent }), fix: /\bA2A_URL\b/ },
  { what: 'A wrong key', env: () => ({ SERVICE_API_KEY: 'another-key' }), fix: /\bSERVICE_API_KEY\b/ },
  { what: 'No key', env: () => ({ SERVICE_API_KEY: undefined }), fix: /\bSERVICE_API_KEY\b/ },
  { what: 'The agent is down', env: async () => ({ A2A_URL: `${await refusedOrigin()}/a2a` }), fix: /\bA2A_URL\b/ },
  {
    what: 'The routes are mounted elsewhere',
    site: (app, routes) => void app.use('/api/agent', routes),
    fix: /Mount the routes of agent-bff at this address/,
  },
  {
    what: 'The routes are mounted elsewhere, behind the page of a single-page application',
    site: (app, routes) => {
      app.use('/api/agent', routes);
      app.use((_request, response) => void response.type('html').send('<!doctype html><div id="root"></div>'));
    },
    fix: /Mount the routes of agent-bff at this address/,
  },
  {
    what: 'A wrong client secret',
    env: () => ({
      AUTH_PROVIDER: 'idp_a',
      SERVICE_AUTH_STRATEGY: 'client_credentials',
      IDP_A_DOMAIN: idp.domain,
      IDP_A_CLIENT_ID: idp.client.id,
      IDP_A_CLIENT_SECRET: 'wrong-secret',
      IDP_A_AUDIENCE: idp.audience,
    }),
    ports: { identityFetch: trusting.fetch as typeof fetch },
    fix: /\bIDP_A_CLIENT_SECRET\b/,
  },
  {
    what: 'A misspelt variable',
    env: () => ({ SERVICE_API_KEY: undefined, SERVICE_API_KYE: KEY }),
    fix: /\bSERVICE_API_KEY\b/,
  },
  {
    what: 'http in place of https',
    env: async () => ({ A2A_URL: `${(await selfSigned()).replace('https:', 'http:')}/a2a` }),
    fix: /\bA2A_URL\b/,
  },
];

describe.skipIf(findChromium() === undefined)('the ten commonest mistakes of the first hour', () => {
  let browser: Browser;
  let pages: Readonly<Record<'development' | 'production', ReadonlyMap<string, string>>>;

  beforeAll(async () => {
    browser = await launchChromium(findChromium() ?? '');
    const [development, production] = await Promise.all([bundledPage('development'), bundledPage('production')]);
    pages = { development: new Map(development), production: new Map(production) };
  });
  afterAll(() => browser.close());

  it.each(MISTAKES)('$what: visitors read a sentence, and the fix is where developers look', async (mistake) => {
    const { fix, site, env: changes = () => ({}), ports = {} } = mistake;
    const agent = await startAgent();
    const env = { A2A_URL: `${agent}/a2a`, SERVICE_API_KEY: KEY, ...(await Promise.resolve(changes(agent))) };
    const terminal = watchTerminal();
    const url = await startSite(env, ports, site);

    const development = await visit(`${url}/development/`);
    const production = await visit(`${url}/production/`);
    const built = await visit(`${url}/development/?showCause`);
    const starter = await visit(`${url}/starter/`);
    const { printed } = await runCommandLine(['doctor'], { env }, ports);

    for (const { shown } of [development, production, starter]) {
      expect(shown).toContain(SENTENCE);
      expect(shown).not.toMatch(OPERATORS);
    }
    expect(production.console).not.toMatch(OPERATORS);
    for (const text of [development.console, built.shown, starter.console]) expect(text).toMatch(fix);
    if (site === undefined) {
      for (const { shown } of [development, production, starter]) {
        // The line with the id that this visitor can name.
        const [, id = '?'] = /\(ID (\S+)\)/.exec(shown) ?? [];
        expect(terminal.filter((line) => line.endsWith(`request ${id})`))).toEqual([expect.stringMatching(fix)]);
      }
      expect(printed).toMatch(fix);
    } else {
      expect(terminal).toEqual([]);
      expect(printed).toContain('All is well.');
    }
    const read = [development.shown, development.console, production.shown, ...terminal, printed].join('\n');
    expect(read).not.toMatch(/wrong-secret|another-key|the-key-of/);
  });

  it('a page behind a proxy, as in development with Vite, reports that its server is down, and does not suggest other routes', async () => {
    const proxy = (app: Express): void => {
      app.use('/api', (_request, response) => void response.status(500).type('text/plain').end());
    };
    const url = await startSite({ A2A_URL: await startAgent() }, {}, proxy);
    for (const path of ['/development/', '/starter/']) {
      const { shown, console } = await visit(`${url}${path}`);
      expect(shown).toContain(SENTENCE);
      expect(console).toContain('Check that the server with the routes of agent-bff runs');
      expect(console).not.toContain('Mount');
    }
  });

  it('a widget shows the same sentence, with the fix in the console and, with showCause, on the page', async () => {
    const url = await startSite({ SERVICE_API_URL: await startAgent() }, {});
    const { page, warned } = await open(`${url}/development/`);
    const shown = page.locator('.service-surface-failure p');
    await show(page, 'ServiceSurface', { name: 'notes' });
    await shown.filter({ hasText: `${SENTENCE} (ID ` }).waitFor();
    expect(await shown.innerText()).not.toMatch(OPERATORS);
    expect(warned.join('\n')).toMatch(/SERVICE_API_KEY/);
    await show(page, 'ServiceSurface', { name: 'notes', showCause: true });
    await shown.filter({ hasText: 'SERVICE_API_KEY' }).waitFor();
  });

  it.each([
    ['A2AChat', 'agent.js'],
    ['ServiceSurface', 'surface-view.js'],
  ])('%s offers to reload the page when its code %s is gone', async (component, file) => {
    const url = await startSite({ A2A_URL: await startAgent(), SERVICE_API_KEY: KEY }, {});
    const { page } = await open(`${url}/production/`);
    // As after a new release of the site.
    await page.route(`**/${file}`, (route) => route.fulfill({ status: 404, body: 'Not found' }), { times: 1 });
    await page.route('**/by-name/notes/render', (route) =>
      route.fulfill({ json: { title: 'Notes', html: '<p></p>' } }),
    );
    await show(page, component, { name: 'notes' });
    await page.getByRole('alert').filter({ hasText: 'Please reload the page.' }).waitFor();
    await page.evaluate(() => Object.assign(globalThis, { isOld: true }));
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.waitForFunction(() => 'show' in globalThis && !('isOld' in globalThis));
  });

  /** A site with its routes, and the pages of a visitor: the chat in both kinds of bundle, and the page of the starters. */
  async function startSite(env: Environment, ports: ToolkitPorts, mount?: Mistake['site']): Promise<string> {
    const toolkit = createToolkit(configFromEnv({ A2A_CONVERSATIONS: 'open', ...env }), ports);
    const app = express();
    for (const [kind, files] of Object.entries(pages)) {
      app.get(`/${kind}/`, (_request, response) => void response.send(PAGE));
      app.get(`/${kind}/:file`, ({ params }, response) => {
        response.type(params.file).send(files.get(params.file));
      });
    }
    app.use('/starter', express.static('starters/server/public'));
    const routes = createHandlers(express, { toolkit });
    if (mount === undefined) app.use('/api', routes);
    else mount(app, routes);
    const site = await listeningSite(app);
    onTestFinished(async () => {
      await site.close();
      await toolkit.close({ graceMs: 0 });
    });
    return site.url;
  }

  /** A page, and the warnings in its console. It is closed after the test. */
  async function open(address: string): Promise<{ readonly page: Page; readonly warned: readonly string[] }> {
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const warned: string[] = [];
    page.on('console', (line) => {
      if (line.type() === 'warning') warned.push(line.text());
    });
    await page.goto(address);
    return { page, warned };
  }

  /** The failure that one visitor reads after a message, and the warnings in the console. */
  async function visit(address: string): Promise<{ readonly shown: string; readonly console: string }> {
    const { page, warned } = await open(address);
    try {
      if (address.includes('starter')) {
        await page.locator('#composer [name=text]').fill('Hello');
        await page.keyboard.press('Enter');
        const failure = page.locator('.error');
        await failure.waitFor();
        return { shown: await failure.innerText(), console: warned.join('\n') };
      }
      await show(page, 'A2AChat', { showCause: address.endsWith('?showCause') });
      await page.locator('.a2a-panel textarea').fill('Hello');
      await page.keyboard.press('Enter');
      await page.locator('.a2a-message-user').waitFor();
      const failure = page.locator('.a2a-failure p');
      await failure.waitFor();
      return { shown: await failure.innerText(), console: warned.join('\n') };
    } finally {
      await page.close();
    }
  }
});

async function show(page: Page, component: string, props: object): Promise<void> {
  await page.waitForFunction(() => 'show' in globalThis);
  await page.evaluate(([name, given]) => (globalThis as unknown as ComponentPage).show(name, given), [
    component,
    props,
  ] as const);
}

const PAGE = `<!doctype html><html lang="en"><head><title>A site</title></head>
<body><div id="root"></div><script type="module" src="entry.js"></script></body></html>`;

/** An agent at /a2a that wants a key and shows its card to everyone. */
async function startAgent(): Promise<string> {
  const app = express();
  app.get('/.well-known/agent-card.json', (request, response) => {
    const card = { name: 'Agent', protocolVersion: '0.3.0', version: '1', capabilities: { streaming: true } };
    response.json({ ...card, url: `http://${String(request.headers.host)}/a2a` });
  });
  app.post('/a2a', express.json(), (request, response) => {
    if (request.headers['x-api-key'] !== KEY) return void response.status(401).json({ error: 'unknown key' });
    const error = { code: -32001, message: 'Task not found' };
    response.json({ jsonrpc: '2.0', id: (request.body as { readonly id: unknown }).id, error });
  });
  const { url, close } = await listeningSite(app);
  onTestFinished(close);
  return url;
}
