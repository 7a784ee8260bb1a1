import type { Locator } from 'playwright-core';
import { expect, it } from 'vitest';

import { describeDemo } from '../../support/demo-browser.js';

describeDemo('the floating chat', { wordMs: 30 }, (demo) => {
  it('can be opened, used, closed and reopened with the keyboard only', async () => {
    const visit = await demo.visit({ path: '/floating' });
    const { page, input } = visit;
    const { keyboard } = page;
    const button = page.getByRole('button', { name: 'Demo agent' });
    const dialog = page.getByRole('dialog', { name: 'Demo agent' });
    expect(await button.getAttribute('aria-expanded')).toBe('false');

    // The button is the last element of the page, so Shift+Tab reaches it first.
    await keyboard.press('Shift+Tab');
    expect(await isFocused(button)).toBe(true);
    await keyboard.press('Enter');
    await dialog.waitFor();
    expect(await button.getAttribute('aria-expanded')).toBe('true');
    await expect.poll(() => isFocused(input)).toBe(true);

    await keyboard.type('Hello');
    await keyboard.press('Enter');
    await visit.answer.filter({ hasText: 'You said' }).waitFor();
    // The answer continues while the panel is closed.
    await keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(await isFocused(button)).toBe(true);
    expect(await button.getAttribute('aria-expanded')).toBe('false');

    await keyboard.press('Space');
    await expect.poll(() => isFocused(input)).toBe(true);
    expect(await visit.wholeAnswer()).toContain('to your browser.');
    await keyboard.press('Shift+Tab');
    await keyboard.press('Shift+Tab');
    expect(await isFocused(page.getByRole('log'))).toBe(true);
  });

  it('fills a small screen, closes with its own button and restores the focus', async () => {
    const visit = await demo.visit({ path: '/floating', viewport: { width: 320, height: 640 } });
    const button = visit.page.getByRole('button', { name: 'Demo agent' });
    await button.click();
    const dialog = visit.page.getByRole('dialog');
    expect(await dialog.boundingBox()).toEqual({ x: 0, y: 0, width: 320, height: 640 });
    await visit.page.getByRole('button', { name: 'Close chat' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await expect.poll(() => isFocused(button)).toBe(true);
  });

  it('sends no request before it is opened', async () => {
    const requests: string[] = [];
    const visit = await demo.visit({
      path: '/floating',
      prepare: async (page) => page.on('request', (request) => requests.push(new URL(request.url()).pathname)),
    });
    expect(requests).toContain('/api/service-surfaces/poll/render');
    expect(requests).not.toContain('/api/a2a/config');
    const asked = visit.page.waitForRequest((request) => request.url().endsWith('/api/a2a/config'));
    await visit.page.getByRole('button', { name: 'Demo agent' }).click();
    await asked;
  });
});

async function isFocused(element: Locator): Promise<boolean> {
  return element.evaluate((focused) => focused === document.activeElement);
}
