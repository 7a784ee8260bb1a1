import { expect, it } from 'vitest';

import { describeInBrowsers } from '../../support/component-browser.js';

const TABLE = '| a | b |\n|---|---|\n| 1 | 2 |';

// Firefox before 155 keeps the failure of a module until the page is reloaded.
const ONLY_CHROMIUM = { wordMs: 5, inEveryEngine: false };

describeInBrowsers('a file of the chat that could not be loaded once', ONLY_CHROMIUM, (browser) => {
  const cut = (name: string) =>
    browser.visit({ prepare: (page) => page.route(`**/page/${name}`, (route) => route.abort()) });

  it('for the history is loaded when the history is opened again', async () => {
    const visit = await cut('history.js');
    await visit.show('A2AChat', { serviceBaseUrl: '/api/service' });
    const button = visit.page.getByRole('button', { name: 'Earlier conversations' });
    await button.click();
    await visit.alert.filter({ hasText: 'This is not available at the moment.' }).waitFor();
    await visit.page.unroute('**/page/history.js');
    await button.click();
    await button.click();
    await visit.page.getByRole('region', { name: 'Earlier conversations' }).waitFor();
  });

  it('for data of an answer is loaded with the next answer', async () => {
    const visit = await cut('rich-parts.js');
    await visit.page.route('**/api/a2a', (route) => {
      const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'Total:' }, { data: { sum: 42 } }] };
      const body = `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: { message } })}\n\n`;
      return route.fulfill({ contentType: 'text/event-stream', body });
    });
    await visit.show('A2AChat');
    await visit.send('Hello');
    await visit.finished.filter({ hasText: 'This is not available at the moment.' }).waitFor();
    await visit.page.unroute('**/page/rich-parts.js');
    await visit.ask('Again');
    await visit.finished.locator('table').filter({ hasText: '42' }).waitFor();
  });

  it('for the messages is loaded with the next message', async () => {
    const visit = await cut('message-list.js');
    await visit.show('A2AChat');
    await visit.send('Hello');
    // The whole answer, since Enter sends nothing while one arrives.
    await visit.agentMessage.filter({ hasText: /You said: “Hello”.* to your browser\.$/ }).waitFor();
    await visit.page.locator('.a2a-log[aria-busy=false]').waitFor();
    await visit.page.unroute('**/page/message-list.js');
    expect(await visit.ask(TABLE)).toContain('You said');
    await visit.page.locator('.a2a-markdown').nth(1).waitFor();
  });
});
