import type { Locator } from 'playwright-core';
import { beforeEach, expect, it } from 'vitest';

import { describeDemo, type DemoVisit } from '../../support/demo-browser.js';

/** Long enough for a test to finish within it on a slow machine. */
const FRESH_MS = 8_000;

describeDemo('the widgets of the demo', { freshMs: FRESH_MS }, (demo) => {
  let visit: DemoVisit;

  beforeEach(async () => {
    visit = await demo.visit();
  });

  it('have their own theme, which does not affect the rest of the page', async () => {
    const pizza = visit.poll.getByRole('button', { name: /Pizza/ });
    const add = visit.notes.getByRole('button', { name: 'Add' });
    const again = visit.poll.getByRole('button', { name: 'Render again: the poll' });
    expect(await styleOf(pizza, 'borderTopColor')).toBe('rgb(194, 65, 12)');
    expect(await styleOf(add, 'backgroundColor')).toBe('rgb(15, 118, 110)');
    expect(await styleOf(again, 'borderTopColor')).not.toBe('rgb(194, 65, 12)');
  });

  it('are rendered again from the cache without a call to the platform, as the panel shows', async () => {
    await visit.poll.getByRole('button', { name: /Soup/ }).click(); // evicts the cached render
    await visit.poll.getByRole('status').filter({ hasText: 'Thank you.' }).waitFor();
    const before = reached();
    await renderAgain(visit);
    await renderAgain(visit);
    expect(reached()).toEqual(before);

    const row = visit.page.getByRole('row', { name: 'POST /api/surfaces/poll/render' });
    await expect.poll(() => countIn(row)).toBe(before['/api/surfaces/poll/render']);
  });

  /** The number of requests for the poll that reached the platform. */
  function reached(): Readonly<Record<string, number>> {
    const counts = demo.demo.platform.requestCounts.map(({ path, count }) => [path, count] as const);
    return Object.fromEntries(counts.filter(([path]) => /\/poll(?:\/render)?$/.test(path)));
  }

  it('show an edit made on the platform once the cached render is stale', async () => {
    await visit.poll.getByText('Edit this widget on the platform').click();
    await visit.poll.getByRole('textbox', { name: 'New question' }).fill('Where shall we meet?');
    await visit.poll.getByRole('button', { name: 'Save' }).click();
    await visit.poll.getByRole('status').filter({ hasText: 'Saved on the platform.' }).waitFor();

    const heading = visit.poll.getByRole('heading', { level: 3 });
    await expect
      .poll(
        async () => {
          await renderAgain(visit);
          return heading.textContent();
        },
        { timeout: 40_000 },
      )
      .toBe('Where shall we meet?');
  });

  it('keep the focus when they are rendered again', async () => {
    const salad = visit.poll.getByRole('button', { name: /Salad/ });
    await salad.focus();
    await visit.page.keyboard.press('Enter');
    await visit.poll.getByRole('status').filter({ hasText: 'Thank you.' }).waitFor();
    expect(await salad.evaluate((button) => button.matches(':focus'))).toBe(true);
  });
});

async function renderAgain({ page, poll }: DemoVisit): Promise<void> {
  const answered = page.waitForResponse((response) => response.url().endsWith('/api/service-surfaces/poll/render'));
  await poll.getByRole('button', { name: 'Render again: the poll' }).click();
  await answered;
  await poll.locator('.service-surface[aria-busy=false]').waitFor();
}

async function countIn(row: Locator): Promise<number> {
  return Number(await row.getByRole('cell').last().textContent());
}

async function styleOf(element: Locator, property: 'backgroundColor' | 'borderTopColor'): Promise<string> {
  return element.evaluate((styled, name) => getComputedStyle(styled)[name], property);
}
