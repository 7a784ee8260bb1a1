import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { beforeAll, expect, it } from 'vitest';

import { describeInEngines } from '../../support/engines/engine-suite.js';
import { ANSWER, FIELD, FINISHED, QUESTION } from '../../support/engines/engine-visit.js';

const BUILD = fileURLToPath(new URL('../../../scripts/build.mjs', import.meta.url));
const ALERT = { role: 'alert' } as const;
const SEND_WORDS = 'one two three four five six seven eight nine ten eleven twelve';

const STEPS = { wordMs: 15, slowStepMs: 25 };

// Two walks in each kind of engine wherever all tests run; the others need `npm run test:engines`.
describeInEngines('a visitor', { ...STEPS, inEachKind: true }, (visits) => {
  beforeAll(() => promisify(execFile)(process.execPath, [BUILD, 'web', '--if-needed']), 120_000);

  it('reads an answer word by word', async () => {
    const visit = await visits.visit();
    await visit.show('A2AChat');
    await visit.page.see({ text: 'Demo agent', css: 'h2' });
    await visit.page.evaluate(() => {
      const seen = new Set<string>();
      Object.assign(globalThis, { seen });
      const look = (): unknown => seen.add(document.querySelector('.a2a-message-agent')?.textContent ?? '');
      new MutationObserver(look).observe(document, { childList: true, characterData: true, subtree: true });
    }, null);
    expect(await visit.ask(SEND_WORDS)).toContain(SEND_WORDS);
    const texts = await visit.page.evaluate(() => [...(globalThis as unknown as { seen: Set<string> }).seen], null);
    expect(texts.length).toBeGreaterThan(8);
    await visit.ask('markdown');
    await visit.page.see({ css: 'pre .hljs-keyword' });
    expect(await visit.violations()).toEqual([]);
  });

  it('retries after a lost connection', async () => {
    const visit = await visits.visit();
    await visit.show('A2AChat');
    visit.site.isCut = true;
    await visit.send('Is anyone there?');
    await visit.page.see({ ...ALERT, text: 'The connection to the site was lost.' });
    visit.site.isCut = false;
    await visit.page.click({ role: 'button', name: 'Retry' });
    await visit.page.see({ ...FINISHED, text: 'Is anyone there?' });
    expect(await visit.page.count({ ...ALERT, text: 'lost' })).toBe(0);
    expect(await visit.page.count(QUESTION)).toBe(1);
  });
});

describeInEngines('a visitor', STEPS, (visits) => {
  beforeAll(() => promisify(execFile)(process.execPath, [BUILD, 'web', '--if-needed']), 120_000);

  it('stops an answer', async () => {
    const visit = await visits.visit();
    await visit.show('A2AChat');
    await visit.send('slow');
    await visit.page.see({ ...ANSWER, text: 'Counting' });
    await visit.page.click({ role: 'button', name: 'Stop' });
    await visit.page.see({ ...ANSWER, text: 'Stopped.' });
    expect(await visit.ask('Hello')).toContain('Hello');
  });

  it('replies to a question of the agent', async () => {
    const visit = await visits.visit();
    await visit.show('A2AChat');
    expect(await visit.ask('input')).toContain('The agent is waiting for your reply.');
    expect(await visit.ask('Lisbon')).toContain('Thank you');
  });

  it('finds the conversation again after a reload, and the answer to its last word', async () => {
    const visit = await visits.visit();
    await visit.show('A2AChat', { keepOnReload: true });
    await visit.ask('Hello');
    await visit.send('slow');
    await visit.page.see({ ...ANSWER, text: ' 3' });
    await visit.page.reload();
    await visit.isReady();
    await visit.show('A2AChat', { keepOnReload: true });
    await visit.page.see({ ...FINISHED, text: '118 119 120' });
    expect(await visit.page.count(QUESTION)).toBe(2);
  });

  it('goes back and forward, and finds the answer to its last word', async () => {
    const visit = await visits.visit();
    const { page } = visit;
    /** An engine may keep the page as it was, or load it again; then the page shows its chat again. */
    const isShown = async (): Promise<void> => {
      await visit.isReady();
      if ((await page.count(FIELD)) === 0) await visit.show('A2AChat', { keepOnReload: true });
    };
    await page.open(`${visit.site.url}/page/?first`);
    await isShown();
    await visit.send('slow');
    await page.see({ ...ANSWER, text: ' 3' });
    await page.open(`${visit.site.url}/auth/me`);
    await page.back();
    await isShown();
    await page.see({ ...FINISHED, text: '118 119 120' });
    await page.forward();
    await page.back();
    await isShown();
    expect(await visit.ask('Hello')).toContain('Hello');
    expect(await page.count(QUESTION)).toBe(2);
  });

  it('opens the floating panel, asks, and closes it', async () => {
    const visit = await visits.visit();
    await visit.show('A2AChatFloating', { panelTitle: 'Ask us' });
    await visit.page.click({ role: 'button', name: 'Ask us' });
    await visit.page.see({ role: 'dialog', name: 'Ask us' });
    expect(await visit.ask('From the panel')).toContain('From the panel');
    await visit.page.press('Escape');
    await visit.page.missing({ role: 'dialog', name: 'Ask us' });
    await visit.page.click({ role: 'button', name: 'Ask us' });
    await visit.page.see({ ...FINISHED, text: 'From the panel' });
    await visit.page.click({ role: 'button', name: 'Close chat' });
    await visit.page.missing(FINISHED);
    expect(await visit.violations()).toEqual([]);
  });

  it('uses a widget and its actions', async () => {
    const visit = await visits.visit();
    await visit.show('ServiceSurface', { name: 'my-notes' });
    await visit.page.click({ role: 'textbox', name: 'New note' });
    await visit.page.type('Buy milk');
    await visit.page.press('Enter');
    await visit.page.see({ role: 'listitem', text: 'Buy milk' });
    await visit.handle('act', 'add', { text: 'From outside' });
    await visit.page.see({ role: 'listitem', text: 'From outside' });
    await visit.show('ServiceSurface', { surfaceId: 'poll' });
    await visit.page.click({ role: 'button', text: 'Pizza' });
    await visit.page.see({ role: 'status', text: 'Thank you.' });
    expect(await visit.violations()).toEqual([]);
  });

  it('signs in, continues an earlier conversation, deletes it, and signs out', async () => {
    const visit = await visits.visit();
    const { page } = visit;
    await page.open(visits.behind);
    await page.click({ role: 'link', name: 'Ada' });
    await page.see({ role: 'button', name: 'Sign out' });
    await visit.ask('Remember this one');

    await visit.open();
    await visit.show('A2AChat', { serviceBaseUrl: '/api/service' });
    await page.click({ role: 'button', name: 'Earlier conversations' });
    await page.click({ css: '.a2a-entry', text: 'Remember this one' });
    await page.see({ ...FINISHED, text: 'Remember this one' });
    expect(await visit.ask('And this')).toContain('And this');
    await page.click({ role: 'button', name: 'Earlier conversations' });
    await page.click({ role: 'button', name: 'Delete Remember this one' });
    await page.see({ text: 'There are no conversations yet.', css: '.a2a-quiet' });
    expect(await page.count(QUESTION)).toBe(0);

    await page.open(visits.behind);
    await page.click({ role: 'button', name: 'Sign out' });
    await page.see({ role: 'link', name: 'Ada' });
    await page.missing({ role: 'button', name: 'Earlier conversations' });
  });
});
