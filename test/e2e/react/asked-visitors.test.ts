import type { Page, Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import { type ComponentPage, type ComponentVisit, describeInBrowsers } from '../../support/component-browser.js';

const CHAT = '**/api/a2a';
const IDS = { taskId: 't1', contextId: 'c1' };

/** Responds to the chat's calls in turn, each with the results of one stream. */
async function answer(page: Page, ...streams: readonly (readonly object[])[]): Promise<void> {
  let nth = 0;
  await page.route(CHAT, (route) => {
    const results = streams[Math.min(nth++, streams.length - 1)] ?? [];
    const body = results.map((result) => `data: ${JSON.stringify({ jsonrpc: '2.0', id: nth, result })}\n\n`).join('');
    return route.fulfill({ contentType: 'text/event-stream', body });
  });
}

const working = { task: { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_WORKING' } } };
const state = (name: string, text?: string) => ({
  statusUpdate: {
    ...IDS,
    status: {
      state: `TASK_STATE_${name}`,
      ...(text !== undefined && { message: { messageId: name, role: 'ROLE_AGENT', parts: [{ text }] } }),
    },
  },
});
const UNKNOWN = 'conversation_unknown';
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const LINK = [working, state('AUTH_REQUIRED', 'Link your calendar.')];
const BOOKED = [working, { artifactUpdate: { ...IDS, artifact: { artifactId: 'a', parts: [{ text: 'Booked.' }] } } }];
const expired = (route: Route): Promise<void> =>
  route.fulfill({
    status: 401,
    json: { type: 'urn:agent-bff:error:session_expired', code: 'session_expired', hint: 'Operators: check the clock.' },
  });

/** Shows the chat with a handler that writes its argument to the title of the page. */
function showWithSignIn(visit: ComponentVisit): Promise<void> {
  return visit.page.evaluate(() =>
    (globalThis as unknown as ComponentPage).show('A2AChat', {
      onSignIn: (message?: { state: string }) =>
        void (document.title = `signed in for ${message?.state ?? 'the site'}`),
    }),
  );
}

describeInBrowsers('the chat', { wordMs: 5, slowStepMs: 20 }, (browser) => {
  describe('when an agent requires a sign-in', () => {
    it('calls the handler of the site and shows the rest of the answer', async () => {
      const visit = await browser.visit();
      await answer(visit.page, LINK, [...BOOKED, state('COMPLETED')]);
      await showWithSignIn(visit);
      expect(await visit.ask('Book')).toContain('Link your calendar.');
      expect(await visit.finished.innerText()).toContain('The agent needs you to sign in.');
      expect(await visit.axe()).toEqual([]);
      await visit.page.getByRole('button', { name: 'Sign in' }).click();
      await visit.finished.filter({ hasText: 'Booked.' }).waitFor();
      expect(await visit.page.title()).toBe('signed in for auth-required');
      expect(await visit.page.getByRole('button', { name: 'Sign in' }).count()).toBe(0);
    });

    it('reports the sign-in without a button when the site has no handler, and accepts a reply', async () => {
      const visit = await browser.visit();
      await answer(visit.page, LINK, [...BOOKED, state('COMPLETED')]);
      await visit.show('A2AChat');
      expect(await visit.ask('Book')).toContain('The agent needs you to sign in.');
      expect(await visit.page.getByRole('button', { name: 'Sign in' }).count()).toBe(0);
      expect(await visit.ask('Done')).toContain('Booked.');
    });
  });

  it.each([
    ['a task without an answer', [working, state('COMPLETED')], 'The agent finished without an answer.'],
    ['a task that the agent stops', [...BOOKED, state('CANCELED')], 'Booked. Stopped.'],
    [
      'a task that the agent rejects',
      [working, state('REJECTED', 'Not my field.')],
      'Not my field. The agent could not finish this.',
    ],
    [
      'data beside the words',
      [{ message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'Total:' }, { data: { sum: 42 } }] } }],
      'Total: sum 42',
    ],
  ])('reads the outcome of %s', async (_what, stream, words) => {
    const visit = await browser.visit();
    await answer(visit.page, stream);
    await visit.show('A2AChat');
    await visit.ask('Book');
    // The code that shows data is loaded for it.
    await expect.poll(async () => (await visit.finished.innerText()).replaceAll(/\s+/g, ' ')).toContain(words);
  });

  it('shows a picture that the agent sends without a name', async () => {
    // A site that shows pictures allows them in its policy.
    const visit = await browser.visit({ hasPolicy: false });
    const parts = [{ text: 'See:' }, { raw: PNG, mediaType: 'image/png' }];
    await answer(visit.page, [{ message: { messageId: 'm', role: 'ROLE_AGENT', parts } }]);
    await visit.show('A2AChat');
    await visit.ask('Show me');
    await visit.agentMessage.locator('img').waitFor();
  });

  it('shows a picture that replaces a broken one', async () => {
    const visit = await browser.visit({ hasPolicy: false });
    const picture = (raw: string) => ({
      artifactUpdate: { ...IDS, artifact: { artifactId: 'a', parts: [{ raw, mediaType: 'image/png' }] } },
    });
    await visit.page.evaluate(() => document.addEventListener('error', () => (document.title = 'broken'), true));
    let isFirst = true;
    await visit.page.route(CHAT, async (route) => {
      const results = isFirst ? [working, picture(PNG.slice(0, 40))] : [picture(PNG), state('COMPLETED')];
      // The stream ends early, so the chat asks for the rest of the task.
      if (!isFirst) await visit.page.waitForFunction(() => document.title === 'broken');
      isFirst = false;
      const body = results.map((result) => `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result })}\n\n`).join('');
      return route.fulfill({ contentType: 'text/event-stream', body });
    });
    await visit.show('A2AChat');
    await visit.send('Draw');
    // The broken one is an image too.
    const images = visit.agentMessage.locator('img');
    const sizes = (): Promise<readonly number[]> =>
      images.evaluateAll((all) => all.map((one) => (one as HTMLImageElement).naturalWidth));
    await expect.poll(sizes).toEqual([expect.toSatisfy((width: number) => width > 0)]);
  });

  it('reads the columns of a table as the agent aligns them', async () => {
    const visit = await browser.visit();
    const text = '| Item | Price | Size |\n|---|---:|:-:|\n| Shoes | 10 | 42 |';
    await answer(visit.page, [{ message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text }] } }]);
    await visit.show('A2AChat');
    await visit.ask('Prices');
    const alignments = (row: string): Promise<readonly string[]> =>
      visit.finished.locator(row).evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell).textAlign));
    const expected = [/start|left/, /right/, /center/].map((side) => expect.stringMatching(side) as string);
    expect(await alignments('td')).toEqual(expected);
    expect(await alignments('th')).toEqual(expected);
  });

  it('reads the name of a file in the order it is written', async () => {
    const visit = await browser.visit();
    const parts = [{ raw: 'aGk=', filename: 'invoice-\u202Efdp.exe', mediaType: 'application/pdf' }];
    await answer(visit.page, [{ message: { messageId: 'm', role: 'ROLE_AGENT', parts } }]);
    await visit.show('A2AChat');
    await visit.ask('Send it');
    await visit.page.getByRole('button', { name: 'Download invoice-fdp.exe' }).waitFor();
  });

  describe('when the session of the visitor has ended', () => {
    it('calls the handler of the site and sends the message again', async () => {
      const visit = await browser.visit();
      await visit.page.route(CHAT, expired, { times: 1 });
      await showWithSignIn(visit);
      await visit.send('Hello');
      await visit.alert.filter({ hasText: 'Please sign in and try again.' }).waitFor();
      expect(await visit.alert.innerText()).not.toContain('Operators');
      await visit.page.getByRole('button', { name: 'Sign in' }).click();
      await visit.finished.filter({ hasText: 'Hello' }).waitFor();
      expect(await visit.page.title()).toBe('signed in for the site');
      expect(await visit.page.locator('.a2a-message-user').count()).toBe(1);
    });

    it('offers to retry when the site has no handler', async () => {
      const visit = await browser.visit();
      await visit.page.route(CHAT, expired, { times: 1 });
      await visit.show('A2AChat');
      await visit.send('Hello');
      await visit.alert.filter({ hasText: 'Please sign in and try again.' }).waitFor();
      expect(await visit.page.getByRole('button', { name: 'Sign in' }).count()).toBe(0);
      await visit.page.getByRole('button', { name: 'Retry' }).click();
      await visit.finished.filter({ hasText: 'Hello' }).waitFor();
    });
  });

  it('reads where a new conversation begins when the old one is over, also after a reload', async () => {
    const visit = await browser.visit();
    await visit.show('A2AChat', { keepOnReload: true });
    await visit.ask('Hello');
    const error = { code: -32001, message: 'Gone', data: [{ domain: 'agent-bff', metadata: { code: UNKNOWN } }] };
    await visit.page.route(CHAT, (route) => route.fulfill({ json: { jsonrpc: '2.0', id: 1, error } }), { times: 1 });
    await visit.send('And then?');
    await visit.alert.filter({ hasText: 'This conversation cannot be continued here.' }).waitFor();
    expect(await visit.axe()).toEqual([]);
    await visit.page.getByRole('button', { name: 'Retry' }).click();
    await visit.finished.filter({ hasText: 'And then?' }).waitFor();
    const read = () => visit.page.locator('.a2a-messages > *').allInnerTexts();
    const expected = ['Hello', 'Hello', 'New conversation', 'And then?', 'And then?'].map((words) =>
      expect.stringContaining(words),
    );
    expect(await read()).toEqual(expected);
    await visit.reload();
    await visit.show('A2AChat', { keepOnReload: true });
    await visit.finished.filter({ hasText: 'And then?' }).waitFor();
    expect(await read()).toEqual(expected);
  });

  it('counts down to the moment that Retry-After names, then offers to retry', async () => {
    const visit = await browser.visit({ prepare: (page) => page.clock.install() });
    const limited = { code: 'rate_limited', detail: 'Operators: raise "chatLimit".' };
    await visit.page.route(
      CHAT,
      (route) => route.fulfill({ status: 429, headers: { 'retry-after': '30' }, json: limited }),
      { times: 1 },
    );
    await visit.show('A2AChat');
    await visit.send('Hello');
    await visit.alert.filter({ hasText: 'This is busy at the moment.' }).waitFor();
    expect(await visit.alert.innerText()).not.toContain('Operators');
    const button = visit.page.getByRole('button', { name: /^Retry/ });
    // A screen reader would read the whole alert with each second.
    await visit.page.evaluate(() => {
      const alert = document.querySelector('.a2a-panel [role=alert]:not(:empty)') as Element;
      const observer = new MutationObserver(() => (document.title = 'The alert has changed.'));
      observer.observe(alert, { subtree: true, childList: true, characterData: true, attributes: true });
    });
    const seconds = async () => Number(/^Retry in (\d+) s$/.exec(await button.innerText())?.[1]);
    expect(await seconds()).toBeGreaterThan(10);
    expect(await button.isDisabled()).toBe(true);
    // While another tab is visible, the timers of this one are delayed.
    await visit.page.clock.fastForward(20_000);
    await expect.poll(seconds).toBeLessThan(11);
    for (let passed = 0; passed < 20; passed += 1) await visit.page.clock.runFor(1000);
    const retry = visit.page.getByRole('button', { name: 'Retry', exact: true });
    await retry.waitFor();
    expect(await visit.page.title()).toBe('A page');
    await retry.click();
    await visit.finished.filter({ hasText: 'Hello' }).waitFor();
  });
});

