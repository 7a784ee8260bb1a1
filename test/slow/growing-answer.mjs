// npm run test:growing [-- --events 4000 --react <checkout> --browsers chromium,webkit]: measures the main thread while one
// answer of many small events is written, in Chromium and in WebKitGTK, and checks that a selection survives it.
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { startChatPage } from './chat-page.mjs';
import { Report } from './report.mjs';
import { mainThreadMs, openInWebKit } from './webkit.mjs';

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '4000' },
    react: { type: 'string', default: '.' },
    browsers: { type: 'string', default: 'chromium,webkit' },
  },
});
const EVENTS = Number(values.events);
const EVENT_MS = 4;
const LIMITS = { mainThreadMs: EVENTS / 2, webkit: 2 };

const SECTION = `## A heading of a section

Some words of a paragraph with **bold**, *light* and \`code\` in it, and [a link](https://example.com/page) at its end.

- one item of a list that is **longer** than the others
- another item
  1. and a numbered one below it
  2. with a second

\`\`\`ts
export function answer(question: string): number {
  return question.length * 42; // of course
}
\`\`\`

| Name | Amount | Remark |
| ---- | -----: | ------ |
| one  |      1 | first  |
| two  |     22 | *next* |

> A quotation of somebody who said a lot.

`;
const text = SECTION.repeat(Math.ceil((EVENTS * 20) / SECTION.length)).slice(0, EVENTS * 20);

const report = new Report(`an answer of ${EVENTS} events`);
const page = await startChatPage(resolve(values.react), async (write) => {
  const task = { taskId: 'task', contextId: 'context' };
  write({ task: { id: 'task', contextId: 'context', status: { state: 'TASK_STATE_WORKING' } } });
  const begun = performance.now();
  for (let event = 0; event < EVENTS; event += 1) {
    const artifact = { artifactId: 'answer', parts: [{ text: text.slice(event * 20, event * 20 + 20) }] };
    write({ artifactUpdate: { ...task, artifact, append: event > 0, lastChunk: false } });
    const early = begun + event * EVENT_MS - performance.now();
    if (early > 0) await pause(early);
  }
  write({ statusUpdate: { ...task, status: { state: 'TASK_STATE_COMPLETED' } } });
});

const used = {};
for (const browser of values.browsers.split(',')) {
  const visit = browser === 'webkit' ? await openInWebKit(page.url) : await openInChromium(page.url);
  if (visit === undefined) {
    process.stdout.write('WebKitGTK is not installed: apt-get install webkit2gtk-driver xvfb\n');
    continue;
  }
  try {
    used[browser] = await measure(browser, visit);
  } finally {
    await visit.close();
  }
}
page.close();
if (used.chromium !== undefined && used.webkit !== undefined)
  report.check(
    `WebKit takes at most ${LIMITS.webkit} times as long as Chromium`,
    used.webkit <= LIMITS.webkit * used.chromium,
    (used.webkit / used.chromium).toFixed(1),
  );
report.finish();

async function measure(browser, { evaluate, mainThreadMs: time, close: _close }) {
  await until(() => evaluate(`typeof show === 'function'`));
  await evaluate(`void show('A2AChat', {})`);
  await until(() => evaluate(`document.querySelector('.a2a-header h2')?.textContent === 'Agent'`));
  await pause(1_000);
  // The delay of a timer is the length of the task before it.
  await evaluate(`void (() => {
    globalThis.longest = 0;
    globalThis.longTasks = [];
    let last = performance.now();
    setInterval(() => {
      const now = performance.now();
      longest = Math.max(longest, now - last - 10);
      last = now;
    }, 10);
    if (PerformanceObserver.supportedEntryTypes.includes('longtask'))
      new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => longTasks.push(Math.round(duration)))).observe({ type: 'longtask' });
  })()`);
  const before = time();
  await evaluate(`void chat.current.send('Go')`);
  // In the middle, selects words of an earlier block, then of the one being written.
  await pause((EVENTS * EVENT_MS) / 3);
  await evaluate(`void (() => {
    const paragraphs = [...document.querySelectorAll('.a2a-markdown p')].filter((p) => p.textContent.length > 60);
    const first = paragraphs.at(-3).firstChild;
    getSelection().setBaseAndExtent(first, 5, paragraphs.at(-2).firstChild, 10);
    globalThis.selected = getSelection().toString();
  })()`);
  await until(() => evaluate(`document.querySelector('.a2a-message-agent .a2a-bubble[aria-busy=false]') !== null`));
  await pause(1_500);
  const ms = time() - before;
  const { longest, longTasks, selected, kept } = await evaluate(
    `({ longest: Math.round(longest), longTasks, selected, kept: getSelection().toString() })`,
  );
  const longestTask = longTasks.length > 0 ? Math.max(...longTasks) : undefined;
  report.note(`${browser}: ${ms} ms of the main thread, a timer at most ${longest} ms late`);
  report.check(
    `${browser}: a selection stays`,
    selected !== '' && kept === selected,
    JSON.stringify(kept.slice(0, 20)),
  );
  if (browser === 'chromium') {
    report.check(`the main thread takes at most ${LIMITS.mainThreadMs} ms`, ms <= LIMITS.mainThreadMs, `${ms} ms`);
    report.check('no task takes more than 50 ms', longestTask === undefined, `${longestTask ?? 'at most 50'} ms`);
  }
  return ms;
}

async function openInChromium(url) {
  const browser = await chromium.launchServer({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    headless: true,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--disable-background-networking'],
  });
  const client = await chromium.connect(browser.wsEndpoint());
  const page = await client.newPage({ viewport: { width: 1000, height: 800 } });
  await page.goto(url);
  return {
    evaluate: (script) => page.evaluate(script),
    mainThreadMs: () => mainThreadMs('--type=renderer', browser.process().pid),
    close: () => browser.close(),
  };
}

async function until(check) {
  for (let tries = 0; !(await check()); tries += 1) {
    if (tries > 1200) throw new Error('This takes too long.');
    await pause(100);
  }
}
