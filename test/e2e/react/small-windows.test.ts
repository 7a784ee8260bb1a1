import { readFileSync } from 'node:fs';

import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import { type ComponentVisit, describeInBrowsers } from '../../support/component-browser.js';

const STYLE = readFileSync(new URL('../../../react/src/style/theme.css', import.meta.url), 'utf8');
const PROMPTS = ['Where is my parcel?', 'I want to return something', 'Which size fits me?'];

/** CSS pixels of windows that visitors have: on its side, at 200 %, narrow, and at 400 %. */
const WINDOWS = [
  { width: 844, height: 390 },
  { width: 640, height: 400 },
  { width: 320, height: 640 },
  { width: 320, height: 256 },
];

/** True if all of an element is within the window, and nothing covers its middle. */
async function isSeen(element: Locator): Promise<boolean> {
  return element.evaluate((seen) => {
    const { left, top, right, bottom } = seen.getBoundingClientRect();
    const isInside = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
    return isInside && seen.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2));
  });
}

/** True if the last line of an element is visible. */
async function isEndSeen(element: Locator): Promise<boolean> {
  return element.evaluate((seen) => {
    const { left, bottom } = seen.getBoundingClientRect();
    return seen.contains(document.elementFromPoint(left + 4, bottom - 4));
  });
}

async function openFloating(visit: ComponentVisit): Promise<void> {
  await visit.show('A2AChatFloating', { panelTitle: 'Ask us', suggestedPrompts: PROMPTS });
  await visit.page.getByRole('button', { name: 'Ask us' }).click();
  await visit.input.waitFor();
}

