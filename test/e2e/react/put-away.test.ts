import { expect, it } from 'vitest';

import { describeInBrowsers } from '../../support/component-browser.js';

describeInBrowsers('a page that the browser puts away for "Back"', { wordMs: 5, slowStepMs: 30 }, (browser) => {
  it('closes its stream, and resumes it when the visitor comes back', async () => {
    const visit = await browser.visit();
    await visit.show('A2AChat');
    await visit.send('slow');
    await visit.agentMessage.filter({ hasText: 'Counting slowly to 120: 1' }).waitFor();
    const turned = (name: string): Promise<void> =>
      visit.page.evaluate((type) => {
        dispatchEvent(new PageTransitionEvent(type, { persisted: true }));
      }, name);
    const { platform } = browser.demo;
    expect(platform.openStreams).toBe(1);
    await turned('pagehide');
    await expect.poll(() => platform.openStreams).toBe(0);
    await turned('pageshow');
    await expect.poll(() => platform.openStreams).toBe(1);
    expect(await visit.finished.innerText()).toMatch(/Counting slowly to 120: 1 2 3 .* 119 120/s);
    expect(await visit.page.locator('.a2a-message').count()).toBe(2);
  });
});
