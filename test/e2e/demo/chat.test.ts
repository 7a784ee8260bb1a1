import { createHash, randomBytes } from 'node:crypto';
import type { Locator, Request } from 'playwright-core';
import { expect, it } from 'vitest';

import { describeDemo } from '../../support/demo-browser.js';

/** 1.4 MB, the largest file that fits into a message of 2 MB in base64. */
const LARGEST = Math.floor(1.4 * 1024 * 1024);

describeDemo('the chat of the demo', { wordMs: 30 }, (demo) => {
  it('keeps messages in one conversation until the visitor starts another', async () => {
    const visit = await demo.visit();
    const contexts: (string | undefined)[] = [];
    visit.page.on('request', (request) => {
      if (isMessage(request)) contexts.push(request.postDataJSON().params.message.contextId);
    });
    await visit.ask('One');
    await visit.ask('Two');
    await visit.ask('Three');
    await visit.page.getByRole('button', { name: 'New conversation' }).click();
    expect(await visit.page.locator('.a2a-message').count()).toBe(0);
    await visit.ask('Four');

    const [first, second, third, fourth] = contexts;
    expect([first, third, fourth]).toEqual([undefined, second, undefined]);
    expect(second).toMatch(/\w/);
  });

  it('sends a file of 1.4 MB to the agent byte for byte, and no larger one', async () => {
    const visit = await demo.visit();
    const bytes = randomBytes(LARGEST + 1);
    for (const buffer of [bytes, bytes.subarray(1)]) {
      const file = { name: 'film.bin', mimeType: 'application/octet-stream', buffer };
      await visit.page.locator('input[type=file]').setInputFiles(file);
      await visit.page.getByRole('button', { name: 'Remove film.bin' }).waitFor();
      if (buffer.length === LARGEST) continue;
      await visit.alert.filter({ hasText: 'film.bin is too large: 1.5 MB. A file may have at most 1.4 MB.' }).waitFor();
      await visit.send('Here it is');
      expect(await visit.page.getByRole('button', { name: 'Send', exact: true }).isDisabled()).toBe(true);
      expect(await visit.page.locator('.a2a-message').count()).toBe(0);
      await visit.page.getByRole('button', { name: 'Remove film.bin' }).click();
    }
    const said = await visit.ask('Here it is');
    const sum = createHash('sha256').update(bytes.subarray(1)).digest('hex');
    for (const part of ['film.bin', String(LARGEST), sum]) expect(said).toContain(part);
  });

  it('can be opened, used, closed and reopened with the keyboard only where it floats', async () => {
    const requests: string[] = [];
    const visit = await demo.visit({
      path: '/floating',
      prepare: async (page) => page.on('request', (request) => requests.push(new URL(request.url()).pathname)),
    });
    const { page, input } = visit;
    const { keyboard } = page;
    const button = page.getByRole('button', { name: 'Demo agent' });
    const dialog = page.getByRole('dialog', { name: 'Demo agent' });
    expect(await button.getAttribute('aria-expanded')).toBe('false');
    // A closed chat costs no request.
    expect(requests).toContain('/api/service-surfaces/poll/render');
    expect(requests).not.toContain('/api/a2a/config');

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

    await keyboard.press('Space');
    await expect.poll(() => isFocused(input)).toBe(true);
    expect(await visit.wholeAnswer()).toContain('to your browser.');
    await keyboard.press('Shift+Tab');
    await keyboard.press('Shift+Tab');
    expect(await isFocused(page.getByRole('button', { name: 'Copy answer' }).last())).toBe(true);
    await keyboard.press('Shift+Tab');
    expect(await isFocused(page.getByRole('log'))).toBe(true);
  });
});

function isMessage(request: Request): boolean {
  return (request.postData() ?? '').includes('"SendStreamingMessage"');
}

async function isFocused(element: Locator): Promise<boolean> {
  return element.evaluate((focused) => focused === document.activeElement);
}
