import { readFileSync } from 'node:fs';

import { transform } from 'lightningcss';
import { describe, expect, it } from 'vitest';

import { type ComponentPage, type ComponentVisit, describeInBrowsers } from '../../support/component-browser.js';

/** Records the bodies of the requests in the page, since Playwright does not read them in Firefox. */
async function recordBodies({ page }: ComponentVisit): Promise<void> {
  await page.evaluate(() => {
    const { fetch } = globalThis;
    const bodies: unknown[] = [];
    const recording: typeof fetch = (input, init) => {
      if (init?.body) bodies.push(init.body);
      return fetch(input, init);
    };
    Object.assign(globalThis, { bodies, fetch: recording });
  });
}

/** The context of each message that was sent. */
async function contextsOf({ page }: ComponentVisit): Promise<unknown[]> {
  const bodies = await page.evaluate(() => (globalThis as unknown as { bodies: string[] }).bodies);
  return bodies.map(
    (body) => (JSON.parse(body) as { params: { message: { contextId?: string } } }).params.message.contextId,
  );
}

const stylesheet = (): string => readFileSync(new URL('../../../react/dist/style.css', import.meta.url), 'utf8');

/** A stylesheet as Vite and Next compile it for the browsers they support by default: without light-dark(). */
function compiled(css: string): string {
  const targets = { chrome: 111 << 16, firefox: 114 << 16, safari: (16 << 16) | (4 << 8) };
  const { code } = transform({ filename: 'style.css', code: Buffer.from(css), targets });
  expect(String(code)).not.toContain('light-dark(#');
  return String(code);
}

