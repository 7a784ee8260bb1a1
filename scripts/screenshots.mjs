// npm run screenshots: starts the demo, walks through it in Chromium and saves pictures to docs/images/.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openBrowser } from '../test/package/browser.mjs';
import { ensureBuilt } from './build.mjs';

const FOLDER = fileURLToPath(new URL('../docs/images', import.meta.url));
const DEMO = new URL('../examples/dist/start-demo.js', import.meta.url);
const WIDE = { viewport: { width: 1280, height: 800 } };
const CLOSE = { ...WIDE, deviceScaleFactor: 2 };
const NARROW = { viewport: { width: 320, height: 640 }, deviceScaleFactor: 2 };

await ensureBuilt('package', 'examples', 'web');
mkdirSync(FOLDER, { recursive: true });

const { startDemo } = await import(DEMO.href);
const demo = await startDemo({ port: 0 });
const browser = await openBrowser();
try {
  await visit(WIDE, '/', async (page) => {
    await send(page, 'markdown');
    await page.locator('.a2a-bubble[aria-busy=false] blockquote').waitFor();
    await send(page, 'What happens to my message?');
    await says(page, 'travels on its own');
    await shoot(page, 'chat-streaming');
  });
  await visit(WIDE, '/floating', async (page) => {
    await page.getByRole('button', { name: 'Demo agent' }).click();
    await send(page, 'Hello there');
    await says(page, 'to your browser.');
    await shoot(page, 'floating-panel');
  });
  await visit(CLOSE, '/', async (page) => {
    const poll = page.getByRole('region', { name: 'Widget by id' });
    await poll.getByRole('button', { name: /Pizza/ }).waitFor();
    await shoot(poll, 'widget-before');
    await poll.getByRole('button', { name: /Pizza/ }).click();
    await poll.getByRole('status').filter({ hasText: 'Thank you.' }).waitFor();
    await shoot(poll, 'widget-after');
  });
  await visit(NARROW, '/', async (page) => {
    await send(page, 'markdown');
    await page.locator('.a2a-bubble[aria-busy=false] blockquote').waitFor();
    await shoot(page, 'narrow');
  });
  await visit({ ...WIDE, colorScheme: 'dark' }, '/auth/login?user=ada', async (page) => {
    await page.getByText('Ada Lovelace').waitFor();
    await send(page, 'markdown');
    await page.locator('.a2a-bubble[aria-busy=false] blockquote').waitFor();
    await shoot(page, 'dark');
  });
  await visit(WIDE, '/', async (page) => {
    const answered = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.getByRole('switch', { name: 'Break the credential' }).check();
    await answered;
    await send(page, 'Hello');
    await page.getByRole('button', { name: 'Retry' }).waitFor();
    await page.evaluate(() => window.scrollTo(0, 0));
    await shoot(page, 'credential-hint');
  });
} finally {
  await browser.close();
  await demo.close();
}

/** Opens a page in a new browser context, and waits until it is complete. */
async function visit(options, path, act) {
  const context = await browser.newContext({ ...options, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto(demo.url + path);
  await page.locator('input[role=switch][aria-busy=false]').waitFor();
  await page.locator('.service-surface[aria-busy=false]').nth(1).waitFor();
  await act(page);
  await context.close();
}

/** Takes a picture of a page, or of a part of it. */
async function shoot(what, name) {
  const path = join(FOLDER, `${name}.png`);
  await what.screenshot({ path });
  console.log(path);
}

async function send(page, text) {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.getByRole('textbox', { name: 'Message' }).press('Enter');
}

async function says(page, text) {
  await page.locator('.a2a-message-agent').last().filter({ hasText: text }).waitFor();
}