describeInBrowsers('a widget', {}, (browser) => {
  const ACTION = '**/api/service-surfaces/**/actions/*';
  const RENDER = '**/api/service-surfaces/**/render';

  it('submits an action once, however often it is clicked meanwhile, and shows the message with the fresh render', async () => {
    const visit = await browser.visit();
    await visit.show('ServiceSurface', { surfaceId: 'poll' });
    const pizza = visit.page.getByRole('button', { name: /Pizza/ });
    await pizza.waitFor();
    let submitted = 0;
    let proceed = (): void => undefined;
    const held = new Promise<void>((resolve) => (proceed = resolve));
    await visit.page.route(ACTION, (route) => (submitted++, route.continue()));
    await visit.page.route(RENDER, (route) => held.then(() => route.continue()));
    const rendering = visit.page.waitForRequest(RENDER);
    await pizza.click();
    await pizza.click();
    await rendering;
    await pizza.click();
    expect(await visit.page.locator('.service-surface').getAttribute('aria-busy')).toBe('true');
    // The action has succeeded, but the old state is still shown.
    expect(await visit.page.getByText('Thank you.').count()).toBe(0);
    proceed();
    await visit.page.getByRole('status').filter({ hasText: 'Thank you.' }).waitFor();
    await visit.page.locator('.service-surface[aria-busy=false]').waitFor();
    expect(submitted).toBe(1);
  });

  it('says that an action succeeded when its result cannot be shown, and renders again without repeating it', async () => {
    const visit = await browser.visit();
    await visit.show('ServiceSurface', { surfaceId: 'poll' });
    const pizza = visit.page.getByRole('button', { name: /Pizza/ });
    await pizza.waitFor();
    let submitted = 0;
    await visit.page.route(ACTION, (route) => (submitted++, route.continue()));
    await visit.page.route(RENDER, (route) => route.fulfill({ status: 502, body: '' }), { times: 1 });
    await pizza.click();
    await visit.alert.filter({ hasText: 'This was done, but the result cannot be shown.' }).waitFor();
    expect(await visit.page.getByRole('status').innerText()).toBe('Thank you.');
    await visit.page.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => visit.alert.count()).toBe(0);
    await pizza.waitFor();
    expect(submitted).toBe(1);
  });
});
