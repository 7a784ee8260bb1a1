import { describe, expect, it } from 'vitest';

import { type ComponentVisit, describeInBrowsers } from '../../support/component-browser.js';

const MAX_HEIGHT = 144;

describeInBrowsers('the text field', { wordMs: 5, slowStepMs: 20 }, (browser) => {
  // Where the browser supports field-sizing, `typing.test.ts` has the same.
  describe('in a browser without field-sizing', () => {
    async function visitChat(): Promise<ComponentVisit> {
      const visit = await browser.visit({
        prepare: (page) =>
          page.addInitScript(() => {
            const { supports } = CSS;
            CSS.supports = (...query: readonly string[]) =>
              query[0] !== 'field-sizing' && Reflect.apply(supports, CSS, query);
            const sheet = new CSSStyleSheet();
            sheet.replaceSync('textarea { field-sizing: fixed !important; }');
            document.adoptedStyleSheets = [sheet];
          }),
      });
      return visit.show('A2AChat');
    }
    const heightOf = ({ input }: ComponentVisit): Promise<number> => input.evaluate((field) => field.clientHeight);

    it('grows with typed and pasted lines up to its limit, and shrinks after sending', async () => {
      const visit = await visitChat();
      const empty = await heightOf(visit);
      await visit.input.pressSequentially('one');
      await visit.input.press('Shift+Enter');
      await visit.input.pressSequentially('two');
      const two = await heightOf(visit);
      await visit.input.press('Alt+Enter'); // a new line on a Mac
      expect(await visit.input.inputValue()).toContain('one\ntwo');
      expect(two).toBeGreaterThan(empty * 1.4);
      await visit.page.evaluate(() => document.execCommand('insertText', false, '\n3\n4\n5\n6\n7\n8\n9'));
      await expect.poll(() => heightOf(visit)).toBe(MAX_HEIGHT);
      await visit.input.press('Enter');
      await visit.finished.waitFor();
      expect(await heightOf(visit)).toBe(empty);
      expect(await visit.violations()).toEqual([]);
    });

    it('grows when the window becomes narrower', async () => {
      const visit = await visitChat();
      await visit.input.pressSequentially('a text of one line that is two lines on a phone');
      const wide = await heightOf(visit);
      await visit.page.setViewportSize({ width: 320, height: 600 });
      await expect.poll(() => heightOf(visit)).toBeGreaterThan(wide);
    });
  });

  describe.each(['no-preference', 'reduce'] as const)(
    'of a visitor with prefers-reduced-motion: %s',
    (reducedMotion) => {
      it('does not stop the answer at the second click of a double click on the send button', async () => {
        const visit = await browser.visit({ reducedMotion });
        await visit.show('A2AChat');
        await visit.input.pressSequentially('Hello');
        const box = await visit.page.getByRole('button', { name: 'Send' }).boundingBox();
        await visit.page.mouse.dblclick((box?.x ?? 0) + 10, (box?.y ?? 0) + 10);
        await visit.finished.filter({ hasText: 'Hello' }).waitFor();
        expect(await visit.page.locator('.a2a-message-user').count()).toBe(1);
        expect(await visit.page.locator('.a2a-message-agent').innerText()).not.toContain('Stopped.');
      });
    },
  );
});
