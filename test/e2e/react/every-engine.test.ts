import { expect, it } from 'vitest';

import { type ComponentPage, describeInBrowsers } from '../../support/component-browser.js';

const CHAT = '**/api/a2a';

describeInBrowsers('a visitor', { inEveryEngine: true, wordMs: 5, slowStepMs: 20 }, (browser) => {
  it('sends, stops, replies, retries, reloads, and uses the floating panel and a widget', async () => {
    const visit = await browser.visit();
    await visit.show('A2AChat', { keepOnReload: true });
    expect(await visit.ask('Hello')).toContain('Hello');
    await visit.ask('markdown');
    await visit.finished.locator('pre .hljs-keyword').first().waitFor();

    await visit.send('slow');
    await visit.agentMessage.filter({ hasText: 'Counting' }).waitFor();
    await visit.page.getByRole('button', { name: 'Stop' }).click();
    await expect.poll(() => visit.finished.innerText()).toContain('Stopped.');

    await visit.page.route(CHAT, (route) => route.abort());
    await visit.send('Is anyone there?');
    await visit.alert.waitFor();
    await visit.page.unroute(CHAT);
    await visit.page.getByRole('button', { name: 'Retry' }).click();
    await visit.finished.filter({ hasText: 'Is anyone there?' }).waitFor();

    expect(await visit.ask('input')).toContain('The agent is waiting for your reply.');
    await visit.reload();
    await visit.show('A2AChat', { keepOnReload: true });
    await visit.page.getByPlaceholder('Your reply…').waitFor();
    expect(await visit.ask('Lisbon')).toContain('Thank you');

    await visit.show('A2AChatFloating', { panelTitle: 'Ask us' });
    await visit.page.getByRole('button', { name: 'Ask us' }).click();
    expect(await visit.ask('From the panel')).toContain('From the panel');
    await visit.input.press('Escape');
    await visit.page.getByRole('dialog', { name: 'Ask us' }).waitFor({ state: 'hidden' });

    await visit.show('ServiceSurface', { name: 'my-notes' });
    await visit.page.getByRole('textbox', { name: 'New note' }).waitFor();
    await visit.page.evaluate(() =>
      (globalThis as unknown as ComponentPage).handle.current['act']?.('add', { text: 'Buy milk' }),
    );
    await visit.page.getByRole('listitem').filter({ hasText: 'Buy milk' }).waitFor();
    expect(await visit.violations()).toEqual([]);
  });
});
