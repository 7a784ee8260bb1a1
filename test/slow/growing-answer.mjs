// npm run test:growing [-- --events 1000,4000 --react <checkout> --engines Chromium,WebKitGTK --kinds list,table --pieces]:
// measures the main thread while one answer of many small events is written, in each engine, and checks that a selection
// survives it; then, in Chromium, answers that are one long list, table, quotation, block of code or paragraph, and long ones
// in one event. With --pieces, pieces of marks and their pairs, repeated. Without arguments it writes the table of
// docs/benchmark.md.
import { loadavg } from 'node:os';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runnerImport } from 'vite';
import { writeTable } from '../../scripts/generated-table.mjs';
import { startChatPage } from './chat-page.mjs';
import { Report } from './report.mjs';

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000,4000' },
    react: { type: 'string', default: '.' },
    engines: { type: 'string', default: 'Chromium,Firefox,WebKitGTK' },
    kinds: { type: 'string', default: 'list,table,quote,fence,paragraph' },
    pieces: { type: 'boolean', default: false },
  },
});
const EVENT_MS = 4;
/** Milliseconds of Chromium's main thread by the number of events, and WebKit's share of it. */
const LIMITS = { ms: { 4000: 1800 }, webKit: 2, oneKind: 1.5 };

const LINE = 'some **words** of a line with `code` in it and [a link](https://example.com/page)';
const KINDS = {
  list: `- ${LINE}\n`,
  table: `| 1 | ${LINE} | 22 |\n`,
  quote: `> ${LINE}\n`,
  fence: `  const answer = question.length * 42; // of course\n`,
  paragraph: `${LINE} `,
};
const BEGINNINGS = { table: '| One | Two | Three |\n| --- | --- | ---: |\n', fence: '```ts\n' };
// prettier-ignore
const PIECES = [
  '- ', '> ', '*a_', '[', '![a](', '`a``', '**a ', '<b>', '| ', '|-', '[a]: b\n', '\\', '&', '<!--', '1. ', '\t', '](', '~~a~',
  'https://x.example/(', '[a](b()', '[a](b "', '\\(', '\\[a', '\\)', '<a href="https://a.b">', '</a>', '<a href="', 'a@b.c',
  'a_@', 'www.a', '请**', 'data:image/png;base64,', '![a](data:image/png;base64,AA', '\n- a', '\n\n', '```\n',
  '| a | b |\n|---|---|\n', '[a][b', '&#x41;', 'a',
];

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
const { module } = await runnerImport(resolve('test/support/engines/engines.ts'));
const load = loadavg()[0].toFixed(1);
const report = new Report(`answers in ${values.engines}, at a load of ${load}`);
const counts = values.events.split(',').map(Number);
const rows = new Map();
for (const events of counts) {
  const page = await startChatPage(resolve(values.react), (write) => answer(write, events));
  const used = {};
  for (const name of values.engines.split(',')) {
    const engine = module.ENGINES.find((one) => one.name === name);
    if (engine.missing !== undefined) {
      report.note(`${name}: not run, ${engine.missing}`);
      continue;
    }
    const running = await engine.launch();
    try {
      const browser = `${name} ${running.version.replace(/^(\d+\.\d+).*/, '$1')}`;
      used[name] = await measure(browser, events, page.url, await running.newPage());
      if (name === 'Chromium' && LIMITS.ms[events] !== undefined) await measureKinds(running, events, used[name]);
      rows.set(browser, [...(rows.get(browser) ?? []), `${(used[name] / 1000).toFixed(1)} s`]);
    } finally {
      await running.close();
    }
  }
  page.close();
  const limit = LIMITS.ms[events];
  if (used.Chromium !== undefined && limit !== undefined)
    report.check(`${events} events: Chromium takes at most ${limit} ms`, used.Chromium <= limit, `${used.Chromium} ms`);
  if (used.Chromium !== undefined && used.WebKitGTK !== undefined)
    report.check(
      `${events} events: WebKit takes at most ${LIMITS.webKit} times as long as Chromium`,
      used.WebKitGTK <= LIMITS.webKit * used.Chromium,
      (used.WebKitGTK / used.Chromium).toFixed(1),
    );
}
if (values.engines.includes('Chromium')) await measureWholes();
report.finish();
if (process.argv.length === 2) {
  const head = [`At a load of ${load}`, ...counts.map((events) => `${events.toLocaleString('en')} events`)];
  await writeTable(resolve('docs/benchmark.md'), 'growing', [head, ...[...rows].map((row) => row.flat())]);
}

