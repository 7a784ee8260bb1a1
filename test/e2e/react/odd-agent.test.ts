import { createToolkit, type Toolkit } from 'agent-bff';
import { createNodeHandler } from 'agent-bff/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type HttpListener, openListener } from '../../../examples/http-listener.js';
import { ComponentBrowser } from '../../support/component-browser.js';
import { findChromium, launchChromium } from '../../support/chromium.js';
import { type Habit, HABITS, startOddAgent } from '../../support/odd-agent.js';

const chromium = findChromium();

/** The chat's text for an agent with odd but legal habits. */
describe.skipIf(chromium === undefined)('an agent with odd habits, in Chromium', { timeout: 120_000 }, () => {
  const browser = new ComponentBrowser(() => launchChromium(chromium ?? ''), []);
  const toolkits: Toolkit[] = [];
  let agent: Awaited<ReturnType<typeof startOddAgent>>;
  let site: HttpListener;

  beforeAll(async () => {
    await browser.start({ wordMs: 1, slowStepMs: 1 });
    agent = await startOddAgent();
    site = await openListener(0, '127.0.0.1');
    const handlers = HABITS.map((_habit, index) => {
      const a2aUrl = `${agent.url}/${String(index)}`;
      const toolkit = createToolkit({ a2aUrl, serviceApiKey: 'key', telemetry: 'silent' });
      toolkits.push(toolkit);
      return createNodeHandler({ toolkit });
    });
    site.server.on('request', (request, response) => {
      const [, index = '', path = ''] = /^\/(\d+)(\/.*)$/.exec(request.url ?? '') ?? [];
      request.url = path;
      handlers[Number(index)]?.(request, response);
    });
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await site.close();
    await agent.close();
    for (const toolkit of toolkits) await toolkit.close();
  });

  it(`leads to the expected text in each of ${String(HABITS.length)} cases`, async () => {
    // A site that shows pictures must allow them in its policy. The strict policy of the other tests does not.
    const visit = await browser.visit({ hasPolicy: false });
    // The test itself responds to requests for the page, before they reach a server.
    await visit.page.goto(`http://127.0.0.1:${String(site.port)}/page/`);
    await visit.isReady();
    visit.page.setDefaultTimeout(8_000);
    const read: Record<string, string> = {};
    for (const [index, habit] of HABITS.entries()) {
      await visit.page.evaluate(() => (globalThis as unknown as { hide(): void }).hide());
      const a2aEndpoint = `/${String(index)}/api/a2a`;
      await visit.show('A2AChat', { a2aEndpoint, configEndpoint: `${a2aEndpoint}/config` });
      read[habit.title] = await told(habit).catch(
        (error: unknown) => `nothing: ${String(error).split('\n', 1)[0] ?? ''}`,
      );
    }
    expect(read).toEqual(Object.fromEntries(HABITS.map(({ title, reads }) => [title, reads])));

    /** The text the visitor sees at the end. */
    async function told({ says = ['Hello'], shows }: Habit): Promise<string> {
      for (const words of says) await visit.ask(words);
      if (shows !== undefined) await visit.page.locator(shows).first().waitFor();
      const bubble = visit.finished.locator('.a2a-markdown, .a2a-note');
      const lines = shows === undefined ? [await visit.finished.innerText()] : await bubble.allInnerTexts();
      return lines
        .join(' ')
        .replaceAll(/\s+/g, ' ')
        .replace(/^ ?Agent: /, '')
        .trim();
    }
  });
});
