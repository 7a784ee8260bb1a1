import { createHash, randomBytes } from 'node:crypto';

import { expect, it } from 'vitest';

import { describeDemo, type DemoVisit } from '../../support/demo-browser.js';

/** 1.4 MB, the largest file that fits into a message of 2 MB in base64. */
const LARGEST = Math.floor(1.4 * 1024 * 1024);

describeDemo('a file in a message', { wordMs: 5 }, (demo) => {
  async function attach(visit: DemoVisit, name: string, buffer: Buffer): Promise<void> {
    await visit.page.locator('input[type=file]').setInputFiles({ name, mimeType: 'application/octet-stream', buffer });
    await visit.page.getByRole('button', { name: `Remove ${name}` }).waitFor();
  }

  it('of 1.4 MB reaches the agent byte for byte', async () => {
    const visit = await demo.visit();
    const bytes = randomBytes(LARGEST);
    await attach(visit, 'measurements.bin', bytes);
    const said = await visit.ask('Here it is');

    expect(said).toContain('measurements.bin');
    expect(said).toContain(String(LARGEST));
    expect(said).toContain(createHash('sha256').update(bytes).digest('hex'));
    await visit.page.locator('.a2a-message-user', { hasText: 'measurements.bin' }).waitFor();
  });

  it('can be sent without text, and the conversation continues', async () => {
    const visit = await demo.visit();
    await attach(visit, 'empty.txt', Buffer.alloc(0));
    await visit.page.getByRole('button', { name: 'Send', exact: true }).click();
    await visit.answer.filter({ hasText: 'empty.txt' }).waitFor();
    await visit.wholeAnswer();
    expect(await visit.ask('And now?')).toContain('“And now?”');
  });

  it('that is too large is rejected before a request is sent', async () => {
    const visit = await demo.visit();
    const calls: string[] = [];
    visit.page.on('request', (request) => {
      if (request.method() === 'POST') calls.push(new URL(request.url()).pathname);
    });
    await attach(visit, 'film.bin', Buffer.alloc(LARGEST + 1));
    await visit.alert.filter({ hasText: 'film.bin is too large: 1.5 MB. A file may have at most 1.4 MB.' }).waitFor();
    await visit.send('Here it is');
    expect(await visit.page.getByRole('button', { name: 'Send', exact: true }).isDisabled()).toBe(true);
    expect(await visit.page.locator('.a2a-message').count()).toBe(0);

    await visit.page.getByRole('button', { name: 'Remove film.bin' }).click();
    expect(await visit.alert.count()).toBe(0);
    await visit.ask('Without it, then');
    expect(calls.filter((path) => path === '/api/a2a')).toHaveLength(1);
  });
});
