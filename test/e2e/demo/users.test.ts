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
    await grace.notes.getByRole('button', { name: 'Render again: the notes' }).click();
    await addNote(grace, 'Nanoseconds');
    expect(await grace.notes.getByRole('listitem').allTextContents()).toEqual(['Nanoseconds']);
    expect(await ada.notes.getByRole('listitem').allTextContents()).toEqual(['Bernoulli numbers']);

    const visitor = await demo.visit();
    expect(await visitor.page.getByRole('button', { name: 'Earlier conversations' }).count()).toBe(0);
    await visitor.notes.getByText('No notes yet.').waitFor();
  });

  it('can continue an earlier conversation and delete it', async () => {
    const ada = await demo.visit();
    await ada.signIn('Ada');
    await ada.ask('Remember this one');
    await ada.page.reload();
    await ada.isReady();

    await openHistory(ada);
    const history = ada.page.getByRole('region', { name: 'Earlier conversations' });
    await history.getByRole('button', { name: /^Remember this one/ }).click();
    await ada.page.locator('.a2a-message-user').filter({ hasText: 'Remember this one' }).waitFor();
    const followUp = ada.page.waitForRequest((request) => (request.postData() ?? '').includes('And this'));
    await ada.ask('And this');
    expect((await followUp).postDataJSON().params.message.contextId).toMatch(/\w/);
    expect((await titles(ada)).filter((title) => title === 'And this')).toEqual([]);

    await openHistory(ada);
    await history.getByRole('button', { name: 'Delete Remember this one' }).click();
    await history.getByRole('button', { name: 'Delete Remember this one' }).waitFor({ state: 'detached' });
    expect(await ada.page.locator('.a2a-message').count()).toBe(0);
  });

  it('see no data of their account after signing out', async () => {
    const ada = await demo.visit();
    await ada.signIn('Ada');
    await ada.page.getByRole('button', { name: 'Sign out' }).click();
    await ada.page.getByRole('link', { name: 'Grace', exact: true }).waitFor();
    await ada.isReady();
    expect(await ada.page.getByRole('button', { name: 'Earlier conversations' }).count()).toBe(0);
    await ada.notes.getByText('No notes yet.').waitFor();
  });
});

/** Opens the list of conversations, reads their titles and closes it. */
async function titles(visit: DemoVisit): Promise<string[]> {
  await openHistory(visit);
  const entries = visit.page.getByRole('region', { name: 'Earlier conversations' }).locator('.a2a-entry > span');
  await entries.first().waitFor();
  const found = await entries.allTextContents();
  await visit.page.getByRole('button', { name: 'Earlier conversations' }).click();
  return found;
}

async function openHistory({ page }: DemoVisit): Promise<void> {
  await page.getByRole('button', { name: 'Earlier conversations' }).click();
}

async function addNote({ notes }: DemoVisit, text: string): Promise<void> {
  await notes.getByRole('textbox', { name: 'New note' }).fill(text);
  await notes.getByRole('button', { name: 'Add' }).click();
  await notes.getByRole('listitem').filter({ hasText: text }).waitFor();
}