/** `length` characters of a repeated text. */
function repeated(piece, length, beginning = '') {
  return beginning + piece.repeat(Math.ceil(length / piece.length)).slice(0, length - beginning.length);
}

async function answer(write, events, kind) {
  const text = repeated(KINDS[kind] ?? SECTION, events * 20, BEGINNINGS[kind]);
  const task = { taskId: 'task', contextId: 'context' };
  write({ task: { id: 'task', contextId: 'context', status: { state: 'TASK_STATE_WORKING' } } });
  const begun = performance.now();
  for (let event = 0; event < events; event += 1) {
    const artifact = { artifactId: 'answer', parts: [{ text: text.slice(event * 20, event * 20 + 20) }] };
    write({ artifactUpdate: { ...task, artifact, append: event > 0, lastChunk: false } });
    const early = begun + event * EVENT_MS - performance.now();
    if (early > 0) await pause(early);
  }
  write({ statusUpdate: { ...task, status: { state: 'TASK_STATE_COMPLETED' } } });
}

async function measureKinds(running, events, mixed) {
  for (const kind of values.kinds.split(',').filter((name) => name in KINDS)) {
    const page = await startChatPage(resolve(values.react), (write) => answer(write, events, kind));
    const ms = await measure(`Chromium, one ${kind}`, events, page.url, await running.newPage(), false);
    page.close();
    const share = (ms / mixed).toFixed(1);
    report.check(`one ${kind}: at most ${LIMITS.oneKind} times as long`, ms <= LIMITS.oneKind * mixed, share);
  }
}

async function measure(browser, events, url, page, isMixed = true) {
  await page.open(url);
  const evaluate = (script) => page.evaluate(`() => (${script})`, null);
  await until(() => evaluate(`typeof show === 'function'`));
  await evaluate(`void show('A2AChat', {})`);
  await until(() => evaluate(`document.querySelector('.a2a-header h2')?.textContent === 'Agent'`));
  await pause(1_000);
  // Chromium reports long tasks. Elsewhere the delay of a timer is the length of the task before it; the timer takes time
  // of its own, a tenth of all.
  await evaluate(`void (() => {
    globalThis.longTasks = [];
    if (PerformanceObserver.supportedEntryTypes.includes('longtask'))
      return new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => longTasks.push(Math.round(duration)))).observe({ type: 'longtask' });
    globalThis.longest = 0;
    let last = performance.now();
    setInterval(() => {
      const now = performance.now();
      longest = Math.max(longest, now - last - 10);
      last = now;
    }, 10);
  })()`);
  const before = page.mainThreadMs();
  await evaluate(`void chat.current.send('Go')`);
  if (isMixed) {
    // In the middle, selects words of an earlier block, then of the one being written.
    await pause((events * EVENT_MS) / 3);
    const LONG = `[...document.querySelectorAll('.a2a-markdown p')].filter((p) => p.textContent.length > 60)`;
    await until(() => evaluate(`${LONG}.length > 2`));
    await evaluate(`void (() => {
      const paragraphs = ${LONG};
      const first = paragraphs.at(-3).firstChild;
      getSelection().setBaseAndExtent(first, 5, paragraphs.at(-2).firstChild, 10);
      globalThis.selected = getSelection().toString();
    })()`);
  }
  await until(() => evaluate(`document.querySelector('.a2a-message-agent .a2a-bubble[aria-busy=false]') !== null`));
  await pause(1_500);
  const ms = page.mainThreadMs() - before;
  const { longest, longTasks, selected, kept } = await evaluate(
    `({ longest: globalThis.longest, longTasks, selected: globalThis.selected, kept: getSelection().toString() })`,
  );
  const longestTask = longTasks.length > 0 ? Math.max(...longTasks) : undefined;
  const lateness = longest === undefined ? '' : `, a timer at most ${Math.round(longest)} ms late`;
  report.note(`${browser}, ${events} events: ${ms} ms of the main thread${lateness}`);
  if (isMixed)
    report.check(
      `${browser}: a selection stays`,
      selected !== '' && kept === selected,
      JSON.stringify(kept.slice(0, 20)),
    );
  if (longestTask !== undefined || browser.startsWith('Chromium'))
    report.check(
      `${browser}: no task takes more than 50 ms`,
      longestTask === undefined,
      `${longestTask ?? 'at most 50'} ms`,
    );
  return ms;
}

