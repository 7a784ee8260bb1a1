import { describe, expect, it } from 'vitest';

import { type ComponentVisit, describeInBrowsers } from '../../support/component-browser.js';

const MESSAGES = Array.from({ length: 60 }, (_, index) => [
  { id: `q${index}`, role: 'user', text: `Question ${index}` },
  {
    id: `a${index}`,
    role: 'agent',
    state: 'complete',
    text: `Answer ${index}\n\n\`\`\`\n${'word '.repeat(60)}\n\`\`\``,
  },
]).flat();

async function showConversation(visit: ComponentVisit, name: string): Promise<void> {
  await visit.page.evaluate((messages) => {
    sessionStorage.setItem('agent-bff:/api/a2a', JSON.stringify({ contextId: 'c', messages }));
  }, MESSAGES);
  await visit.show(name, { keepOnReload: true, panelTitle: 'Ask us' });
  if (name === 'A2AChatFloating') await visit.page.getByRole('button', { name: 'Ask us' }).click();
  // Long conversations are formatted in steps.
  const answers = MESSAGES.length / 2;
  await visit.page.waitForFunction((count) => document.querySelectorAll('.a2a-message pre').length === count, answers);
}

/** The messages that are cut off by an element around them, or cover another. */
async function cutOff({ page }: ComponentVisit): Promise<readonly string[]> {
  await page.emulateMedia({ media: 'print' });
  return page.evaluate(() => {
    const cut: string[] = [];
    let end = -Infinity;
    for (const message of document.querySelectorAll('.a2a-message, .a2a-message pre')) {
      const box = message.getBoundingClientRect();
      if (message.localName === 'div' && box.top < end) cut.push(`covered: ${message.textContent}`);
      if (message.localName === 'div') end = box.bottom;
      for (let around = message.parentElement; around !== null; around = around.parentElement) {
        const outer = around.getBoundingClientRect();
        const clips = getComputedStyle(around).overflow !== 'visible';
        if (clips && (box.bottom > outer.bottom + 1 || box.top < outer.top - 1 || box.right > outer.right + 1))
          cut.push(`${around.className || around.localName}: ${message.textContent}`);
      }
      if (box.right > innerWidth + 1 || box.top < 0) cut.push(`outside: ${message.textContent}`);
    }
    return cut;
  });
}

describeInBrowsers('a printed page', { wordMs: 0, inEveryEngine: false }, (browser) => {
  describe.each([
    ['A2AChat', 'p { color: black; }'],
    ['A2AChat', '#root { height: 100vh; overflow: hidden; display: flex; flex-direction: column; }'],
    ['A2AChat', 'html, body { overflow: hidden; } #root { display: grid; height: 300px; }'],
    ['A2AChatFloating', 'p { color: black; }'],
    ['A2AChatFloating', '#root { transform: translateX(10px); overflow: hidden; height: 200px; }'],
  ])('%s in a page with "%s"', (name, css) => {
    it.each([
      { width: 900, height: 700 },
      { width: 390, height: 844 },
    ])('of $width pixels shows the whole conversation', async (viewport) => {
      const visit = await browser.visit({ viewport, hasPolicy: false });
      await visit.page.addStyleTag({ content: css });
      await showConversation(visit, name);
      const pdf = (await visit.page.pdf()).toString('latin1');
      expect(pdf.match(/\/Type\s*\/Page\b/g)?.length).toBeGreaterThan(4);
      expect(await cutOff(visit)).toEqual([]);
    });
  });

  it('is black on white for a visitor with dark colours, without fields and buttons', async () => {
    const visit = await browser.visit({ colorScheme: 'dark', hasPolicy: false });
    await visit.page.addStyleTag({ content: 'html { color-scheme: dark; }' });
    await showConversation(visit, 'A2AChat');
    await visit.page.emulateMedia({ media: 'print' });
    expect(await visit.styleOf(visit.page.locator('.a2a-panel'), 'color')).toBe('rgb(27, 31, 39)');
    expect(await visit.page.locator('.agent-bff :is(button, textarea):visible').count()).toBe(0);
  });

  it('does not show through the floating chat', async () => {
    const visit = await browser.visit({ hasPolicy: false });
    await showConversation(visit, 'A2AChatFloating');
    await visit.page.emulateMedia({ media: 'print' });
    expect(await visit.styleOf(visit.page.locator('.a2a-panel'), 'print-color-adjust')).toBe('exact');
  });
});