describeInBrowsers('a chat in a small window', { wordMs: 0, slowStepMs: 5 }, (browser) => {
  describe.each(WINDOWS)('of $width × $height', (viewport) => {
    it.each(['A2AChat', 'A2AChatFloating'])('%s shows the welcome, the field and the answer', async (name) => {
      const visit = await browser.visit({ viewport });
      if (name === 'A2AChatFloating') await openFloating(visit);
      else await visit.show(name, { suggestedPrompts: PROMPTS });
      const send = visit.page.getByRole('button', { name: 'Send' });
      expect(await isSeen(visit.page.locator('.a2a-welcome p'))).toBe(true);
      expect(await isSeen(visit.input)).toBe(true);
      expect(await isSeen(send)).toBe(true);
      await visit.ask('Hello');
      expect(await isEndSeen(visit.finished)).toBe(true);
      const scrollWidth = await visit.page.evaluate(() => document.documentElement.scrollWidth);
      expect(scrollWidth).toBeLessThanOrEqual(viewport.width);
    });
  });

  it('breaks a long word of a suggestion', async () => {
    const visit = await browser.visit({ viewport: { width: 320, height: 640 } });
    await visit.show('A2AChat', { suggestedPrompts: ['Rechtsschutzversicherungsgesellschaften vergleichen'] });
    const suggestion = visit.page.getByRole('button', { name: 'Rechtsschutz' });
    expect(await suggestion.evaluate((button) => button.getBoundingClientRect().right)).toBeLessThan(320);
    expect(await suggestion.evaluate((button) => button.scrollWidth - button.clientWidth)).toBe(0);
  });

  it('fills a low window when it floats, with a button that closes it', async () => {
    const visit = await browser.visit({ viewport: { width: 844, height: 390 } });
    await openFloating(visit);
    expect(await visit.page.locator('.a2a-floating').boundingBox()).toEqual({ x: 0, y: 0, width: 844, height: 390 });
    await visit.page.getByRole('button', { name: 'Close chat' }).click();
    expect(await isSeen(visit.page.getByRole('button', { name: 'Ask us' }))).toBe(true);
  });

  it('stays above a keyboard that covers the page', async () => {
    const visit = await browser.visit({
      viewport: { width: 390, height: 844 },
      prepare: (page) =>
        page.addInitScript(() => {
          const view = Object.assign(new EventTarget(), { scale: 1, offsetTop: 0, height: 844 });
          Object.defineProperty(globalThis, 'visualViewport', { value: view });
        }),
    });
    await openFloating(visit);
    const panel = visit.page.locator('.a2a-floating');
    const bounds = async () => {
      await visit.page.evaluate(() => {
        Object.assign(visualViewport as object, { offsetTop: 100, height: 408 });
        visualViewport?.dispatchEvent(new Event('resize'));
      });
      const { y, height } = (await panel.boundingBox()) ?? { y: 0, height: 0 };
      return [y, height];
    };
    await expect.poll(bounds).toEqual([100, 408]);
  });

  it('is as large as elsewhere on a page whose root has a smaller font', async () => {
    const visit = await browser.visit({ viewport: { width: 390, height: 844 } });
    await visit.show('A2AChat');
    const sizes = () =>
      Promise.all([
        visit.styleOf(visit.input, 'font-size'),
        visit.styleOf(visit.page.locator('.a2a-panel'), 'font-size'),
        visit.styleOf(visit.page.locator('.a2a-send'), 'width'),
      ]);
    const usual = await sizes();
    expect(usual).toEqual(['16px', '16px', '36px']);
    const setRoot = (size: string) =>
      visit.page.evaluate((given) => {
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(`html { font-size: ${given}; }`);
        document.adoptedStyleSheets = [sheet];
      }, size);
    await setRoot('62.5%');
    expect(await sizes()).toEqual(usual);
    await setRoot('20px');
    expect(await sizes()).toEqual(['20px', '20px', '45px']);
  });

  it('gives its messages and buttons an edge in forced colours', async () => {
    const visit = await browser.visit({ forcedColors: 'active' });
    await openFloating(visit);
    await visit.ask('Hello');
    for (const selector of ['.a2a-message-user .a2a-bubble', '.a2a-send', '.a2a-floating .a2a-panel', '.a2a-fab'])
      expect([selector, await visit.styleOf(visit.page.locator(selector), 'border-top-width')]).toEqual([
        selector,
        '1px',
      ]);
  });

  it('shows that the agent is thinking in forced colours', async () => {
    const visit = await browser.visit({ forcedColors: 'active' });
    await visit.page.route('**/api/a2a', () => undefined); // never responds
    await visit.show('A2AChat');
    await visit.send('Hello');
    const dot = visit.page.locator('.a2a-thinking i').first();
    expect(await visit.styleOf(dot, 'border-top-width')).toBe('1px');
  });

  it('has readable colours in a browser without light-dark() and relative colours', async () => {
    expect(STYLE).toContain('light-dark(');
    const visit = await browser.visit({
      colorScheme: 'dark',
      prepare: (page) =>
        page.route('**/page/style.css', async (route) => {
          const built = readFileSync(new URL('../../../react/dist/style.css', import.meta.url), 'utf8');
          const older = built.replaceAll('light-dark(', 'unknown(').replaceAll('oklch(from', 'unknown(from');
          await route.fulfill({ contentType: 'text/css', body: older });
        }),
    });
    await openFloating(visit);
    await visit.ask('Hello');
    expect(await visit.styleOf(visit.page.locator('.a2a-panel'), 'background-color')).toBe('rgb(255, 255, 255)');
    expect(await visit.axe()).toEqual([]);
  });

  it('sends again when the browser is back online, without a click', async () => {
    const visit = await browser.visit({});
    await visit.show('A2AChat');
    await visit.ask('Hello');
    await visit.page.context().setOffline(true);
    await visit.send('Are you there?');
    await visit.alert.filter({ hasText: 'The connection to the site was lost.' }).waitFor();
    await visit.page.context().setOffline(false);
    await visit.finished.filter({ hasText: 'Are you there?' }).waitFor();
    expect(await visit.alert.count()).toBe(0);
  });
});
