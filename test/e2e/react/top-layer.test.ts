import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import { type ComponentVisit, describeInBrowsers } from '../../support/component-browser.js';

/** Styles of an element around a chat that move or clip what is fixed to the window. */
const AROUND = [
  'transform: translateX(40px)',
  'translate: 40px',
  'rotate: 1deg',
  'scale: 0.9',
  'perspective: 100px',
  'filter: blur(0)',
  'backdrop-filter: blur(1px)',
  'will-change: transform',
  'contain: paint',
  'container-type: inline-size',
  'clip-path: inset(0)',
];

/** True if an element is in its corner of the window, and nothing covers it. */
async function isInCorner(element: Locator): Promise<boolean> {
  return element.evaluate((seen) => {
    const { left, top, right, bottom } = seen.getBoundingClientRect();
    const isThere = innerWidth - right < 30 && innerWidth - right >= 0 && bottom <= innerHeight && top >= 0;
    return isThere && seen.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2));
  });
}

async function visitIn(visit: ComponentVisit, style: string): Promise<void> {
  await visit.page.evaluate((text) => {
    const root = document.querySelector('#root') as HTMLElement;
    root.style.cssText = `width: 200px; height: 100px; overflow: hidden; ${text}`;
  }, style);
  await visit.show('A2AChatFloating', { panelTitle: 'Ask us' });
}

describeInBrowsers('the floating chat', { wordMs: 0 }, (browser) => {
  describe('inside an element with', () => {
    it.each(AROUND)('%s, is in the corner of the window, button and panel', async (style) => {
      const visit = await browser.visit({ hasPolicy: false });
      await visitIn(visit, style);
      const fab = visit.page.getByRole('button', { name: 'Ask us' });
      await expect.poll(() => isInCorner(fab)).toBe(true);
      await fab.click();
      await expect.poll(() => isInCorner(visit.page.locator('.a2a-panel'))).toBe(true);
      expect(await visit.ask('Hello')).toContain('Hello');
      await visit.page.keyboard.press('Escape');
      await visit.page.locator('.a2a-fab:focus').waitFor();
    });
  });

  it('elsewhere is below the layers of the page with a larger z-index', async () => {
    const visit = await browser.visit({ hasPolicy: false });
    await visitIn(visit, 'overflow: visible');
    const fab = visit.page.getByRole('button', { name: 'Ask us' });
    expect(await isInCorner(fab)).toBe(true);
    await visit.page.evaluate(() => {
      const layer = document.createElement('div');
      layer.style.cssText = 'position: fixed; inset: 0; z-index: 1001';
      document.body.append(layer);
    });
    expect(await isInCorner(fab)).toBe(false);
  });

  it('opens in a browser without popovers and modal dialogs', async () => {
    const visit = await browser.visit({
      viewport: { width: 390, height: 844 },
      prepare: (page) =>
        page.addInitScript(() => {
          for (const [prototype, names] of [
            [HTMLElement.prototype, ['showPopover', 'hidePopover', 'popover']],
            [HTMLDialogElement.prototype, ['showModal', 'show', 'close']],
          ] as const)
            for (const name of names) Reflect.deleteProperty(prototype, name);
        }),
    });
    await visit.page.evaluate(
      () => ((document.querySelector('#root') as HTMLElement).style.transform = 'translateX(0)'),
    );
    await visit.show('A2AChatFloating', { panelTitle: 'Ask us' });
    await visit.page.getByRole('button', { name: 'Ask us' }).click();
    expect(await visit.ask('Hello')).toContain('Hello');
    await visit.page.getByRole('button', { name: 'Close chat' }).click();
    await visit.page.locator('.a2a-fab:focus').waitFor();
  });
});
