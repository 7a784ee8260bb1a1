import { createToolkit } from 'agent-bff';
import { createA2ARouter } from 'agent-bff/express';
import express from 'express';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import type { Site } from '../../site/framework.js';
import { listeningSite } from '../../site/frameworks/listening-site.js';
import { findWholeChromium, launchChromium } from '../../support/chromium.js';
import { componentFiles, mediaTypeOf } from '../../support/component-files.js';
import { type ComponentPage, ComponentVisit } from '../../support/component-browser.js';
import { MINTED, NEW } from '../../support/conversation-people.js';
import { AGENTS, type RememberingAgent } from '../../support/remembering-agents.js';

const chromium = findWholeChromium();

/** The conversation of an answer, in which the agent repeats the message. */
function contextIn(answer: string): string {
  const [, contextId = ''] = /"contextId":"([^"]+)"/.exec(answer) ?? [];
  expect(contextId).toMatch(MINTED);
  return contextId;
}

/** The CORS middleware of a site (Fetch standard §3.3), for the pages of these origins. */
function cors(isAllowed: (origin: string) => boolean): express.RequestHandler {
  return ({ method, headers: { origin = '' } }, response, next) => {
    if (isAllowed(origin)) {
      response.set({
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        vary: 'origin',
      });
    }
    if (method !== 'OPTIONS') return next();
    response.set('access-control-allow-headers', 'content-type, a2a-version').sendStatus(204);
  };
}

describe.skipIf(chromium === undefined)('the chat in a page of another site', { timeout: 60_000 }, () => {
  let browser: Browser;
  let context: BrowserContext;
  let agent: RememberingAgent;
  /** Sites with the test page: one is listed by the site of the routes, one is not, and one repeats every origin. */
  let pages: Record<'listed' | 'foreign' | 'careless', Site>;
  let routes: Site;
  let careless: Site;
  const closing: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    agent = await AGENTS['@a2a-js/sdk 1.3.0']!();
    const files = await componentFiles();
    const page = (): Promise<Site> =>
      listeningSite((request, response) => {
        const name = String(request.url).replace('/page/', '');
        response.writeHead(files.has(name) ? 200 : 404, { 'content-type': mediaTypeOf(name) }).end(files.get(name));
      });
    pages = { listed: await page(), foreign: await page(), careless: await page() };
    const start = async (middleware: express.RequestHandler): Promise<Site> => {
      const toolkit = createToolkit({
        a2aUrl: agent.a2aUrl,
        serviceApiKey: 'key',
        telemetry: 'silent',
        allowedOrigins: [pages.listed.url],
      });
      const app = express().use(
        '/api/a2a',
        middleware,
        createA2ARouter(express, { toolkit, conversations: 'visitor' }),
      );
      app.use('/page', ({ path }, response) => {
        response.type(mediaTypeOf(path)).send(files.get(path.slice(1)) ?? '');
      });
      const site = await listeningSite(app);
      closing.push(site.close, () => toolkit.close());
      // Another site than that of the pages, and one that browsers trust without https.
      return { ...site, url: site.url.replace('127.0.0.1', 'localhost') };
    };
    routes = await start(cors((origin) => origin === pages.listed.url));
    careless = await start(cors(() => true));
    browser = await launchChromium(chromium ?? '');
    closing.push(agent.close, ...Object.values(pages).map((site) => site.close), () => browser.close());
  }, 60_000);
  afterAll(async () => {
    for (const close of closing.toReversed()) await close();
  });
  afterEach(() => context.close());

  /** Opens the test page of a site, with the chat of another one. */
  async function open(site: Site, endpoint: string): Promise<ComponentVisit> {
    context = await browser.newContext();
    context.setDefaultTimeout(20_000);
    const page = await context.newPage();
    await page.goto(`${site.url}/page/`);
    const visit = new ComponentVisit(page);
    await visit.isReady();
    return visit.show('A2AChat', { a2aEndpoint: `${endpoint}/api/a2a` });
  }

  /** Sends the chat's message from a script in the page; returns status and text, or the error of the browser. */
  const call = (page: Page, url: string, init: RequestInit): Promise<string> =>
    page.evaluate(
      ([address, options]) =>
        fetch(address, options).then(
          async (response) => `${String(response.status)} ${await response.text()}`,
          (error: unknown) => String(error),
        ),
      [url, init] as const,
    );
  const message = (more: object): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: NEW.send, params: { message: NEW.message('And?', more) } }),
    credentials: 'include',
  });

  it('continues its conversation, which belongs to that page alone', async () => {
    const visit = await open(pages.listed, routes.url);
    const first = contextIn(await visit.ask('Hello'));
    expect(contextIn(await visit.ask('And now?'))).toBe(first);
    expect(await visit.page.getByText('New conversation').count()).toBe(0);
    const [cookie] = await context.cookies(routes.url);
    expect(cookie).toMatchObject({ name: '__Host-agent-bff-visitor', secure: true, httpOnly: true, sameSite: 'None' });
    expect(cookie?.partitionKey).toBe('http://127.0.0.1');
  });

  it('that is not listed gets neither an answer nor a cookie, and cannot continue a conversation it knows', async () => {
    const victim = await open(pages.listed, routes.url);
    const contextId = contextIn(await victim.ask('Hello'));
    for (const endpoint of [routes, careless]) {
      const before = agent.calls.length;
      // In the browser of the victim, whose cookie of the other page is in another jar.
      const page = await context.newPage();
      await page.goto(`${pages.foreign.url}/page/`);
      const visit = await new ComponentVisit(page).show('A2AChat', { a2aEndpoint: `${endpoint.url}/api/a2a` });
      await visit.send('Hello');
      await visit.alert.waitFor();
      const texts = [
        await call(page, `${endpoint.url}/api/a2a`, message({ contextId })),
        await call(page, `${endpoint.url}/api/a2a`, message({})),
        await call(page, `${endpoint.url}/api/a2a`, { ...message({ contextId }), mode: 'no-cors', headers: {} }),
      ];
      for (const text of texts) expect(text).toMatch(/Failed to fetch|ORIGIN_REFUSED|^0 /);
      expect(agent.calls.length).toBe(before);
      expect(await context.cookies(endpoint.url)).toHaveLength(1);
      await page.close();
    }
  });

  it('in a frame continues, as the page of the site itself does beside it', async () => {
    context = await browser.newContext();
    const outer = await context.newPage();
    await outer.goto(`${pages.foreign.url}/page/`);
    await outer.evaluate((address) => {
      const frame = document.createElement('iframe');
      frame.src = address;
      document.body.append(frame);
    }, `${routes.url}/page/`);
    const frame = outer.frameLocator('iframe');
    await frame.locator('html[data-ready]').waitFor();
    const inner = outer.frames()[1];
    await inner?.evaluate(() => (globalThis as unknown as ComponentPage).show('A2AChat', {}));
    const ask = async (text: string, count: number): Promise<string> => {
      await frame.locator('.a2a-panel textarea').fill(text);
      await frame.locator('.a2a-panel textarea').press('Enter');
      const answer = frame.locator('.a2a-message-agent .a2a-bubble[aria-busy=false]').nth(count);
      await answer.waitFor();
      return answer.innerText();
    };
    const first = contextIn(await ask('Hello', 0));
    expect(contextIn(await ask('And now?', 1))).toBe(first);
  });
});
