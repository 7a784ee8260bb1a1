import { expect, it } from 'vitest';

import type { EnginePage } from '../../support/engines/engine-page.js';
import { describeInEngines, type EngineVisits } from '../../support/engines/engine-suite.js';
import { ANSWER, FINISHED } from '../../support/engines/engine-visit.js';

const LOG = { css: '.a2a-log' } as const;
const LINE = 'Some words of a line';
const lines = (count: number): string => Array.from({ length: count }, (_, index) => `${LINE} ${index}`).join('\n\n');

type Scroll = (page: EnginePage) => Promise<unknown>;

/** Ways to scroll up, five of each kind. */
const WAYS: readonly (readonly [name: string, scroll: Scroll])[] = [
  ...[3, 10, 40, 120, 900].map((px): [string, Scroll] => [`wheel ${px} px`, (page) => page.wheel(LOG, -px)]),
  ...['ArrowUp', 'PageUp', 'Home', 'Shift+Space', 'Shift+PageUp'].map((key): [string, Scroll] => [
    `key ${key}`,
    async (page) => {
      await page.on(LOG, (log) => log.focus(), null);
      await page.press(key);
    },
  ]),
  ...[3, 20, 60, 200, 1000].map((px): [string, Scroll] => [
    `scrollBy ${px} px`,
    (page) => page.on(LOG, (log, by) => log.scrollBy(0, -by), px),
  ]),
  ...[0.99, 0.9, 0.5, 0.1, 0].map((part): [string, Scroll] => [
    `scrollTop ${part}`,
    (page) => page.on(LOG, (log, by) => void (log.scrollTop *= by), part),
  ]),
  // The finger of a touch, before the browser reports that anything has scrolled.
  ...[5, 50, 100, 300, 600].map((px): [string, Scroll] => [`touch ${px} px`, (page) => page.on(LOG, drag, px)]),
  ...[0.02, 0.2, 0.5, 0.7, 0.9].map((part): [string, Scroll] => [
    `scrollIntoView ${part}`,
    (page) => page.on(LOG, showMark, part),
  ]),
];

/** Slow ways to scroll: the page scrolls in small steps while the answer grows. */
const SMOOTH = [
  ...[0.9, 0.5, 0].map((part) => ['scrollTo', part] as const),
  ...[-30, -150, -2000].map((px) => ['scrollBy', px] as const),
];

/** Runs in the page. Returns the place before and the one to go to. */
function scrollSmoothly(
  log: HTMLElement,
  [method, to]: (typeof SMOOTH)[number],
): Readonly<Record<'from' | 'to', number>> {
  const from = log.scrollTop;
  const top = method === 'scrollTo' ? Math.round(from * to) : to;
  log[method]({ top, behavior: 'smooth' });
  return { from, to: method === 'scrollTo' ? top : from + top };
}

/** Runs in the page. */
function drag(log: HTMLElement, px: number): void {
  const touch = (type: string, clientY: number): unknown =>
    log.dispatchEvent(Object.assign(new Event(type), { touches: [{ clientY }] }));
  touch('touchstart', 0);
  touch('touchmove', px);
}

/** Runs in the page. */
function showMark(log: HTMLElement, part: number): void {
  const mark = document.createElement('i');
  const answer = log.querySelector<HTMLElement>('.a2a-message-agent') as HTMLElement;
  answer.append(mark);
  answer.style.position = 'relative';
  mark.style.cssText = `position: absolute; top: ${part * (answer.clientHeight - 700)}px`;
  mark.scrollIntoView();
}

interface Place {
  readonly top: number;
  readonly height: number;
  readonly rest: number;
}

const measure = (page: EnginePage): Promise<Place> =>
  page.on(
    LOG,
    ({ scrollTop, scrollHeight, clientHeight }) => ({
      top: scrollTop,
      height: scrollHeight,
      rest: scrollHeight - scrollTop - clientHeight,
    }),
    null,
  );

/** Waits until the answer has grown by some lines. */
async function untilGrown(page: EnginePage): Promise<void> {
  const { height } = await measure(page);
  await expect.poll(async () => (await measure(page)).height, { interval: 20 }).toBeGreaterThan(height + 100);
}

async function untilAtEnd(page: EnginePage): Promise<void> {
  await page.on(LOG, (log) => void (log.scrollTop = log.scrollHeight), null);
  await untilGrown(page);
  await expect.poll(async () => (await measure(page)).rest, { interval: 20 }).toBeLessThan(2);
}

const nextFrames = (page: EnginePage): Promise<unknown> =>
  page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(null)))),
    null,
  );

/** A page with an answer that is longer than its view. */
async function longAnswer(visits: EngineVisits): Promise<EnginePage> {
  const visit = await visits.visit();
  const { page } = visit;
  await visit.show('A2AChat');
  await visit.handle('send', lines(60));
  await page.see({ ...FINISHED, text: `${LINE} 0` });
  return page;
}

/** Makes the first answer grow by 4 px each 10 ms. */
function grow(log: HTMLElement): void {
  let height = 0;
  const answer = log.querySelector<HTMLElement>('.a2a-message-agent');
  setInterval(() => (answer as HTMLElement).style.setProperty('padding-bottom', `${(height += 4)}px`), 10);
}

