import { expect, it } from 'vitest';

import { type ComponentPage, type ComponentVisit, describeInBrowsers } from '../../support/component-browser.js';

const CHAT = '**/api/a2a';
const CONVERSATIONS = '**/api/service/conversations';

/** Serves a list of earlier conversations; resolves to the requests that delete one. */
async function serveConversations({ page }: ComponentVisit): Promise<{ deleted: string[]; deliver: () => void }> {
  let titles = ['First', 'Second', 'Third'];
  const deleted: string[] = [];
  let deliver = (): void => undefined;
  const delivered = new Promise<void>((resolve) => (deliver = resolve));
  await page.route(CONVERSATIONS, (route) =>
    route.fulfill({ json: { conversations: titles.map((title) => ({ id: title, title })) } }),
  );
  await page.route(`${CONVERSATIONS}/*`, async (route) => {
    const title = new URL(route.request().url()).pathname.replace(/.*\//, '');
    deleted.push(title);
    await delivered;
    const isKnown = titles.includes(title);
    titles = titles.filter((one) => one !== title);
    return route.fulfill(isKnown ? { status: 204 } : { status: 404, json: { detail: 'Not found' } });
  });
  return { deleted, deliver };
}

describeInBrowsers('the focus of the keyboard', { wordMs: 5 }, (browser) => {
  it('is in the text field after "Retry"', async () => {
    const visit = await browser.visit();
    await visit.page.route(CHAT, (route) => route.abort(), { times: 1 });
    await visit.show('A2AChat');
    await visit.send('Hello');
    await visit.page.getByRole('button', { name: 'Retry' }).press('Enter');
    await visit.finished.filter({ hasText: 'Hello' }).waitFor();
    expect(await visit.page.locator('textarea:focus').count()).toBe(1);
  });

  it('is in the text field after "Sign in", unless the site has moved it', async () => {
    const visit = await browser.visit();
    const signIn = async (isMoved: boolean): Promise<void> => {
      await visit.page.route(CHAT, (route) => route.fulfill({ status: 401, json: { code: 'session_expired' } }), {
        times: 1,
      });
      await visit.page.evaluate((moves) => {
        document.querySelector('body > input')?.remove();
        document.body.append(document.createElement('input'));
        (globalThis as unknown as ComponentPage).show('A2AChat', {
          onSignIn: () => moves && (document.body.lastElementChild as HTMLElement).focus(),
        });
      }, isMoved);
      await visit.send(`moved: ${String(isMoved)}`);
      await visit.page.getByRole('button', { name: 'Sign in' }).press('Enter');
      await visit.finished.filter({ hasText: `moved: ${String(isMoved)}` }).waitFor();
    };
    await signIn(false);
    expect(await visit.page.locator('textarea:focus').count()).toBe(1);
    await signIn(true);
    expect(await visit.page.locator('body > input:focus').count()).toBe(1);
  });

  it('is in the list after a conversation was deleted, unless the visitor has gone on', async () => {
    const visit = await browser.visit();
    const { deliver } = await serveConversations(visit);
    deliver();
    await visit.show('A2AChat', { serviceBaseUrl: '/api/service' });
    await visit.page.getByRole('button', { name: 'Earlier conversations' }).click();
    await visit.page.getByRole('button', { name: 'Delete Second' }).press('Enter');
    await visit.page.getByText('Second').waitFor({ state: 'detached' });
    expect(await visit.page.locator('.a2a-history:focus').count()).toBe(1);
  });

  it('stays where the visitor types while a conversation is deleted, with one request for two clicks', async () => {
    const visit = await browser.visit();
    const { deleted, deliver } = await serveConversations(visit);
    await visit.show('A2AChat', { serviceBaseUrl: '/api/service' });
    await visit.page.getByRole('button', { name: 'Earlier conversations' }).click();
    const button = visit.page.getByRole('button', { name: 'Delete Second' });
    await button.click();
    await button.click();
    await visit.input.pressSequentially('Hello');
    deliver();
    await visit.page.getByText('Second').waitFor({ state: 'detached' });
    expect(await visit.page.locator('textarea:focus').count()).toBe(1);
    expect(deleted).toEqual(['Second']);
    expect(await visit.alert.count()).toBe(0);
    await visit.page.getByRole('button', { name: 'Delete Third' }).click();
    await visit.page.getByText('Third').waitFor({ state: 'detached' });
  });
});
