import { expect, it } from 'vitest';

import { describeDemo, DemoVisit } from '../../support/demo-browser.js';

/** The conversations that the page names from now on. */
function contextsOf({ page }: DemoVisit): ReadonlySet<string> {
  const found = new Set<string>();
  page.on('request', (request) => {
    const [, contextId] = /"contextId":"([^"]+)"/.exec(request.postData() ?? '') ?? [];
    if (contextId !== undefined) found.add(contextId);
  });
  return found;
}

/** Sends a message into a conversation from a script in the page. */
function sendInto({ page }: DemoVisit, contextId: string): Promise<string> {
  return page.evaluate(async (id) => {
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'Hello' }], contextId: id };
    const response = await fetch('/api/a2a', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }),
    });
    return response.text();
  }, contextId);
}

describeDemo('the conversations of the demo', { wordMs: 5 }, (demo) => {
  async function secondTab({ page }: DemoVisit): Promise<DemoVisit> {
    const tab = new DemoVisit(await page.context().newPage());
    await tab.page.goto(demo.demo.url);
    await tab.isReady();
    return tab;
  }

  it('belong to the browser that began them, in all its tabs', async () => {
    const visit = await demo.visit();
    const tab = await secondTab(visit);
    const found = contextsOf(visit);
    // The first messages of two tabs, at the same time.
    await Promise.all([visit.ask('One'), tab.ask('Two')]);
    await Promise.all([visit.ask('Three'), tab.ask('Four')]);
    for (const { alert } of [visit, tab]) expect(await alert.count()).toBe(0);
    const [contextId = ''] = found;
    expect(await sendInto(tab, contextId)).toContain('“Hello”');

    const other = await demo.visit();
    await other.ask('Who is there?');
    expect(await sendInto(other, contextId)).toContain('CONVERSATION_UNKNOWN');
    await visit.page.reload();
    await visit.isReady();
    expect(await sendInto(visit, contextId)).toContain('“Hello”');
  });

  it('continue as new ones after a sign-in or sign-out in another tab, and the next person cannot open them', async () => {
    const visit = await demo.visit();
    const before = contextsOf(visit);
    await visit.ask('As a visitor');
    const tab = await secondTab(visit);
    await tab.signIn('Ada');
    // The agent knows Ada, and not that visitor.
    await visit.send('Signed in meanwhile');
    await visit.page.getByRole('button', { name: 'Retry' }).click();
    expect(await visit.wholeAnswer()).toContain('“Signed in meanwhile”');
    expect(await visit.ask('And on')).toContain('“And on”');
    const mine = contextsOf(tab);
    await tab.ask('As Ada');
    await tab.ask('As Ada again');

    await tab.page.getByRole('button', { name: 'Sign out' }).click();
    await tab.page.getByRole('link', { name: 'Ada', exact: true }).waitFor();
    const known = [...before, ...mine];
    expect(known).toHaveLength(3);
    for (const id of known) expect(await sendInto(tab, id)).toContain('CONVERSATION_UNKNOWN');
    await tab.signIn('Ada');
    expect(await sendInto(tab, known.at(-1) ?? '')).toContain('“Hello”');
  });
});