describeInEngines('scrolling', { wordMs: 4 }, (visits) => {
  it.skipIf(!visits.engine.isSupported)(
    'leaves a reader alone who scrolls up while an answer grows, in 30 of 30 ways',
    { timeout: 180_000 },
    async () => {
      const pulledBack: string[] = [];
      const page = await longAnswer(visits);
      await page.on(LOG, grow, null);
      for (const [name, scroll] of WAYS) {
        // Back at the end, the view follows again.
        await untilAtEnd(page);
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
    },
  );

  it.skipIf(!visits.engine.isSupported)(
    'goes where the page scrolls smoothly while an answer grows',
    { timeout: 180_000 },
    async () => {
      const page = await longAnswer(visits);
      await page.on(LOG, grow, null);
      const places: string[] = [];
      for (const way of SMOOTH) {
        await untilAtEnd(page);
        const { from, to } = await page.on(LOG, scrollSmoothly, way);
        const stopped = async (): Promise<boolean> => {
          const one = await measure(page);
          await untilGrown(page);
          const other = await measure(page);
          return Math.abs(one.top - other.top) <= 1;
        };
        await expect.poll(stopped, { interval: 20 }).toBe(true);
        const after = await measure(page);
        if (Math.abs(after.top - to) > 2) places.push(`${way.join(' ')}: ${JSON.stringify({ from, to, after })}`);
      }
      expect(places).toEqual([]);
    },
  );

  it.skipIf(!visits.engine.isSupported)(
    'follows a reader who scrolls to the end in the moment in which more text arrives',
    async () => {
      const page = await longAnswer(visits);
      await page.on(LOG, (log) => void (log.scrollTop = 0), null);
      await nextFrames(page);
      await page.on(
        LOG,
        (log) => {
          log.scrollTop = log.scrollHeight;
          log.querySelector<HTMLElement>('.a2a-message-agent')?.style.setProperty('padding-bottom', '500px');
        },
        null,
      );
      await expect.poll(async () => (await measure(page)).rest, { interval: 20 }).toBeLessThan(2);
    },
  );

  it.skipIf(!visits.engine.isSupported)(
    'keeps what a reader sees in place when something above grows and shrinks',
    async () => {
      const visit = await visits.visit();
      const { page } = visit;
      await visit.show('A2AChat');
      await visit.ask('Hello');
      await visit.handle('send', lines(60));
      await page.see({ ...FINISHED, text: `${LINE} 0` });
      const place = (): Promise<number> =>
        page.on(LOG, (log) => (log.querySelector('.a2a-message-agent') as Element).getBoundingClientRect().top, null);
      await page.on(LOG, (log) => log.querySelector('.a2a-message-agent')?.scrollIntoView(), null);
      await expect.poll(place).toBeGreaterThan(-1);
      const before = await place();
      for (const padding of [300, 20, 0]) {
        await page.on(
          LOG,
          (log, px) => log.querySelector<HTMLElement>('.a2a-message-user')?.style.setProperty('padding-top', `${px}px`),
          padding,
        );
        await nextFrames(page);
        expect(Math.abs((await place()) - before)).toBeLessThan(2);
      }
    },
  );

  it('stays at the end when a phone is turned, and back', async () => {
    const visit = await visits.visit();
    const { page } = visit;
    await page.resize({ width: 390, height: 700 });
    await visit.show('A2AChat');
    await visit.handle('send', `${LINE}, which is wider than a phone is. `.repeat(60));
    await page.see({ ...FINISHED, text: LINE });
    for (const [width, height] of [
      [700, 390],
      [390, 700],
      [320, 600],
      [800, 600],
    ] as const) {
      await page.resize({ width, height });
      await expect.poll(() => page.on(LOG, (log, px) => log.clientWidth - px, width)).toBeGreaterThan(-40);
      for (let frame = 0; frame < 4; frame += 1) await nextFrames(page);
      await expect.poll(async () => (await measure(page)).rest, { interval: 20, timeout: 2_000 }).toBeLessThan(2);
    }
  });

  it('is at the end after 20 of 20 fast answers', { timeout: 180_000 }, async () => {
    const visit = await visits.visit();
    const { page } = visit;
    await visit.show('A2AChat');
    const rests: number[] = [];
    for (let answer = 0; answer < 20; answer += 1) {
      await visit.handle(
        'send',
        `# Title ${answer}\n\n- **bold** item\n- \`code\`\n\n\`\`\`ts\nconst a = 1;\n\`\`\`\n\n| a | b |\n| - | - |\n| 1 | 2 |`,
      );
      await expect.poll(() => page.count(FINISHED), { interval: 20 }).toBe(answer + 1);
      await expect.poll(async () => (await measure(page)).rest, { interval: 20, timeout: 2_000 }).toBeLessThan(2);
      await nextFrames(page);
      rests.push((await measure(page)).rest);
    }
    expect(await page.count(ANSWER)).toBe(20);
    expect(rests.filter((rest) => rest > 1)).toEqual([]);
  });
});
