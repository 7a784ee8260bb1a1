import { afterEach, expect, it } from 'vitest';

import { describeDemo } from '../../support/demo-browser.js';

const FOR_VISITORS = 'This is not available at the moment. Please try again later.';

describeDemo('a site whose credential is rejected', { wordMs: 5 }, (demo) => {
  afterEach(async () => {
    // The switch belongs to the site, not to the page. Reset it so that a failed test does not break the next ones.
    await fetch(`${demo.demo.url}/demo/credential`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"broken":false}',
    });
  });

  it('shows visitors a message without configuration names, and works again after the repair', async () => {
    const visit = await demo.visit();
    await visit.setCredentialBroken(true);
    await visit.send('Hello');
    await visit.alert.filter({ hasText: FOR_VISITORS }).waitFor();
    expect(await visit.page.locator('body').innerText()).not.toContain('serviceAccount');
    expect(await visit.page.locator('.a2a-message-agent').count()).toBe(0);

    await visit.setCredentialBroken(false);
    await visit.page.getByRole('button', { name: 'Retry' }).click();
    expect(await visit.wholeAnswer()).toContain('“Hello”');
    expect(await visit.alert.count()).toBe(0);
    expect(await visit.page.locator('.a2a-message-user').count()).toBe(1);
    expect(await visit.ask('Hello again')).toContain('“Hello again”');
  });

  it('still serves signed-in users, who have their own token', async () => {
    const visit = await demo.visit();
    await visit.signIn('Ada');
    await visit.setCredentialBroken(true);
    expect(await visit.ask('Am I still here?')).toContain('“Am I still here?”');
  });
});
