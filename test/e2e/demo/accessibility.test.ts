import { createRequire } from 'node:module';

import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';

import { describeDemo, type DemoVisit, type VisitOptions } from '../../support/demo-browser.js';
import { untilStill } from '../../support/still-page.js';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const NARROW = { viewport: { width: 320, height: 640 } };

describeDemo('the demo', { wordMs: 5 }, (demo) => {
  it.each<[string, VisitOptions]>([
    ['the chat and the widgets', {}],
    ['chat and widgets on a narrow dark screen', { ...NARROW, colorScheme: 'dark' }],
  ])('has no serious axe finding in %s', async (_name, options) => {
    const visit = await demo.visit(options);
    await visit.poll.getByRole('button', { name: /Pizza/ }).waitFor();
    expect(await seriousIssues(visit.page)).toEqual([]);
    await visit.ask('markdown');
    await visit.poll.getByRole('button', { name: /Pizza/ }).click();
    await visit.poll.getByRole('status').filter({ hasText: 'Thank you.' }).waitFor();
    await visit.poll.getByText('Edit this widget on the platform').click();
    expect(await seriousIssues(visit.page)).toEqual([]);
  });

  it('has no serious axe finding in the dark floating chat, closed and open', async () => {
    const visit = await demo.visit({ path: '/floating', colorScheme: 'dark' });
    expect(await seriousIssues(visit.page)).toEqual([]);
    await visit.page.getByRole('button', { name: 'Demo agent' }).click();
    await visit.ask('Hello');
    expect(await seriousIssues(visit.page)).toEqual([]);
  });

  it('has no serious axe finding in warnings and earlier conversations', async () => {
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

  it('announces an answer once, when it is complete', async () => {
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

  it('fits a screen of 320 pixels even with very long words', async () => {
    const visit = await demo.visit(NARROW);
    await visit.ask('a-very-long-word'.repeat(20));
    await visit.ask('markdown');
    expect(await widthOf(visit)).toBeLessThanOrEqual(320);
    const floating = await demo.visit({ path: '/floating', ...NARROW });
    expect(await widthOf(floating)).toBeLessThanOrEqual(320);
  });

  it('shows its header in one row and its switch without scrolling on a phone', async () => {
    const visit = await demo.visit(NARROW);
    const header = visit.page.getByRole('banner');
    expect((await header.boundingBox())?.height).toBeLessThan(64);
    expect((await visit.credentialSwitch.boundingBox())?.y).toBeLessThan(300);
    await visit.signIn('Ada');
    expect((await header.boundingBox())?.height).toBeLessThan(64);
    expect(await widthOf(visit)).toBeLessThanOrEqual(320);
  });

  it('shows its brand from the first paint', async () => {
    const visit = await demo.visit({
      prepare: (page) => page.route('**/api/a2a/config', () => undefined), // never answered
    });
    const accent = () => getComputedStyle(document.documentElement).getPropertyValue('--agent-accent');
    expect(await visit.page.evaluate(accent)).toBe('#4338ca');
  });

  it('runs no animation for visitors who prefer reduced motion', async () => {
    const visit = await demo.visit({ reducedMotion: 'reduce' });
    await visit.send('slow');
    await visit.answer.filter({ hasText: 'Counting' }).waitFor();
    // The half second in which Stop ignores clicks is an animation too, but nothing moves.
    const moving = await visit.page.evaluate(
      () =>
        document.getAnimations().filter((one) => (one as CSSAnimation).animationName !== 'agent-bff-unpressable')
          .length,
    );
    expect(moving).toBe(0);
  });
});

/** The serious and critical findings of axe, each with its rule and element. */
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
