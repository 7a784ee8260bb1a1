// npm run screenshots:engines [-- --engines WebKitGTK,Firefox,Chromium --only 390x844]: pictures of the chat's states in each engine,
// size and colour scheme, and a page with all of them, in reports/screenshots. They are looked at, not compared. In Chromium, axe
// looks at each of them too.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runnerImport } from 'vite';

const { values } = parseArgs({
  options: {
    engines: { type: 'string', default: 'WebKitGTK,Firefox,Chromium' },
    only: { type: 'string', default: '' },
  },
});
const FOLDER = resolve('reports/screenshots');
const PHONE = [390, 844];
const WIDE = [1280, 800];
const SIZES = [PHONE, [844, 390], [320, 640], WIDE, [640, 400]];
/** The sizes and the number of states in each engine. */
const SHOWN = { WebKitGTK: [SIZES, 4], Firefox: [SIZES, 4], Chromium: [[[320, 640], PHONE, WIDE], 16] };
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PROMPTS = ['Where is my parcel?', 'I want to return something', 'Which size fits me?'];
const FAB = { role: 'button', name: 'Ask us' };
const floating = async (visit) => {
  await visit.show('A2AChatFloating', { panelTitle: 'Ask us', suggestedPrompts: PROMPTS });
  await visit.page.click(FAB);
};
const chat = (props) => async (visit) => {
  await visit.show('A2AChat', { suggestedPrompts: PROMPTS, ...props });
  await visit.page.see({ css: 'h2', text: 'Demo agent' });
};
const asked =
  (...texts) =>
  async (visit) => {
    await visit.show('A2AChat', {});
    for (const text of texts) await visit.ask(text);
  };
const widget = (props, seen) => async (visit) => {
  await visit.show('ServiceSurface', props);
  await visit.page.see(seen);
};

/** The first four are those that differ most between engines. */
const STATES = {
  welcome: chat(),
  markdown: asked('markdown'),
  'floating panel': floating,
  widget: widget({ surfaceId: 'poll' }, { role: 'button', text: 'Pizza' }),
  'welcome of a user': chat({ user: { name: 'Ada', picture: '/people/ada.svg' } }),
  'an answer': asked('Hello'),
  'a growing answer': async (visit) => {
    await visit.show('A2AChat', {});
    await visit.send('slow');
    await visit.page.see({ css: '.a2a-message-agent', text: ' 9' });
  },
  'a stopped answer': async (visit) => {
    await visit.show('A2AChat', {});
    await visit.send('slow');
    await visit.page.see({ css: '.a2a-message-agent', text: ' 3' });
    await visit.page.click({ role: 'button', name: 'Stop' });
    await visit.page.see({ css: '.a2a-message-agent', text: 'Stopped.' });
  },
  'a question': asked('input'),
  'a failed task': async (visit) => {
    await visit.show('A2AChat', {});
    await visit.send('fail');
    await visit.page.see({ css: '.a2a-panel', text: 'I was asked to fail' });
  },
  'a lost connection': async (visit) => {
    await visit.show('A2AChat', {});
    visit.site.isCut = true;
    await visit.send('Is anyone there?');
    await visit.page.see({ role: 'button', name: 'Retry' });
    visit.site.isCut = false;
  },
  'a long text': async (visit) => {
    await visit.show('A2AChat', {});
    await visit.page.click({ css: '.a2a-panel textarea' });
    await visit.page.type('a long text that is written over several lines '.repeat(6));
  },
  'right to left': async (visit) => {
    await visit.show('A2AChat', { dir: 'rtl' });
    await visit.ask('markdown');
  },
  'an answer in the panel': async (visit) => {
    await floating(visit);
    await visit.ask('markdown');
  },
  notes: widget({ name: 'my-notes' }, { role: 'textbox', name: 'New note' }),
  'a failed widget': widget({ surfaceId: 'unknown' }, { role: 'button', name: 'Try again' }),
};

const { module: list } = await runnerImport(resolve('test/support/engines/engines.ts'));
const { module: visits } = await runnerImport(resolve('test/support/engines/engine-visit.ts'));
const { module: demos } = await runnerImport(resolve('examples/start-demo.ts'));
const { module: sites } = await runnerImport(resolve('test/support/engines/engine-site.ts'));
const demo = await demos.startDemo({ port: 0, wordMs: 0, slowStepMs: 30 });
const site = await sites.EngineSite.start(demo.url);
mkdirSync(FOLDER, { recursive: true });
const figures = [];
const faults = [];
for (const name of values.engines.split(',')) {
  const engine = list.ENGINES.find((one) => one.name === name);
  if (engine?.missing !== undefined) throw new Error(`${name}: ${engine.missing}.`);
  const running = await engine.launch();
  const [sizes, count] = SHOWN[name];
  for (const colorScheme of ['light', 'dark'])
    for (const [width, height] of sizes)
      for (const [state, show] of Object.entries(STATES).slice(0, count)) {
        const file = `${[name, colorScheme, `${width}x${height}`, state].join('-').replaceAll(' ', '-')}.png`;
        if (!file.includes(values.only)) continue;
        const page = await running.newPage({ width, height, colorScheme });
        const visit = new visits.EngineVisit(page, site);
        try {
          await visit.open();
          // The page allows both schemes. axe assumes a white page unless this element has a background.
          await page.evaluate(() => {
            document.documentElement.style.colorScheme = 'light dark';
            document.querySelector('#root').style.background = 'light-dark(#fff, #121212)';
          }, null);
          await show(visit);
          // Waits for fades; what turns or blinks goes on.
          const isStill = () =>
            page.evaluate(() => document.getAnimations().every((one) => !(one instanceof CSSTransition)), null);
          for (let tries = 0; tries < 50 && !(await isStill()); tries += 1) await pause(20);
          writeFileSync(join(FOLDER, file), await page.screenshot());
          if (name === 'Chromium') faults.push(...(await axe(page)).map((fault) => `${file}: ${fault}`));
          figures.push({ file, title: `${name}, ${colorScheme}, ${width} × ${height}: ${state}` });
        } finally {
          await page.close();
        }
      }
  await running.close();
}
await site.close();
await demo.close();
const shown = figures.map(
  ({ file, title }) => `<figure><img src="${file}" alt=""><figcaption>${title}</figcaption></figure>`,
);
writeFileSync(
  join(FOLDER, 'index.html'),
  `<!doctype html><meta charset="utf-8"><title>Engines</title><style>figure { display: inline-block; width: 300px; margin: 4px; font: 11px sans-serif } img { max-width: 100%; max-height: 330px; border: 1px solid }</style>${shown.join('\n')}`,
);
process.stdout.write(`${figures.length} pictures: ${join(FOLDER, 'index.html')}\n`);
if (faults.length > 0) throw new Error(`axe found:\n${faults.join('\n')}`);

/** All findings of axe, except those about whole pages. */
async function axe(page) {
  await page.evaluate(`() => {${AXE}}`, null);
  return page.evaluate(async () => {
    const { violations } = await globalThis.axe.run('#root', { rules: { region: { enabled: false } } });
    return violations.map(({ id, nodes }) => `${id} (${nodes[0].target}): ${nodes[0].failureSummary}`);
  }, null);
}
