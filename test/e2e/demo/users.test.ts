import { expect, it } from 'vitest';

import { describeDemo, type DemoVisit } from '../../support/demo-browser.js';

describeDemo('users in separate browsers', { wordMs: 5 }, (demo) => {
  it('see only their own conversations, notes and renders', async () => {
    const [ada, grace] = [await demo.visit(), await demo.visit()];
    await ada.signIn('Ada');
    await grace.signIn('Grace');
    await ada.page.getByRole('banner').getByText('Ada Lovelace').waitFor();
    await grace.page.getByRole('banner').getByText('Grace Hopper').waitFor();

    expect(await ada.ask('Engines')).toContain('“Engines”');
    expect(await grace.ask('Compilers')).toContain('“Compilers”');
    expect(await titles(ada)).toEqual(['Engines']);
    expect(await titles(grace)).toEqual(['Compilers']);

    await addNote(ada, 'Bernoulli numbers');
    // A render that arrives later would replace what is typed into the widget.
    const rendered = grace.page.waitForResponse((response) => /service-surfaces.*render/.test(response.url()));
    await grace.notes.getByRole('button', { name: 'Render again: the notes' }).click();
    await rendered;
    await grace.notes.locator('.service-surface[aria-busy=false]').waitFor();
    await addNote(grace, 'Nanoseconds');
    expect(await grace.notes.getByRole('listitem').allTextContents()).toEqual(['Nanoseconds']);
    expect(await ada.notes.getByRole('listitem').allTextContents()).toEqual(['Bernoulli numbers']);

    const visitor = await demo.visit();
    expect(await visitor.page.getByRole('button', { name: 'Earlier conversations' }).count()).toBe(0);
    await visitor.notes.getByText('No notes yet.').waitFor();
  });
});

/** Opens the list of conversations, reads their titles and closes it. */
async function titles({ page }: DemoVisit): Promise<string[]> {
  await page.getByRole('button', { name: 'Earlier conversations' }).click();
  const entries = page.getByRole('region', { name: 'Earlier conversations' }).locator('.a2a-entry > span');
  await entries.first().waitFor();
  const found = await entries.allTextContents();
  await page.getByRole('button', { name: 'Earlier conversations' }).click();
  return found;
}

async function addNote({ notes }: DemoVisit, text: string): Promise<void> {
  await notes.getByRole('textbox', { name: 'New note' }).fill(text);
  await notes.getByRole('button', { name: 'Add' }).click();
  await notes.getByRole('listitem').filter({ hasText: text }).waitFor();
}
