import { describe, expect, it } from 'vitest';

import { compose, COMPOSITION_ORDERS } from '../../support/composition.js';
import { describeInEngines } from '../../support/engines/engine-suite.js';
import { FIELD, FINISHED, QUESTION } from '../../support/engines/engine-visit.js';

const MAX_HEIGHT = 144;

describeInEngines('typing', { wordMs: 5 }, (visits) => {
  describe.each(Object.entries(COMPOSITION_ORDERS))('with an input method: %s', (_engine, order) => {
    it('does not send on the Enter that confirms a word, only on the next one', async () => {
      const visit = await visits.visit();
      const { page } = visit;
      await visit.show('A2AChat');
      await page.click(FIELD);
      await page.type('nihon');
      expect(await page.evaluate(compose, { key: 'Enter', order })).toBe(true);
      expect(await page.on(FIELD, (field) => (field as HTMLTextAreaElement).value, null)).toBe('nihon');
      expect(await page.count(QUESTION)).toBe(0);
      await page.press('Enter');
      await page.see({ ...FINISHED, text: 'nihon' });
      expect(await page.count(QUESTION)).toBe(1);
    });

    it('keeps the floating panel open at the Escape that discards a word', async () => {
      const visit = await visits.visit();
      const { page } = visit;
      await visit.show('A2AChatFloating', { panelTitle: 'Ask us' });
      await page.click({ role: 'button', name: 'Ask us' });
      await page.click(FIELD);
      await page.evaluate(compose, { key: 'Escape', order });
      expect(await page.count({ role: 'dialog' })).toBe(1);
      await page.press('Escape');
      await page.missing({ role: 'dialog' });
    });
  });

  it.skipIf(!visits.engine.isSupported)(
    'makes the field grow with its lines up to a limit, and shrink after sending',
    async () => {
      const visit = await visits.visit();
      const { page } = visit;
      const height = (): Promise<number> => page.on(FIELD, (field) => field.clientHeight, null);
      await visit.show('A2AChat');
      const empty = await height();
      await page.click(FIELD);
      await page.type('one');
      await page.press('Shift+Enter');
      await page.type('two');
      expect(await height()).toBeGreaterThan(empty * 1.4);
      await page.evaluate(() => document.execCommand('insertText', false, '\n3\n4\n5\n6\n7\n8\n9'), null);
      await expect.poll(height).toBe(MAX_HEIGHT);
      await page.press('Enter');
      await page.see(FINISHED);
      expect(await height()).toBe(empty);
      expect(await visit.violations()).toEqual([]);
    },
  );
});
