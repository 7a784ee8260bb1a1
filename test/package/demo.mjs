// Runs `agent-bff demo` as it is installed, and visits it in Chromium: as a visitor, as Ada and as Grace. Options: --node PATH, the
// Node that runs the demo; --shots FOLDER, pictures of both users' pages. Runs in the folder of the installation.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openBrowser, problemsOf } from './browser.mjs';

const { values } = parseArgs({ options: { node: { type: 'string' }, shots: { type: 'string' } } });
const { bin } = JSON.parse(readFileSync('node_modules/agent-bff/package.json', 'utf8'));
const child = spawn(
  values.node ?? process.execPath,
  [`node_modules/agent-bff/${bin['agent-bff']}`, 'demo', '--port', '0'],
  { stdio: ['ignore', 'pipe', 'pipe'] },
);
process.once('exit', () => child.kill());
let terminal = '';
child.stderr.on('data', (chunk) => (terminal += chunk));
const exit = once(child, 'exit');

const printed = await Promise.race([
  once(child.stdout, 'data', { signal: AbortSignal.timeout(60_000) }),
  exit.then(() => [terminal]),
]);
const [, url] = /demo: (http\S+)/.exec(String(printed[0])) ?? [];
assert.ok(url, String(printed[0]));
const { agentCard } = await (await fetch(`${url}/api/a2a/config`)).json();
assert.equal(agentCard.name, 'Demo agent');
// The first request of the README, with the demo as the agent.
const [, body] = / -d '(\{.*\})'/.exec(readFileSync('node_modules/agent-bff/README.md', 'utf8')) ?? [];
const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
assert.match(await (await fetch(`${url}/api/a2a`, { method: 'POST', headers, body })).text(), /“Hello”/);

// The page's third-party code comes with its licences.
const licences = readFileSync('node_modules/agent-bff/examples/dist/web/LICENSES.txt', 'utf8');
for (const name of ['react-dom', 'dompurify', 'highlight.js']) assert.ok(licences.includes(`## ${name} `), name);

const browser = await openBrowser();
const [visitor, ada, grace] = [await open(), await open(), await open()];
await visitor.ask('Anonymous');
await ada.signIn('Ada', 'Ada Lovelace');
await grace.signIn('Grace', 'Grace Hopper');

// Each user has a conversation and a note, which only they see.
await ada.ask('Engines');
await grace.ask('Compilers');
assert.deepEqual([await ada.conversations(), await grace.conversations()], [['Engines'], ['Compilers']]);
await ada.note('Bernoulli numbers');
await grace.note('Nanoseconds');
assert.deepEqual([await ada.notes(), await grace.notes()], [['Bernoulli numbers'], ['Nanoseconds']]);
await ada.picture('ada');
await grace.picture('grace');

await visitor.vote();
// The credential of the site serves visitors; users have their own.
await visitor.breakCredential(true);
await visitor.fails('Nobody answers');
await ada.ask('Am I still here?');
await visitor.breakCredential(false);
await visitor.ask('Hello again');

await ada.signOut();
assert.deepEqual(await grace.conversations(), ['Compilers']);
for (const { problems } of [ada, grace]) assert.deepEqual(problems, []);
await browser.close();

// An error of the demo itself reaches its terminal, where calls with the broken credential are too, and nothing else.
assert.doesNotMatch(terminal, /sign-in|at .*\.js:\d/);
const complaint = once(child.stderr, 'data', { signal: AbortSignal.timeout(10_000) });
assert.equal((await fetch(`${url}/auth/callback`)).status, 400);
assert.match(String((await complaint)[0]), /^sign-in: There is no pending sign-in/);

child.kill('SIGTERM');
assert.deepEqual(await exit, [0, null]);
console.log(`demo: visitor, Ada and Grace${values.node === undefined ? '' : ` with ${values.node}`}: ok`);

/** A visitor with a browser window of their own, on the loaded page. */
async function open() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  const problems = problemsOf(page);
  const notes = page.getByRole('region', { name: 'Widget by name' });
  const poll = page.getByRole('region', { name: 'Widget by id' });
  const history = page.getByRole('button', { name: 'Earlier conversations' });
  const ready = () => page.locator('input[role=switch][aria-busy=false]').waitFor();
  const send = async (text) => {
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill(text);
    await field.press('Enter');
  };
  await page.goto(url, { timeout: 120_000 });
  await ready();
  return {
    problems,
    async signIn(link, name) {
      await page.getByRole('link', { name: link, exact: true }).click();
      await page.getByRole('banner').getByText(name).waitFor();
      await ready();
    },
    async signOut() {
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('link', { name: 'Grace', exact: true }).waitFor();
      await ready();
      assert.equal(await history.count(), 0);
      await notes.getByText('No notes yet.').waitFor();
    },
    async ask(text) {
      await send(text);
      const answer = page.locator('.a2a-message-agent .a2a-bubble[aria-busy=false]').last();
      await answer.filter({ hasText: `“${text}”` }).waitFor();
    },
    async fails(text) {
      await send(text);
      await page.locator('.a2a-panel').getByRole('alert').filter({ hasText: 'not available at the moment' }).waitFor();
    },
    async conversations() {
      await history.click();
      const entries = page.getByRole('region', { name: 'Earlier conversations' }).locator('.a2a-entry > span');
      await entries.first().waitFor();
      const titles = await entries.allTextContents();
      await history.click();
      return titles;
    },
    async note(text) {
      await notes.getByRole('textbox', { name: 'New note' }).fill(text);
      await notes.getByRole('button', { name: 'Add' }).click();
      await notes.getByRole('listitem').filter({ hasText: text }).waitFor();
    },
    notes: () => notes.getByRole('listitem').allTextContents(),
    async vote() {
      await poll.getByRole('button', { name: /Pizza/ }).click();
      await poll.getByRole('status').filter({ hasText: 'Thank you.' }).waitFor();
    },
    async breakCredential(broken) {
      const changed = page.waitForResponse(
        (response) => response.request().method() === 'POST' && response.url().endsWith('/demo/credential'),
      );
      await page.getByRole('switch', { name: 'Break the credential' }).setChecked(broken);
      await changed;
      await ready();
    },
    async picture(name) {
      if (values.shots !== undefined)
        await page.screenshot({ path: join(values.shots, `demo-${name}.png`), fullPage: true });
    },
  };
}
