import type { Request } from 'playwright-core';
import { expect, it } from 'vitest';

import { describeDemo } from '../../support/demo-browser.js';

const LAST_WORDS = 'to your browser.';

describeDemo('the chat of the demo', { wordMs: 30 }, (demo) => {
  it('shows the first words while the answer is still being written', async () => {
    const visit = await demo.visit();
    const { answer } = visit;
    await visit.send('Is anybody there?');
    await answer.filter({ hasText: 'You said' }).waitFor();

    const firstWords = await answer.locator('.a2a-markdown').innerText();
    expect(demo.demo.platform.openStreams).toBe(1);
    expect(await answer.getAttribute('aria-busy')).toBe('true');
    expect(firstWords).not.toContain(LAST_WORDS);

    const whole = await visit.wholeAnswer();
    expect(whole.startsWith(firstWords.trim())).toBe(true);
    expect(whole).toContain(LAST_WORDS);
    expect(whole).toContain('“Is anybody there?”');
  });

  it('keeps messages in one conversation until the visitor starts another', async () => {
    const visit = await demo.visit();
    const contexts: (string | undefined)[] = [];
    visit.page.on('request', (request) => {
      if (isMessage(request)) contexts.push(request.postDataJSON().params.message.contextId);
    });
    await visit.ask('One');
    await visit.ask('Two');
    await visit.ask('Three');
    await visit.page.getByRole('button', { name: 'New conversation' }).click();
    expect(await visit.page.locator('.a2a-message').count()).toBe(0);
    await visit.ask('Four');

    const [first, second, third, fourth] = contexts;
    expect(first).toBeUndefined();
    expect(second).toMatch(/\w/);
    expect(third).toBe(second);
    expect(fourth).toBeUndefined();
  });

  it('continues a task that asked for input', async () => {
    const visit = await demo.visit();
    expect(await visit.ask('input')).toContain('Which city');
    expect(await visit.ask('Lisbon')).toContain('I have noted: Lisbon');
  });

  it('shows an error when the agent fails', async () => {
    const visit = await demo.visit();
    expect(await visit.ask('fail')).toContain('I was asked to fail');
    await visit.answer.filter({ hasText: 'The agent could not finish this.' }).waitFor();
  });

  it('sends a suggested prompt and renders Markdown', async () => {
    const visit = await demo.visit();
    await visit.page.getByRole('button', { name: 'Show me a list and some code' }).click();
    await visit.finishedAnswer.waitFor();
    expect(await visit.answer.locator('ol > li').count()).toBe(3);
    expect(await visit.answer.locator('pre code').textContent()).toContain('6 * 7');
    const link = visit.answer.getByRole('link', { name: 'link to the A2A protocol' });
    expect(await link.getAttribute('rel')).toContain('noopener');
    expect(await link.getAttribute('target')).toBe('_blank');
    expect(await visit.page.getByRole('group', { name: 'Suggestions' }).count()).toBe(0);
  });
});

function isMessage(request: Request): boolean {
  return (request.postData() ?? '').includes('"SendStreamingMessage"');
}
