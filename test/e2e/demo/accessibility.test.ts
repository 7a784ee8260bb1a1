import { createRequire } from 'node:module';

import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';

import { describeDemo, type DemoVisit, type VisitOptions } from '../../support/demo-browser.js';
import { untilStill } from '../../support/still-page.js';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const NARROW = { viewport: { width: 320, height: 640 } };

describeDemo('the demo for everybody', { wordMs: 5 }, (demo) => {
  it.each<[string, VisitOptions]>([
    ['the chat and the widgets', {}],
    ['the same on a narrow screen in the dark', { ...NARROW, colorScheme: 'dark' }],
  ])('axe finds nothing serious in %s', async (_name, options) => {
    const visit = await demo.visit(options);
    await visit.poll.getByRole('button', { name: /Pizza/ }).waitFor();
    expect(await seriousIssues(visit.page)).toEqual([]);
    await visit.ask('markdown');
    await visit.poll.getByRole('button', { name: /Pizza/ }).click();
    await visit.poll.getByRole('status').filter({ hasText: 'Thank you.' }).waitFor();
    await visit.poll.getByText('Edit this widget on the platform').click();
    expect(await seriousIssues(visit.page)).toEqual([]);
  });

  it('axe finds nothing serious in the floating chat in the dark, closed and open', async () => {
    const visit = await demo.visit({ path: '/floating', colorScheme: 'dark' });
    expect(await seriousIssues(visit.page)).toEqual([]);
    await visit.page.getByRole('button', { name: 'Demo agent' }).click();
    await visit.ask('Hello');
    expect(await seriousIssues(visit.page)).toEqual([]);
  });

  it('axe finds nothing serious in warnings and earlier conversations', async () => {
    const visit = await demo.visit();
    await visit.page.route('**/api/a2a', (route) => route.abort());
    await visit.send('Hello');
    await visit.page.getByRole('button', { name: 'Retry' }).waitFor();
    await visit.page.locator('input[type=file]').setInputFiles({
      name: 'film.bin',
      mimeType: 'video/mp4',
      buffer: Buffer.alloc(1_500_000),
    });
    expect(await seriousIssues(visit.page)).toEqual([]);

    await visit.page.unroute('**/api/a2a');
    await visit.signIn('Grace');
    await visit.ask('Hello');
    await visit.page.getByRole('button', { name: 'Earlier conversations' }).click();
    await visit.page.getByRole('button', { name: 'Delete Hello' }).first().waitFor();
    expect(await seriousIssues(visit.page)).toEqual([]);
  });

  it('reads an answer aloud once, when it is complete', async () => {
    const visit = await demo.visit();
    const log = visit.page.getByRole('log', { name: 'Conversation' });
    expect(await log.getAttribute('aria-live')).toBe('polite');
    await visit.send('slow');
    await visit.answer.filter({ hasText: 'Counting' }).waitFor();
    expect(await log.getAttribute('aria-busy')).toBe('true');
    await visit.page.getByRole('button', { name: 'Stop' }).click();
    await visit.answer.filter({ hasText: 'Stopped.' }).waitFor();
    expect(await log.getAttribute('aria-busy')).toBe('false');
  });

  it('fits a screen of 320 pixels, whatever the words', async () => {
    const visit = await demo.visit(NARROW);
    await visit.ask('a-very-long-word'.repeat(20));
    await visit.ask('markdown');
    expect(await widthOf(visit)).toBeLessThanOrEqual(320);
    const floating = await demo.visit({ path: '/floating', ...NARROW });
    expect(await widthOf(floating)).toBeLessThanOrEqual(320);
  });

  it('has its header in one row and its switch in view on a phone, for visitors and for users', async () => {
    const visit = await demo.visit(NARROW);
    const header = visit.page.getByRole('banner');
    expect((await header.boundingBox())?.height).toBeLessThan(64);
    expect((await visit.credentialSwitch.boundingBox())?.y).toBeLessThan(300);
    await visit.signIn('Ada');
    expect((await header.boundingBox())?.height).toBeLessThan(64);
    expect(await widthOf(visit)).toBeLessThanOrEqual(320);
  });

  it('wears its brand from the first paint', async () => {
    const visit = await demo.visit({
      prepare: (page) => page.route('**/api/a2a/config', () => undefined), // never
    });
    const accent = () => getComputedStyle(document.documentElement).getPropertyValue('--agent-accent');
    expect(await visit.page.evaluate(accent)).toBe('#4338ca');
  });

  it('keeps still for visitors who asked for that', async () => {
    const visit = await demo.visit({ reducedMotion: 'reduce' });
    await visit.send('slow');
    await visit.answer.filter({ hasText: 'Counting' }).waitFor();
    const moving = await visit.page.evaluate(() => document.getAnimations().length);
    expect(moving).toBe(0);
  });
});

/** What axe calls serious or critical: the rule, and where. */
async function seriousIssues(page: Page): Promise<string[]> {
  await page.waitForFunction(() => document.querySelector('.service-surface[aria-busy="true"]') === null);
  await untilStill(page);
  await page.addScriptTag({ path: AXE });
  const { violations, passes } = await page.evaluate<AxeResults>('axe.run()');
  expect(passes.length).toBeGreaterThan(10);
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${String(target)} ${failureSummary}`),
    );
}

async function widthOf({ page }: DemoVisit): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth);
}
