import { describe, expect, it } from 'vitest';

import { type ComponentPage, describeInBrowsers } from '../../support/component-browser.js';

const RENDER = '**/api/service-surfaces/**/render';

describeInBrowsers('beside the chat', { wordMs: 5 }, (browser) => {
  describe('the floating chat', () => {
    it('can be opened and closed by the page, and sends a message before it is opened', async () => {
      const visit = await browser.visit();
      await visit.show('A2AChatFloating', { panelTitle: 'Ask us' });
      const dialog = visit.page.getByRole('dialog', { name: 'Ask us' });
      await visit.handle('send', 'From outside');
      expect(await dialog.isVisible()).toBe(false);
      await visit.handle('open');
      expect(await visit.finished.innerText()).toContain('From outside');
      expect(await visit.axe()).toEqual([]);
      await visit.handle('close');
      await dialog.waitFor({ state: 'hidden' });
    });

    it('has the class names of the page on its button, and no colour before the brand loads', async () => {
      const visit = await browser.visit();
      await visit.show('A2AChatFloating', { fabClassName: 'own-button' });
      const fab = visit.page.getByRole('button', { name: 'Chat', exact: true });
      expect(await visit.styleOf(fab, 'background-color')).toBe('rgb(1, 2, 3)');
      await visit.show('A2AChatFloating', {});
      expect(await visit.styleOf(fab, 'background-color')).toMatch(/^oklch\([\d.]+ 0\.0[12]/);
    });

    it('accepts every prop of the chat', async () => {
      const visit = await browser.visit({ colorScheme: 'light' });
      await visit.show('A2AChatFloating', {
        panelTitle: 'Fragen',
        suggestedPrompts: ['Hallo'],
        colorScheme: 'dark',
        dir: 'rtl',
        files: false,
        labels: { close: 'Zu' },
      });
      const fab = visit.page.getByRole('button', { name: 'Fragen' });
      expect((await fab.boundingBox())?.x).toBeLessThan(100);
      await fab.click();
      await visit.page.getByRole('button', { name: 'Hallo' }).click();
      await visit.finished.waitFor();
      expect(await visit.styleOf(visit.page.locator('.a2a-panel'), 'background-color')).toBe('rgb(26, 30, 37)');
      expect(await visit.axe()).toEqual([]);
      await visit.page.getByRole('button', { name: 'Zu' }).click();
      await visit.page.getByRole('dialog').waitFor({ state: 'hidden' });
    });
  });

  describe('a widget', () => {
    it('is found by id or name, and is rendered again when its input changes', async () => {
      const visit = await browser.visit();
      // WebDriver BiDi does not expose the body of a request.
      await visit.page.evaluate(() => {
        const { fetch } = globalThis;
        const sent: unknown[] = [];
        const recorded: typeof fetch = (input, init) => {
          sent.push([input, init?.body]);
          return fetch(input, init);
        };
        Object.assign(globalThis, { sent, fetch: recorded });
      });
      await visit.show('ServiceSurface', { surfaceId: 'poll', serviceSurfacesUrl: undefined, input: undefined });
      await visit.page.getByRole('button', { name: /Pizza/ }).waitFor();
      expect(await visit.axe()).toEqual([]);
      await visit.show('ServiceSurface', { name: 'my-notes', input: { locale: 'de' } });
      await visit.page.getByRole('textbox', { name: 'New note' }).waitFor();
      expect(await visit.axe()).toEqual([]);
      const sent = await visit.page.evaluate(() => (globalThis as unknown as { sent: readonly unknown[] }).sent);
      expect(sent).toContainEqual(['/api/service-surfaces/poll/render', '{"locale":"en"}']);
      expect(sent).toContainEqual(['/api/service-surfaces/by-name/my-notes/render', '{"locale":"de"}']);
    });

    it('lets the page run an action and refresh it', async () => {
      const visit = await browser.visit();
      await visit.show('ServiceSurface', { name: 'my-notes' });
      await visit.page.getByRole('textbox', { name: 'New note' }).waitFor();
      await visit.handle('act', 'add', { text: 'Buy milk' });
      await visit.page.getByRole('listitem').filter({ hasText: 'Buy milk' }).waitFor();
      await visit.handle('refresh');
      expect(await visit.page.getByRole('listitem').count()).toBe(1);
    });

    it('sends the page’s headers with every request, including the theme', async () => {
      const visit = await browser.visit();
      const seen = new Map<string, string | undefined>();
      visit.page.on('request', (request) => {
        const { pathname } = new URL(request.url());
        if (pathname.startsWith('/api/')) seen.set(pathname.replace(/.*\//, ''), request.headers()['x-csrf']);
      });
      await visit.show('ServiceSurface', { surfaceId: 'poll', headers: { 'X-CSRF': 'token-1' } });
      const pizza = visit.page.getByRole('button', { name: /Pizza/ });
      await pizza.waitFor();
      expect(await visit.styleOf(pizza, 'border-top-color')).toBe('rgb(194, 65, 12)');
      await pizza.click();
      await visit.page.getByRole('status').filter({ hasText: 'Thank you.' }).waitFor();
      expect(Object.fromEntries(seen)).toEqual({ render: 'token-1', 'theme.css': 'token-1', vote: 'token-1' });
      expect(await visit.violations()).toEqual([]);
    });

    it('shows its failure, calls onError and can be retried', async () => {
      const visit = await browser.visit({ prepare: (page) => page.route(RENDER, (route) => route.abort()) });
      await visit.page.evaluate(() =>
        (globalThis as unknown as ComponentPage).show('ServiceSurface', {
          surfaceId: 'poll',
          labels: { tryAgain: 'Noch einmal', connectionLost: 'Keine Verbindung.' },
          onError: ({ code }: { code: string }) => void (document.title = code),
        }),
      );
      await visit.alert.filter({ hasText: 'Keine Verbindung.' }).waitFor();
      expect(await visit.page.title()).toBe('connection_lost');
      expect(await visit.axe()).toEqual([]);
      await visit.page.unroute(RENDER);
      await visit.page.getByRole('button', { name: 'Noch einmal' }).click();
      await visit.page.getByRole('button', { name: /Pizza/ }).waitFor();
      expect(await visit.alert.count()).toBe(0);
    });

    it('loses only inline styles and handlers, before a strict policy reports them', async () => {
      const html = [
        '<style>p { color: red }</style><svg><style>g { fill: red }</style><g style="fill: red"></g></svg>',
        `<p STYLE='color: red; position: fixed' onclick="steal()" title="style='x' > onclick=y" data-style="kept">`,
        'The words style="x", onclick="y()" and 2 < 3 stay.</p>',
        '<button data-action="vote"style=color:red\nonclick=steal()>Vote</button><p style="color: red',
      ].join('');
      const visit = await browser.visit({
        prepare: (page) => page.route(RENDER, (route) => route.fulfill({ json: { id: 'poll', title: 'Poll', html } })),
      });
      await visit.show('ServiceSurface', { surfaceId: 'poll' });
      await visit.page.getByRole('button', { name: 'Vote' }).waitFor();
      const shown = await visit.page.locator('.service-surface-host').evaluate((host) => {
        const content = host.shadowRoot?.querySelector('div > div')?.shadowRoot?.querySelector('div');
        return content?.innerHTML.replaceAll('&gt;', '>').replaceAll('&lt;', '<');
      });
      expect(shown).toBe(
        [
          '<svg><g></g></svg>',
          `<p title="style='x' > onclick=y" data-style="kept">`,
          'The words style="x", onclick="y()" and 2 < 3 stay.</p>',
          '<button data-action="vote">Vote</button>',
        ].join(''),
      );
      expect(await visit.violations()).toEqual([]);
    });

    it.each([
      ['jsdom', 'globalThis.CSSStyleSheet'],
      ['a browser without constructed style sheets', 'CSSStyleSheet.prototype.replaceSync'],
    ])('is shown unstyled in %s', async (_where, missing) => {
      const visit = await browser.visit({ prepare: (page) => page.addInitScript(`delete ${missing}`) });
      await visit.show('ServiceSurface', { surfaceId: 'poll', headers: { 'x-page': 'yes' } });
      await visit.page.getByRole('button', { name: /Pizza/ }).waitFor();
    });

    it('reports a page of the site in place of a widget, with the cause', async () => {
      const visit = await browser.visit({
        prepare: (page) =>
          page.route(RENDER, (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html>' })),
      });
      await visit.page.evaluate(() =>
        (globalThis as unknown as ComponentPage).show('ServiceSurface', {
          surfaceId: 'poll',
          onError: ({ code, cause }: { code: string; cause?: unknown }) =>
            void (document.title = `${code}: ${String(cause)}`),
        }),
      );
      await visit.alert.filter({ hasText: 'This is not available at the moment.' }).waitFor();
      expect(await visit.page.title()).toMatch(/^unreachable: .*\/poll\/render gives text\/html/);
    });
  });

  describe('the hooks', () => {
    it('useA2AChat returns the state of the chat without its markup', async () => {
      const visit = await browser.visit();
      await visit.show('Headless');
      await visit.page.getByRole('heading', { name: 'Demo agent' }).waitFor();
      await visit.page.getByRole('button', { name: 'Say hello' }).click();
      await visit.page.getByRole('listitem').filter({ hasText: 'agent: You said: “Hello”' }).waitFor();
      await visit.page.getByText('idle').waitFor();
      await visit.page.route('**/api/a2a', (route) => route.abort());
      await visit.page.getByRole('button', { name: 'Say hello' }).click();
      await visit.page.getByText('connection_lost').waitFor();
      expect(await visit.page.locator('.agent-bff').count()).toBe(0);
    });

    it('useServiceSurface shows a widget in an element of the page', async () => {
      const visit = await browser.visit();
      await visit.show('HeadlessSurface', { name: 'my-notes' });
      await visit.page.getByRole('textbox', { name: 'New note' }).waitFor();
      expect(await visit.page.getByRole('heading', { level: 1 }).innerText()).not.toBe('');
      await visit.page.getByRole('button', { name: 'Add a note' }).click();
      await visit.page.getByRole('listitem').filter({ hasText: 'From outside' }).waitFor();
      expect(await visit.page.locator('.agent-bff').count()).toBe(0);
    });
  });
});
