import { expect, it } from 'vitest';

import { type ComponentVisit, describeInBrowsers } from '../../support/component-browser.js';

const LENGTH = 24_000;

/** Shows a stored answer, and returns the most elements that one task has added. */
async function restore(visit: ComponentVisit, role: 'agent' | 'user', text: string): Promise<number> {
  await visit.page.evaluate(
    ([role, text]) => {
      const message = { id: 'a', role, text, ...(role === 'agent' && { state: 'complete' }) };
      sessionStorage.setItem('agent-bff:/api/a2a', JSON.stringify({ contextId: 'c', messages: [message] }));
      const batches: number[] = [];
      Object.assign(globalThis, { batches });
      new MutationObserver((records) => {
        let added = 0;
        for (const { addedNodes } of records) added += addedNodes.length;
        batches.push(added);
      }).observe(document.body, { childList: true, subtree: true });
    },
    [role, text] as const,
  );
  await visit.show('A2AChat', { keepOnReload: true });
  const shown = visit.page.locator('.a2a-message p, .a2a-message code, .a2a-message li').first();
  await shown.waitFor();
  const letters = text.match(/a/g)?.length ?? 0;
  await visit.page.waitForFunction((count) => {
    const text = document.querySelector('.a2a-message .a2a-bubble')?.textContent ?? '';
    return (text.replace(/^(?:Agent|You): /, '').match(/a/g)?.length ?? 0) >= count;
  }, letters);
  return visit.page.evaluate(() => Math.max(...(globalThis as unknown as { batches: number[] }).batches));
}

describeInBrowsers('a long text in the chat', { wordMs: 1 }, (browser) => {
  it.each([
    ['lines', 'agent', 'a\n'],
    ['paragraphs', 'agent', 'a\n\n'],
    ['items', 'agent', '- a\n'],
    ['code', 'agent', '`a` '],
    ['lines', 'user', 'a\n'],
  ] as const)('of %s of the %s is shown some in each task, and in pieces', async (_what, role, piece) => {
    const visit = await browser.visit();
    expect(await restore(visit, role, piece.repeat(LENGTH / piece.length))).toBeLessThan(8000);
    const largest = await visit.page
      .locator('.a2a-message :is(p, code, p > div)')
      .evaluateAll((leaves) => Math.max(...leaves.map((leaf) => leaf.childNodes.length)));
    expect(largest).toBeLessThan(1100);
  });

  it('keeps the width of the answer and of a table, whatever line is being written', async () => {
    const visit = await browser.visit();
    await restore(visit, 'agent', '- a\n\n| a | b |\n|---|---|\n| a | d |');
    const [before, after] = await visit.page.locator('.a2a-message .a2a-bubble').evaluate((bubble) => {
      const widths = (): readonly number[] =>
        [bubble, ...bubble.querySelectorAll('table')].map((element) => element.getBoundingClientRect().width);
      const before = widths();
      bubble.querySelector('td')?.setAttribute('data-growing', '');
      bubble.querySelector('li')?.append(' and a longer text'.repeat(20));
      return [before, widths()];
    });
    expect(after).toEqual(before);
  });

  it('in blocks of code is copied as it is written', async () => {
    const visit = await browser.visit();
    const code = 'a line of code\n'.repeat(1500);
    await restore(visit, 'agent', `\`\`\`\n${code}\`\`\``);
    expect(await visit.page.locator('.a2a-message code').evaluate((element) => element.textContent)).toBe(code);
    expect(await visit.page.locator('.a2a-message code > div').count()).toBeGreaterThan(1);
  });

  it('in one line of code grows in few steps, since a browser lays out all of the line for each', async () => {
    const visit = await browser.visit();
    await visit.page.evaluate(() => {
      const steps: MutationRecord[] = [];
      Object.assign(globalThis, { steps });
      const observer = new MutationObserver((records) => void steps.push(...records));
      observer.observe(document.body, { characterData: true, subtree: true });
    });
    await restore(visit, 'agent', `\`\`\`\n${'a*b_'.repeat(LENGTH / 2)}\n\`\`\``);
    const steps = await visit.page.evaluate(
      () => (globalThis as unknown as { steps: readonly unknown[] }).steps.length,
    );
    expect(steps).toBeLessThan(20);
  });

  it('of many blocks is laid out at its end only until it is complete, and then as a whole', async () => {
    const visit = await browser.visit();
    await restore(visit, 'agent', Array.from({ length: 1000 }, (_, index) => `a ${index}`).join('\n\n'));
    const groups = visit.page.locator('.a2a-message .a2a-more');
    await expect.poll(() => visit.page.locator('.a2a-message .a2a-bubble p').count()).toBe(1000);
    expect(await groups.count()).toBe(19);
    const heights = (): Promise<number[]> =>
      groups.evaluateAll((all) => [...new Set(all.map((group) => Math.round(group.getBoundingClientRect().height)))]);
    await expect.poll(heights).toHaveLength(1);
    // Far from the view, and found, selected and copied all the same.
    await expect.poll(() => groups.first().evaluate((group) => getComputedStyle(group).contentVisibility)).toBe('auto');
    const log = visit.page.getByRole('log');
    await expect
      .poll(() => log.evaluate((list) => list.scrollHeight - list.scrollTop - list.clientHeight))
      .toBeLessThanOrEqual(1);
    await visit.page.evaluate(() =>
      getSelection()?.selectAllChildren(document.querySelector('.a2a-markdown') as Element),
    );
    const all = (): Promise<string> => visit.page.evaluate(() => getSelection()?.toString() ?? '');
    await expect.poll(async () => (await all()).match(/a \d+/g)).toHaveLength(1000);
  });

  it('lays out nothing at its end that has been in view', async () => {
    const visit = await browser.visit();
    await visit.page.evaluate(() => {
      const [seen, again] = [new Set<EventTarget | null>(), new Set<Node>()];
      Object.assign(globalThis, { seen, again });
      const onShown = ({ target, skipped }: Event & { skipped?: boolean }): void => void (!skipped && seen.add(target));
      document.addEventListener('contentvisibilityautostatechange', onShown, true);
      new MutationObserver((records) => {
        for (const { target } of records) if (seen.has(target)) again.add(target);
      }).observe(document.body, { attributeFilter: ['data-shown'], subtree: true });
    });
    await restore(visit, 'agent', 'a a\n\n'.repeat(2000));
    await visit.page.waitForFunction(() => document.querySelector('[data-shown]') !== null);
    await visit.page.waitForFunction(() => document.querySelector('[data-shown]') === null);
    const counts = await visit.page.evaluate(() => {
      const { seen, again } = globalThis as unknown as Record<'seen' | 'again', ReadonlySet<unknown>>;
      return [seen.size > 0, again.size];
    });
    expect(counts).toEqual([true, 0]);
  });

  it('keeps its links when their addresses follow at the end', async () => {
    const visit = await browser.visit();
    await restore(visit, 'agent', `${'[a][1] b\n\n'.repeat(500)}[1]: http://9\n`);
    await visit.page.waitForFunction(() => document.querySelectorAll('.a2a-message a[href="http://9"]').length === 500);
  });
});