describeInBrowsers('the props of the chat', { wordMs: 5 }, (browser) => {
  it('can all be omitted or undefined', async () => {
    const visit = await browser.visit();
    await visit.show('A2AChat');
    await visit.page.getByRole('heading', { name: 'Demo agent' }).waitFor();
    expect(await visit.ask('Hello')).toContain('“Hello”');

    await visit.page.evaluate(() => {
      const names =
        'a2aEndpoint configEndpoint serviceBaseUrl panelTitle suggestedPrompts user files colorScheme labels dir className renderMessage onError headers keepOnReload fabClassName';
      const props = Object.fromEntries(names.split(' ').map((name) => [name, undefined]));
      (globalThis as unknown as ComponentPage).show('A2AChat', { ...props, labels: { send: undefined } });
    });
    expect(await visit.ask('Again')).toContain('“Again”');
    await visit.page.getByRole('button', { name: 'Send', exact: true }).waitFor();
    expect(await visit.page.getByRole('button', { name: 'Earlier conversations' }).count()).toBe(0);
  });

  it('a2aEndpoint and configEndpoint set the requested addresses, with the configuration below the chat by default', async () => {
    const asked: string[] = [];
    const visit = await browser.visit({
      prepare: (page) =>
        page.route(/\/(?:members|elsewhere)\//, async (route) => {
          const { pathname } = new URL(route.request().url());
          asked.push(pathname);
          if (route.request().method() === 'GET')
            return route.fulfill({ response: await route.fetch({ url: `${browser.demo.url}/api/a2a/config` }) });
          return route.fulfill({ json: { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'Members only.' } } });
        }),
    });
    await visit.show('A2AChat', { a2aEndpoint: '/members/a2a' });
    await visit.send('Hello');
    await visit.alert.filter({ hasText: 'The agent could not finish this.' }).waitFor();
    expect(asked).toEqual(['/members/a2a/config', '/members/a2a']);

    asked.length = 0;
    await visit.show('A2AChat', { a2aEndpoint: '/members/a2a/' });
    await expect.poll(() => asked).toEqual(['/members/a2a/config']);

    asked.length = 0;
    await visit.show('A2AChat', { a2aEndpoint: '/members/a2a', configEndpoint: '/elsewhere/card' });
    await expect.poll(() => visit.page.locator('.a2a-message').count()).toBe(0);
    await visit.send('Hello');
    await visit.alert.filter({ hasText: 'The agent could not finish this.' }).waitFor();
    expect(asked).toEqual(['/elsewhere/card', '/members/a2a']);
  });

  it('panelTitle, suggestedPrompts and user are shown', async () => {
    const visit = await browser.visit();
    await visit.show('A2AChat', {
      panelTitle: 'Ask us',
      suggestedPrompts: ['Where is my parcel?', 'Another one'],
      user: { name: 'Ada Lovelace', picture: '/people/ada.svg' },
    });
    await visit.page.getByRole('region', { name: 'Ask us' }).waitFor();
    await visit.page.getByText('How can I help, Ada?').waitFor();
    await visit.page.getByRole('button', { name: 'Where is my parcel?' }).click();
    await visit.finished.waitFor();
    expect(await visit.page.locator('.a2a-message-user img').getAttribute('src')).toBe('/people/ada.svg');
    expect(await visit.page.locator('.a2a-message-user').innerText()).toContain('Ada Lovelace:');
    expect(await visit.page.getByRole('button', { name: 'Another one' }).count()).toBe(0);
  });

  it.each<[string, object | null]>([
    ['without a name', { picture: '/people/ada.svg' }],
    ['without a picture', { name: 'Ada' }],
    ['with neither', { name: null, picture: null }],
    ['who is null', null],
  ])('a user %s still has an avatar', async (_which, user) => {
    const visit = await browser.visit();
    await visit.show('A2AChat', { user });
    await visit.ask('Hello');
    expect(await visit.page.locator('.a2a-message-user .a2a-avatar').count()).toBe(1);
    expect(await visit.page.locator('img[src=""], img:not([src])').count()).toBe(0);
  });

  describe('a change of the user', () => {
    const DRAFT = 'My account number is 4711';
    const texts = (visit: ComponentVisit): Promise<string[]> => visit.page.locator('.a2a-bubble').allInnerTexts();

    it.each<[string, object | null]>([
      ['to none', null],
      ['to another one', { name: 'Bob', picture: '/people/ada.svg' }],
      ['to one without a name', { picture: '/people/ada.svg' }],
    ])('%s begins a new conversation, without the draft of the former', async (_what, next) => {
      const visit = await browser.visit({});
      await recordBodies(visit);
      const props = { keepOnReload: true, panelTitle: 'Ask us' };
      await visit.show('A2AChat', { ...props, user: { name: 'Ada', picture: '/people/ada.svg' } });
      await visit.ask('my balance?');
      await visit.input.pressSequentially(DRAFT);
      await visit.show('A2AChat', { ...props, user: next });
      await visit.page.getByText(/How can I help/).waitFor();
      expect(await texts(visit)).toEqual([]);
      expect(await visit.input.inputValue()).toBe('');
      expect(await visit.page.evaluate(() => JSON.stringify(sessionStorage))).toBe('{}');
      await visit.ask('hi');
      expect(await contextsOf(visit)).toEqual([undefined, undefined]);
    });

    it('leaves a running answer to the agent, and shows no more of it', async () => {
      const visit = await browser.visit();
      await visit.show('A2AChat', { user: { name: 'Ada' } });
      await visit.send('slow');
      await visit.agentMessage.filter({ hasText: 'Counting' }).waitFor();
      await visit.show('A2AChat', { user: null });
      await visit.page.getByText('How can I help?').waitFor();
      expect(await visit.ask('Hello')).toContain('“Hello”');
      expect(await visit.page.locator('.a2a-message').count()).toBe(2);
    });

    it('loads an open list of earlier conversations again, also after a sign-in', async () => {
      let owner = 'Visitor';
      const visit = await browser.visit({
        prepare: (page) =>
          page.route('**/api/service/conversations', (route) =>
            route.fulfill({ json: { conversations: [{ id: owner, title: `Of ${owner}`, updatedAt: '' }] } }),
          ),
      });
      const show = async (name?: string): Promise<void> => {
        owner = name ?? owner;
        await visit.show('A2AChat', { serviceBaseUrl: '/api/service', user: name ? { name } : null });
      };
      await show();
      await visit.page.getByRole('button', { name: 'Earlier conversations' }).click();
      await visit.page.getByText('Of Visitor').waitFor();
      await show('Ada');
      await visit.page.getByText('Of Ada').waitFor();
      await show('Bob');
      await visit.page.getByText('Of Bob').waitFor();
      expect(await visit.page.locator('.a2a-entry').count()).toBe(1);
    });

    it.each<[string, object | undefined, object]>([
      ['the visitor signs in', undefined, { name: 'Ada' }],
      ['the name of the user is loaded later', {}, { name: 'Ada' }],
      ['the user has a new picture', { name: 'Ada', picture: '/people/ada.svg' }, { name: 'Ada', picture: '/x.svg' }],
    ])('keeps conversation and draft when %s', async (_what, before, after) => {
      const visit = await browser.visit();
      await visit.show('A2AChat', { user: before });
      await visit.ask('Hello');
      await visit.input.pressSequentially(DRAFT);
      await visit.show('A2AChat', { user: after });
      await visit.page.getByText('Ada:').waitFor({ state: 'attached' });
      expect(await texts(visit)).toHaveLength(2);
      expect(await visit.input.inputValue()).toBe(DRAFT);
    });
  });

  it('files={false} removes the attach button', async () => {
    const visit = await browser.visit();
    await visit.show('A2AChat', { files: true });
    await visit.page.getByRole('button', { name: 'Attach a file of up to 1.4 MB' }).waitFor();
    await visit.show('A2AChat', { files: false });
    await expect.poll(() => visit.page.getByRole('button', { name: /Attach/ }).count()).toBe(0);
    expect(await visit.page.locator('input[type=file]').count()).toBe(0);
    expect(await visit.ask('Without one')).toContain('Without one');
  });

  it('labels replace texts and fill in their placeholders', async () => {
    const visit = await browser.visit();
    await visit.show('A2AChat', {
      user: { name: 'Ada' },
      labels: {
        welcomeUser: 'Guten Tag, {name}!',
        send: 'Senden',
        placeholder: 'Nachricht …',
        failed: 'Das ging nicht.',
      },
    });
    await visit.page.getByText('Guten Tag, Ada!').waitFor();
    await visit.page.getByPlaceholder('Nachricht …').waitFor();
    expect(await visit.page.getByRole('button', { name: 'Senden' }).count()).toBe(1);
    expect(await visit.ask('fail')).toContain('Das ging nicht.');
    // Labels without a translation stay in English.
    expect(await visit.page.getByRole('button', { name: 'New conversation' }).count()).toBe(1);
  });

  it('dir="rtl" mirrors the chat', async () => {
    const visit = await browser.visit();
    await visit.show('A2AChat', { dir: 'rtl', panelTitle: 'العربية' });
    await visit.ask('Hello');
    const [send, panel] = [
      visit.page.getByRole('button', { name: 'Send', exact: true }),
      visit.page.locator('.a2a-panel'),
    ];
    const middle = ((await panel.boundingBox())?.width ?? 0) / 2;
    expect((await send.boundingBox())?.x).toBeLessThan(middle);
    expect((await visit.page.locator('.a2a-message-user .a2a-avatar').boundingBox())?.x).toBeLessThan(middle);
    expect(await visit.axe()).toEqual([]);
  });

  describe.each([
    ['as published', (css: string) => css],
    ['as a bundler compiles it for older browsers', compiled],
  ])('the stylesheet %s', (_how, compile) => {
    it.each([
      { colorScheme: 'light', page: 'light dark', system: 'dark', shown: 'light' },
      { colorScheme: 'dark', page: 'light', system: 'light', shown: 'dark' },
      { colorScheme: 'auto', page: 'light dark', system: 'dark', shown: 'dark' },
      { colorScheme: 'auto', page: 'dark', system: 'light', shown: 'dark' },
      { colorScheme: undefined, page: 'light', system: 'dark', shown: 'light' },
      { colorScheme: undefined, page: undefined, system: 'dark', shown: 'light' },
    ] as const)(
      'is $shown with colorScheme $colorScheme in a page of $page on a $system system',
      async ({ colorScheme, page, system, shown }) => {
        const own = page === undefined ? '' : `html { color-scheme: ${page}; }`;
        const visit = await browser.visit({
          colorScheme: system,
          prepare: (opened) =>
            opened.route('**/page/*.css', async (route) => {
              const text = route.request().url().endsWith('own.css') ? own : stylesheet();
              await route.fulfill({ contentType: 'text/css', body: compile(text) });
            }),
        });
        await visit.show('A2AChat', { colorScheme });
        await visit.ask('markdown');
        const surface = { light: 'rgb(255, 255, 255)', dark: 'rgb(26, 30, 37)' }[shown];
        expect(await visit.styleOf(visit.page.locator('.a2a-panel'), 'background-color')).toBe(surface);
        expect(await visit.axe()).toEqual([]);
      },
    );
  });

  it('custom properties of the page override the brand', async () => {
    const visit = await browser.visit();
    await visit.show('A2AChat', { className: 'shop' });
    await visit.ask('Hello');
    const bubble = visit.page.locator('.a2a-message-user .a2a-bubble');
    const branded = await visit.styleOf(bubble, 'background-color');
    expect(branded).toMatch(/^oklch\(0\.\d+ 0\.\d+ 27\d/);
    await visit.page.locator('.shop').evaluate((element) => {
      element.style.setProperty('--agent-bff-accent', '#0a7d33');
      element.style.setProperty('--agent-bff-radius', '3px');
    });
    expect(await visit.styleOf(bubble, 'background-color')).toMatch(/^oklch\(0\.\d+ 0\.\d+ 14\d/);
    expect(await visit.styleOf(visit.page.locator('.a2a-panel'), 'border-top-left-radius')).toBe('3px');
  });

  it('renderMessage replaces a message or returns the default', async () => {
    const visit = await browser.visit();
    await visit.page.evaluate(() =>
      (globalThis as unknown as ComponentPage).show('A2AChat', {
        renderMessage: (message: { role: string; text: string }, shown: unknown) =>
          message.role === 'user' ? `I said ${message.text}` : shown,
      }),
    );
    await visit.send('Hello');
    await visit.finished.waitFor();
    await visit.page.getByText('I said Hello').waitFor();
    expect(await visit.page.locator('.a2a-message-user').count()).toBe(0);
    expect(await visit.page.locator('.a2a-message-agent').count()).toBe(1);
  });

  it.each(['a value', 'a function'])('headers as %s are sent with every request', async (kind) => {
    const seen = new Map<string, string | undefined>();
    const visit = await browser.visit();
    visit.page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith('/api/')) seen.set(pathname, request.headers()['x-csrf']);
    });
    await visit.page.evaluate((isFunction) => {
      const headers = { 'X-CSRF': 'token-1' };
      (globalThis as unknown as ComponentPage).show('A2AChat', {
        serviceBaseUrl: '/api/service',
        headers: isFunction ? () => Promise.resolve(headers) : headers,
      });
    }, kind === 'a function');
    await visit.ask('Hello');
    await visit.page.getByRole('button', { name: 'Earlier conversations' }).click();
    await visit.alert.waitFor();
    expect(Object.fromEntries(seen)).toEqual({
      '/api/a2a/config': 'token-1',
      '/api/a2a': 'token-1',
      '/api/service/conversations': 'token-1',
    });
  });

  it('a ref can send, stop and reset', async () => {
    const visit = await browser.visit();
    await visit.show('A2AChat');
    await visit.handle('send', 'From outside');
    expect(await visit.finished.innerText()).toContain('From outside');
    const stopped = visit.handle('send', { text: 'slow' });
    await visit.agentMessage.filter({ hasText: 'Counting' }).waitFor();
    await visit.handle('stop');
    await visit.agentMessage.filter({ hasText: 'Stopped.' }).waitFor();
    await stopped;
    await visit.handle('reset');
    await expect.poll(() => visit.page.locator('.a2a-message').count()).toBe(0);
  });
});
