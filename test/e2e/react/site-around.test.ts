import { describe, expect, it } from 'vitest';

import { describeInBrowsers } from '../../support/component-browser.js';

/** The part of a common reset of styles that lists, headings and links lose their looks by. */
const RESET = `*, ::before, ::after { margin: 0; padding: 0; border: 0 solid; box-sizing: border-box; }
  h1, h2, h3, h4, h5, h6, th, strong, b { font-size: inherit; font-weight: inherit; } em { font-style: inherit; }
  a { color: inherit; text-decoration: inherit; } ol, ul { list-style: none; }`;
const ANSWER =
  '# Heading\n\n1. first\n\n- bullet\n\n[link](https://example.com) **bold** *slanted*\n\n| a |\n|---|\n| b |';

describeInBrowsers('in a site', { wordMs: 5 }, (browser) => {
  it('that opens the chat from a form, sending and typing leave the form alone', async () => {
    const visit = await browser.visit();
    await visit.show('ChatOverForm', { suggestedPrompts: ['Where is my parcel?'] });
    await visit.input.pressSequentially('Hello');
    await visit.page.getByRole('button', { name: 'Send' }).click();
    await visit.finished.filter({ hasText: 'Hello' }).waitFor();
    expect(await visit.ask('Again')).toContain('Again');
    await visit.page.locator('input[type=file]').setInputFiles({
      name: 'notes.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('Some notes'),
    });
    await visit.page.getByRole('button', { name: 'Remove notes.txt' }).waitFor();
    expect(await visit.page.locator('form > output').textContent()).toBe('');
  });

  describe('whose visitor types elsewhere', () => {
    it('ref.close() leaves the focus in the field of the site', async () => {
      const visit = await browser.visit();
      const { page } = visit;
      await visit.show('A2AChatFloating');
      await page.evaluate(() => document.body.prepend(document.createElement('input')));
      await visit.handle('open');
      await visit.input.waitFor();
      await page.locator('body > input').click();
      await page.keyboard.type('Elm ');
      await visit.handle('close');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
      await page.keyboard.type('Street');
      expect(await page.locator('body > input').inputValue()).toBe('Elm Street');
    });

    it('ref.close() moves the focus from the chat to its button', async () => {
      const visit = await browser.visit();
      await visit.show('A2AChatFloating');
      await visit.handle('open');
      await visit.input.pressSequentially('Hello');
      await visit.handle('close');
      await visit.page.locator('.a2a-fab:focus').waitFor();
    });

    it.each(['closed', 'open'])('a chat that was left %s and is shown again does not take the focus', async (how) => {
      const visit = await browser.visit();
      const { page } = visit;
      await visit.show('KeptChat', { isHidden: false });
      await page.evaluate(() => document.body.prepend(document.createElement('input')));
      const fab = page.locator('.a2a-fab');
      await fab.click();
      await visit.input.waitFor();
      if (how === 'closed') await page.keyboard.press('Escape');
      await visit.show('KeptChat', { isHidden: true });
      await fab.waitFor({ state: 'hidden' });
      await page.locator('body > input').click();
      await visit.show('KeptChat', { isHidden: false });
      await fab.waitFor();
      await page.keyboard.type('Elm Street');
      expect(await page.locator('body > input').inputValue()).toBe('Elm Street');
    });
  });

  it.each([
    ['in a layer', `@layer base { ${RESET} }`],
    ['without a layer', RESET],
  ])('that resets styles %s, an answer keeps its numbers, bullets, headings and links', async (_where, content) => {
    // The page's own style is inline.
    const visit = await browser.visit({ hasPolicy: false });
    await visit.page.addStyleTag({ content });
    await visit.page.evaluate(() => document.head.prepend(document.head.lastElementChild as Element));
    await visit.page.route('**/api/a2a', (route) => {
      const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: ANSWER }] };
      const body = `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: { message } })}\n\n`;
      return route.fulfill({ contentType: 'text/event-stream', body });
    });
    await visit.show('A2AChat');
    await visit.ask('Hello');
    const style = (selector: string, property: string): Promise<string> =>
      visit.styleOf(visit.finished.locator(selector), property);
    expect(await style('ol', 'list-style-type')).toBe('decimal');
    expect(await style('ul', 'list-style-type')).toBe('disc');
    for (const selector of ['h3', 'strong', 'th']) expect(await style(selector, 'font-weight')).toBe('700');
    expect(await style('em', 'font-style')).toBe('italic');
    expect(await style('a', 'text-decoration-line')).toBe('underline');
  });

  it('that is light only, the words of a widget have the colour of its text on a dark system', async () => {
    const visit = await browser.visit({ colorScheme: 'dark' });
    const { page } = visit;
    await visit.show('ServiceSurface', { surfaceId: 'poll' });
    const text = await visit.styleOf(page.locator('body'), 'color');
    await page.getByRole('button', { name: /Pizza/ }).click();
    const message = page.getByRole('status').filter({ hasText: 'Thank you.' });
    await message.waitFor();
    expect(await visit.styleOf(message, 'color')).toBe(text);
    await page.route('**/render', (route) => route.abort());
    await visit.handle('refresh');
    const again = page.getByRole('button', { name: 'Try again' });
    expect(await visit.styleOf(again, 'color')).toBe(text);
    await again.hover();
    expect(await visit.styleOf(again, 'background-color')).toBe('rgba(0, 0, 0, 0)');
  });

  it('that puts a widget into a frame, the widget has its theme', async () => {
    const visit = await browser.visit();
    await visit.show('FramedSurface', { surfaceId: 'poll' });
    const pizza = visit.page.frameLocator('iframe').getByRole('button', { name: /Pizza/ });
    await pizza.waitFor();
    expect(await visit.styleOf(pizza, 'border-top-color')).toBe('rgb(194, 65, 12)');
  });
});