/** Long answers in one event: no task blocks the page, and twice the text takes twice the time. */
async function measureWholes() {
  let text = '';
  const page = await startChatPage(resolve(values.react), (write) => {
    write({ message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text }] } });
  });
  const running = await module.ENGINES.find(({ name }) => name === 'Chromium').launch();
  /** The time until the text is shown, and the longest task. */
  const show = async (whole) => {
    text = `${whole}\n\nThe end.`;
    const shown = await running.newPage();
    await shown.open(page.url);
    const evaluate = (script) => shown.evaluate(`() => (${script})`, null);
    await until(() => evaluate(`typeof show === 'function'`));
    await evaluate(`void show('A2AChat', {})`);
    await until(() => evaluate(`document.querySelector('.a2a-header h2')?.textContent === 'Agent'`));
    await evaluate(`void (() => {
      globalThis.longTasks = [0];
      new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => longTasks.push(Math.round(duration)))).observe({ type: 'longtask' });
    })()`);
    const before = shown.mainThreadMs();
    await evaluate(`void chat.current.send('Go')`);
    await until(() =>
      evaluate(
        `/The end\\.?/.test(document.querySelector('.a2a-message-agent .a2a-markdown')?.lastElementChild?.textContent ?? '')`,
      ),
    );
    const longest = await evaluate(`Math.max(...longTasks)`);
    const ms = shown.mainThreadMs() - before;
    await shown.close?.();
    return { ms, longest };
  };
  const wholes = Object.entries(KINDS).map(([kind, line]) => [`one ${kind}`, line, 200_000, BEGINNINGS[kind]]);
  for (const [name, piece, length, beginning] of [
    ['mixed', SECTION, 200_000],
    ['mixed', SECTION, 1_000_000],
    ...wholes,
  ]) {
    // A row that is cut off may be the widest one, and lays out the whole table again.
    const rows = repeated(piece, length, beginning).replace(/\n.*$/, '');
    const { ms, longest } = await show(name === 'one fence' ? `${rows}\n\`\`\`` : rows);
    report.check(
      `${length} characters in one event, ${name}: no task takes more than 50 ms`,
      longest <= 50,
      `${longest} ms of ${ms}`,
    );
  }
  const pairs = PIECES.flatMap((one) => PIECES.map((other) => one + other));
  for (const piece of values.pieces ? [...PIECES, ...pairs] : PIECES.filter((_, index) => index % 8 === 0)) {
    const [half, whole] = [await show(repeated(piece, 50_000)), await show(repeated(piece, 100_000))];
    const name = `100,000 characters of ${JSON.stringify(piece)}`;
    report.check(`${name}: no task takes more than 200 ms`, whole.longest <= 200, `${whole.longest} ms of ${whole.ms}`);
    const share = whole.ms / half.ms;
    report.check(
      `${name}: at most 2.5 times as long as half of them`,
      whole.ms < 300 || share <= 2.5,
      share.toFixed(1),
    );
  }
  await running.close();
  page.close();
}

async function until(check) {
  for (let tries = 0; !(await check()); tries += 1) {
    if (tries > 1200) throw new Error('This takes too long.');
    await pause(100);
  }
}
