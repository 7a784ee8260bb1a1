import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';

import { type ComponentPage, type ComponentVisit, describeInBrowsers } from '../../support/component-browser.js';

const LINE = 'Some words of a line';
const lines = (count: number): string => Array.from({ length: count }, (_, index) => `${LINE} ${index}`).join('\n\n');

/** Ways to scroll up, five of each kind. */
const WAYS: readonly (readonly [name: string, scroll: (page: Page) => Promise<unknown>])[] = [
  ...[3, 10, 40, 120, 900].map((px) => [`wheel ${px} px`, (page: Page) => page.mouse.wheel(0, -px)] as const),
  ...['ArrowUp', 'PageUp', 'Home', 'Shift+Space', 'Shift+PageUp'].map(
    (key) => [`key ${key}`, (page: Page) => page.locator('.a2a-log').press(key)] as const,
  ),
  ...[3, 20, 60, 200, 1000].map((px) => [`scrollBy ${px} px`, by(`log.scrollBy(0, -${px})`)] as const),
  ...[0.99, 0.9, 0.5, 0.1, 0].map((part) => [`scrollTop ${part}`, by(`log.scrollTop *= ${part}`)] as const),
  // The finger of a touch, before the browser reports that anything has scrolled.
  ...[5, 50, 100, 300, 600].map(
    (px) => [`touch ${px} px`, by(`touch('touchstart', 0); touch('touchmove', ${px});`)] as const,
  ),
  ...[0.02, 0.2, 0.5, 0.7, 0.9].map(
    (part) => [`scrollIntoView ${part}`, by(`mark(${part}).scrollIntoView();`)] as const,
  ),
];

function by(script: string): (page: Page) => Promise<unknown> {
  return (page) =>
    page.evaluate(`(() => {
      const log = document.querySelector('.a2a-log');
      const touch = (type, clientY) => log.dispatchEvent(Object.assign(new Event(type), { touches: [{ clientY }] }));
      const mark = (part) => {
        const mark = log.querySelector('.a2a-message-agent').appendChild(document.createElement('i'));
        mark.parentElement.style.position = 'relative';
        mark.style.cssText = 'position: absolute; top: ' + part * (mark.parentElement.clientHeight - 700) + 'px';
        return mark;
      };
      ${script}
    })()`);
}

function send(visit: ComponentVisit, text: string): Promise<unknown> {
  return visit.page.evaluate(
    (sent) => void (globalThis as unknown as ComponentPage).handle.current['send']?.(sent),
    text,
  );
}

const measure = (page: Page): Promise<{ readonly top: number; readonly height: number; readonly rest: number }> =>
  page.locator('.a2a-log').evaluate(({ scrollTop, scrollHeight, clientHeight }) => ({
    top: scrollTop,
    height: scrollHeight,
    rest: scrollHeight - scrollTop - clientHeight,
  }));

/** Waits until the answer has grown by some lines. */
async function untilGrown(page: Page): Promise<void> {
  const { height } = await measure(page);
  await expect.poll(async () => (await measure(page)).height, { interval: 20 }).toBeGreaterThan(height + 100);
}

describeInBrowsers('scrolling', { wordMs: 4 }, (browser) => {
  it('leaves a reader alone who scrolls up while an answer grows, in 30 of 30 ways', { timeout: 180_000 }, async () => {
    const pulledBack: string[] = [];
    const visit = await browser.visit();
    const { page } = visit;
    await visit.show('A2AChat');
    await send(visit, lines(60));
    await visit.finished.waitFor();
    await by(`{
      let height = 0;
      const answer = log.querySelector('.a2a-message-agent');
      setInterval(() => (answer.style.paddingBottom = (height += 4) + 'px'), 10);
    }`)(page);
    await page.locator('.a2a-log').hover();
    for (const [name, scroll] of WAYS) {
      // Back at the end, the view follows again.
      await by('log.scrollTop = log.scrollHeight')(page);
      await untilGrown(page);
      await expect.poll(async () => (await measure(page)).rest, { interval: 20 }).toBeLessThan(2);
      const before = await measure(page);
      await scroll(page);
      await untilGrown(page);
      const between = await measure(page);
      await untilGrown(page);
      const after = await measure(page);
      const isUp = between.rest > 100 && between.top < before.height;
      if (!isUp || after.top > between.top + 1)
        pulledBack.push(`${name}: ${JSON.stringify({ before, between, after })}`);
    }
    expect(WAYS).toHaveLength(30);
    expect(pulledBack).toEqual([]);
  });

  it('keeps what a reader sees in place when something above grows and shrinks', async () => {
    const visit = await browser.visit();
    const { page } = visit;
    await visit.show('A2AChat');
    await visit.ask('Hello');
    await send(visit, lines(60));
    await visit.agentMessage.filter({ hasText: `${LINE} 0` }).waitFor();
    await visit.finished.waitFor();
    const place = (): Promise<number> =>
      page
        .locator('.a2a-message-agent')
        .first()
        .evaluate((seen) => seen.getBoundingClientRect().top);
    await by(`log.querySelector('.a2a-message-agent').scrollIntoView()`)(page);
    await expect.poll(place).toBeGreaterThan(-1);
    const before = await place();
    for (const padding of [300, 20, 0]) {
      await by(`log.querySelector('.a2a-message-user').style.paddingTop = '${padding}px'`)(page);
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
      expect(Math.abs((await place()) - before)).toBeLessThan(2);
    }
  });

  it('is at the end after 20 of 20 fast answers', { timeout: 180_000 }, async () => {
    const visit = await browser.visit();
    await visit.show('A2AChat');
    const rests: number[] = [];
    for (let answer = 0; answer < 20; answer += 1) {
      await send(
        visit,
        `# Title ${answer}\n\n- **bold** item\n- \`code\`\n\n\`\`\`ts\nconst a = 1;\n\`\`\`\n\n| a | b |\n| - | - |\n| 1 | 2 |`,
      );
      await visit.page.locator('.a2a-message-agent .a2a-bubble[aria-busy=false]').nth(answer).waitFor();
      await visit.page.evaluate(
        () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
      );
      rests.push((await measure(visit.page)).rest);
    }
    expect(rests.filter((rest) => rest > 1)).toEqual([]);
  });
});
