import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import type { Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import { type ComponentPage, type ComponentVisit, describeInBrowsers } from '../../support/component-browser.js';

const CONFIG = '**/api/a2a/config';
const CHAT = '**/api/a2a';

describeInBrowsers('the chat', { wordMs: 5, slowStepMs: 20 }, (browser) => {
  describe('in use', () => {
    it('shows that the agent is waiting and prompts for a reply', async () => {
      const visit = await browser.visit();
      await visit.show('A2AChat');
      await visit.ask('Hello');
      const plain = await visit.styleOf(visit.finished, 'border-top-width');
      expect(await visit.ask('input')).toContain('The agent is waiting for your reply.');
      expect(await visit.styleOf(visit.finished, 'border-top-width')).not.toBe(plain);
      await visit.page.getByPlaceholder('Your reply…').waitFor();
      expect(await visit.axe()).toEqual([]);
      await visit.ask('Lisbon');
      await visit.page.getByPlaceholder('Write a message…').waitFor();
    });

    it('shows when the agent thinks, writes and stops', async () => {
      let deliver = (): void => undefined;
      const delivered = new Promise<void>((resolve) => (deliver = resolve));
      const hold = (route: Route): Promise<void> => delivered.then(() => route.continue());
      const visit = await browser.visit({ prepare: (page) => page.route(CHAT, hold, { times: 1 }) });
      await visit.show('A2AChat');
      await visit.send('slow');
      await visit.page.getByText('The agent is thinking.').waitFor();
      expect(await visit.axe()).toEqual([]);
      deliver();
      await visit.agentMessage.filter({ hasText: 'Counting' }).waitFor();
      await visit.page.getByRole('button', { name: 'Stop' }).click();
      expect(await visit.finished.innerText()).toContain('Stopped.');
      expect(await visit.axe()).toEqual([]);
    });

    it.each(['a long answer', 'an answer to a file'])('keeps the end of %s in view above the field', async (which) => {
      const visit = await browser.visit({ viewport: { width: 360, height: 420 } });
      await visit.show('A2AChat');
      await visit.ask('markdown');
      if (which === 'an answer to a file') {
        await visit.page.locator('input[type=file]').setInputFiles({
          name: 'notes.txt',
          mimeType: 'text/plain',
          buffer: Buffer.from('Some notes'),
        });
        await visit.page.getByRole('button', { name: 'Remove notes.txt' }).waitFor();
      }
      await visit.ask(which === 'a long answer' ? 'markdown' : 'Here');
      await expect.poll(() => hiddenBelow(visit)).toBeLessThanOrEqual(0);
      // Also after the panel shrinks.
      await visit.page.setViewportSize({ width: 360, height: 360 });
      await expect.poll(() => hiddenBelow(visit)).toBeLessThanOrEqual(0);
    });

    it('grows up to the height of the window in a container without a height, with the end of the answer in view', async () => {
      const visit = await browser.visit();
      await visit.page.locator('#root').evaluate((root) => root.style.setProperty('height', 'auto'));
      await visit.show('A2AChat');
      const panel = visit.page.locator('.a2a-panel');
      await visit.ask('Hello');
      expect((await panel.boundingBox())?.height).toBeLessThan(500);
      await visit.ask('markdown');
      await visit.ask('markdown');
      expect((await panel.boundingBox())?.height).toBe(600);
      await expect.poll(() => hiddenBelow(visit)).toBeLessThanOrEqual(0);
    });

    it('highlights code and offers a copy button, both loaded only for code', async () => {
      const visit = await browser.visit();
      const loaded: string[] = [];
      visit.page.on('request', (request) => loaded.push(request.url().replace(/.*\/page\//, '')));
      await visit.show('A2AChat');
      await visit.ask('Hello');
      expect(loaded).toContain('agent.js');
      expect(loaded).not.toContain('highlight.js');
      await visit.ask('markdown');
      await visit.finished.locator('pre .hljs-keyword').filter({ hasText: 'const' }).waitFor();
      expect(loaded).toContain('highlight.js');
      expect(await visit.axe()).toEqual([]);
      await visit.finished.getByRole('button', { name: 'Copy', exact: true }).click();
      await visit.finished.getByRole('button', { name: 'Copied' }).waitFor();
      expect(await visit.page.evaluate(() => navigator.clipboard.readText())).toBe(
        'const answer = 6 * 7;\nconsole.log(answer);\n',
      );
      await visit.finished.getByRole('button', { name: 'Copy', exact: true }).waitFor();
    });
  });

  describe('with links in an answer', () => {
    it('keeps the letters of a link in order despite control characters in and around it', async () => {
      const visit = await browser.visit();
      await visit.show('A2AChat');
      await visit.ask(
        '\u202e[bank\u202e.ex\u0007ample **a\u2066b**](https://evil.example "to\u202e \u200fbank")\u202c',
      );
      const link = visit.finished.getByRole('link');
      expect(await link.textContent()).toBe('bank.example ab');
      expect(await link.getAttribute('title')).toBe('to bank');
      expect(await visit.styleOf(link, 'unicode-bidi')).toBe('plaintext');
      const [first, last] = await link.evaluate((element) => {
        const range = document.createRange();
        const text = element.firstChild as Text;
        return [0, 3].map((start) => {
          range.setStart(text, start);
          range.setEnd(text, start + 1);
          return range.getBoundingClientRect().left;
        });
      });
      expect(first).toBeLessThan(last as number);
    });
  });

  describe('with a brand', () => {
    it('shows no colour before the brand loads, and removes the brand when it unmounts', async () => {
      let answer = (): void => undefined;
      const answered = new Promise<void>((resolve) => (answer = resolve));
      const visit = await browser.visit({
        prepare: (page) =>
          page.route(CONFIG, async (route) => {
            await answered;
            await route.continue();
          }),
      });
      await visit.show('A2AChat');
      const icon = visit.page.locator('.a2a-welcome-icon');
      await icon.waitFor();
      expect(chromaOf(await visit.styleOf(icon, 'color'))).toBeLessThan(0.03);
      answer();
      await expect.poll(async () => chromaOf(await visit.styleOf(icon, 'color'))).toBeGreaterThan(0.1);

      const accent = () => getComputedStyle(document.documentElement).getPropertyValue('--agent-accent');
      expect(await visit.page.evaluate(accent)).toBe('#4338ca');
      await visit.page.evaluate(() => (globalThis as unknown as ComponentPage).hide());
      await expect.poll(() => visit.page.evaluate(accent)).toBe('');
    });

    it('has its own colour when there is no brand', async () => {
      const visit = await browser.visit({
        prepare: (page) =>
          page.route(CONFIG, async (route) => {
            const response = await route.fetch();
            await route.fulfill({ response, json: { ...(await response.json()), brandCss: null } });
          }),
      });
      await visit.show('A2AChat');
      const icon = visit.page.locator('.a2a-welcome-icon');
      await expect.poll(async () => chromaOf(await visit.styleOf(icon, 'color'))).toBeGreaterThan(0.1);
      expect(await visit.violations()).toEqual([]);
    });

    it('neither loads files nor runs scripts from brand CSS', async () => {
      const asked: string[] = [];
      const visit = await browser.visit({
        prepare: async (page) => {
          page.on('request', (request) => asked.push(request.url()));
          await page.route(CONFIG, async (route) => {
            const response = await route.fetch();
            const brandCss =
              '@import "/page/stolen.css"; :root { --agent-accent: red } </style><script>alert(1)</script>';
            await route.fulfill({ response, json: { ...(await response.json()), brandCss } });
          });
        },
      });
      await visit.show('A2AChat');
      await visit.ask('Hello');
      expect(asked.filter((url) => url.includes('stolen'))).toEqual([]);
      expect(await visit.page.locator('#root script, #root style').count()).toBe(0);
    });
  });

  describe('when something fails', () => {
    const LOST = 'The connection to the site was lost. Please try again.';
    const UNREACHABLE = 'This is not available at the moment. Please try again later.';
    const problem = (route: Route): Promise<void> =>
      route.fulfill({
        status: 401,
        contentType: 'application/problem+json',
        body: JSON.stringify({ code: 'service_auth_failed', detail: 'Refused.', hint: 'Check "serviceAccount".' }),
      });
    const pageOfSite = (route: Route): Promise<void> =>
      route.fulfill({ contentType: 'text/html', body: '<!doctype html><div id="root"></div>' });
    const page502 = (route: Route): Promise<void> =>
      route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' });

    it.each<[string, string, (route: Route) => Promise<void>, string, object]>([
      [
        'the configuration is rejected',
        CONFIG,
        problem,
        UNREACHABLE,
        { code: 'refused', status: 401, cause: expect.stringContaining('Refused. Check "serviceAccount".') },
      ],
      ['no response for the configuration', CONFIG, (route) => route.abort(), LOST, { code: 'connection_lost' }],
      ['a proxy error for the configuration', CONFIG, page502, UNREACHABLE, { code: 'unreachable', status: 502 }],
      [
        'a page of the site for the configuration',
        CONFIG,
        pageOfSite,
        UNREACHABLE,
        {
          code: 'unreachable',
          status: 200,
          cause: expect.stringMatching(/\/api\/a2a\/config gives text\/html, .*"a2aEndpoint"/),
        },
      ],
      [
        'unrelated JSON for the configuration',
        CONFIG,
        (route) => route.fulfill({ json: { hello: 1 } }),
        UNREACHABLE,
        { code: 'unreachable', status: 200 },
      ],
      ['no response to the message', CHAT, (route) => route.abort(), LOST, { code: 'connection_lost' }],
    ])('%s: shows an error, calls onError and retries on request', async (_what, path, fulfil, words, error) => {
      const visit = await browser.visit({ prepare: (page) => page.route(path, fulfil) });
      await visit.page.evaluate(() => {
        const told: object[] = [];
        Object.assign(globalThis, { told });
        (globalThis as unknown as ComponentPage).show('A2AChat', {
          onError: ({ code, status, message, cause }: { code: string; status?: number } & Error) =>
            told.push({ code, ...(status && { status }), message, cause: String(cause) }),
        });
      });
      if (path === CHAT) await visit.send('Hello');
      await visit.alert.filter({ hasText: words }).waitFor();
      const told = await visit.page.evaluate(() => (globalThis as unknown as { told: object[] }).told);
      expect(told.at(-1)).toMatchObject(error);
      expect(await visit.axe()).toEqual([]);

      await visit.page.unroute(path, fulfil);
      await visit.page.getByRole('button', { name: 'Retry' }).click();
      if (path === CHAT) await visit.finished.waitFor();
      await expect.poll(() => visit.alert.count()).toBe(0);
      expect(await visit.ask('And again')).toContain('And again');
      // The failed message is shown once.
      expect(await visit.page.locator('.a2a-message-user').count()).toBe(path === CHAT ? 2 : 1);
    });

    it('shows one short problem at a time on a narrow screen', async () => {
      const visit = await browser.visit({ viewport: { width: 320, height: 640 } });
      await visit.page.route(CHAT, (route) => route.abort());
      await visit.show('A2AChat');
      await visit.send('Hello');
      const retry = visit.page.getByRole('button', { name: 'Retry' });
      await retry.waitFor();
      // Three lines of text, with the button in the last one.
      expect((await visit.alert.boundingBox())?.height).toBeLessThan(100);

      const file = { name: 'film.bin', mimeType: 'video/mp4', buffer: Buffer.alloc(1_500_000) };
      await visit.page.locator('input[type=file]').setInputFiles(file);
      await visit.alert.filter({ hasText: 'film.bin is too large: 1.5 MB.' }).waitFor();
      expect(await retry.isVisible()).toBe(false);
      await visit.page.getByRole('button', { name: 'Remove film.bin' }).click();
      expect(await retry.isVisible()).toBe(true);
    });

    it('shows that a file is too large when a page sends it through a ref', async () => {
      const visit = await browser.visit();
      await visit.page.evaluate(() =>
        (globalThis as unknown as ComponentPage).show('A2AChat', {
          onError: ({ code }: { code: string }) => void (document.title = code),
        }),
      );
      await visit.page.evaluate(() =>
        (globalThis as unknown as ComponentPage).handle.current['send']?.({
          text: 'Here',
          file: new File([new Uint8Array(1_500_000)], 'film.bin'),
        }),
      );
      await visit.alert.filter({ hasText: 'film.bin is too large' }).waitFor();
      expect(await visit.page.title()).toBe('file_too_large');
      expect(await visit.page.locator('.a2a-message').count()).toBe(0);
    });

    it('shows an error instead of an empty list when earlier conversations cannot be read', async () => {
      const visit = await browser.visit();
      await visit.show('A2AChat', { serviceBaseUrl: '/api/service' });
      await visit.page.getByRole('button', { name: 'Earlier conversations' }).click();
      await visit.alert.filter({ hasText: 'Please sign in and try again.' }).waitFor();
      expect(await visit.page.getByText('There are no conversations yet.').count()).toBe(0);
      expect(await visit.axe()).toEqual([]);
    });
  });

  it('opens the conversation that was chosen last, though another one arrives later', async () => {
    const visit = await browser.visit();
    let deliver = (): void => undefined;
    const delivered = new Promise<void>((resolve) => (deliver = resolve));
    await visit.page.route('**/api/service/conversations', (route) =>
      route.fulfill({ json: { conversations: ['First', 'Second'].map((title) => ({ id: title, title })) } }),
    );
    await visit.page.route('**/api/service/conversations/*', async (route) => {
      const title = new URL(route.request().url()).pathname.replace(/.*\//, '');
      if (title === 'First') await delivered;
      return route.fulfill({ json: { messages: [{ role: 'user', text: `${title} words` }] } });
    });
    // Where conversations are open, since these two were begun elsewhere.
    await visit.show('A2AChat', { a2aEndpoint: '/agent', serviceBaseUrl: '/api/service' });
    await visit.page.getByRole('button', { name: 'Earlier conversations' }).click();
    const late = visit.page.waitForResponse('**/api/service/conversations/First');
    await visit.page.locator('.a2a-entry', { hasText: 'First' }).click();
    await visit.page.locator('.a2a-entry', { hasText: 'Second' }).click();
    await visit.page.getByText('Second words').waitFor();
    deliver();
    await (await late).finished();
    await visit.ask('Hello');
    expect(await visit.page.locator('.a2a-messages').innerText()).toMatch(/Second words[\s\S]*Hello/);
  });

  describe('after a reload of the page', () => {
    it('starts a new conversation', async () => {
      const visit = await browser.visit();
      await visit.show('A2AChat');
      await visit.ask('Hello');
      await visit.reload();
      await visit.show('A2AChat');
      await visit.page.getByRole('heading', { name: 'Demo agent' }).waitFor();
      expect(await visit.page.locator('.a2a-message').count()).toBe(0);
      expect(await visit.page.evaluate(() => sessionStorage.length)).toBe(0);
    });

    it('with keepOnReload restores the conversation and the question of the agent, until a new conversation is started', async () => {
      const visit = await browser.visit();
      await visit.show('A2AChat', { keepOnReload: true });
      await visit.ask('markdown');
      await visit.ask('input');
      await visit.reload();
      await visit.show('A2AChat', { keepOnReload: true });
      await visit.page.getByPlaceholder('Your reply…').waitFor();
      expect(await visit.page.locator('.a2a-message').count()).toBe(4);
      expect(await visit.ask('Lisbon')).toContain('Thank you');
      // Also in another element of the same page.
      await visit.show('A2AChatFloating', { keepOnReload: true });
      await visit.page.getByRole('button', { name: 'Chat', exact: true }).click();
      expect(await visit.page.locator('.a2a-message').count()).toBe(6);
      await visit.page.getByRole('button', { name: 'New conversation' }).click();
      await visit.reload();
      await visit.show('A2AChat', { keepOnReload: true });
      await visit.page.getByRole('heading', { name: 'Demo agent' }).waitFor();
      expect(await visit.page.locator('.a2a-message').count()).toBe(0);
    });

    it('with names, two chats with the same agent keep their own conversations', async () => {
      const visit = await browser.visit();
      await visit.show('A2AChat', { keepOnReload: 'help' });
      await visit.ask('A question for the help');
      await visit.show('A2AChat', { keepOnReload: 'orders' });
      expect(await visit.page.locator('.a2a-message').count()).toBe(0);
      await visit.ask('A question about orders');
      for (const [name, text] of [
        ['help', 'for the help'],
        ['orders', 'about orders'],
      ] as const) {
        await visit.reload();
        await visit.show('A2AChat', { keepOnReload: name });
        await visit.page.locator('.a2a-message-user', { hasText: text }).waitFor();
        expect(await visit.page.locator('.a2a-message').count()).toBe(2);
      }
      await visit.show('A2AChat', { keepOnReload: true });
      expect(await visit.page.locator('.a2a-message').count()).toBe(0);
    });

    it('with keepOnReload starts a new conversation when the browser stores nothing or something invalid', async () => {
      const visit = await browser.visit();
      await visit.page.evaluate(() => sessionStorage.setItem('agent-bff:/api/a2a', '{"messages":7'));
      await visit.show('A2AChat', { keepOnReload: true });
      expect(await visit.ask('Hello')).toContain('Hello');
      await visit.page.evaluate(() => {
        const refuse = (): never => {
          throw new DOMException('Full', 'QuotaExceededError');
        };
        Storage.prototype.setItem = refuse;
        Storage.prototype.getItem = refuse;
      });
      await visit.show('A2AChatFloating', { keepOnReload: true });
      await visit.page.getByRole('button', { name: 'Chat', exact: true }).click();
      expect(await visit.ask('Again')).toContain('Again');
    });
  });

  it('complies with a strict Content-Security-Policy', async () => {
    const visit = await browser.visit();
    await visit.show('A2AChat', { serviceBaseUrl: '/api/service', user: { name: 'Ada', picture: '/people/ada.svg' } });
    await visit.ask('markdown');
    await visit.finished.locator('.hljs-keyword').first().waitFor();
    await visit.ask('<p style="color: red" onclick="x()">Styled</p> <style>p { color: red }</style>');
    await visit.ask('input');
    await visit.page.getByRole('button', { name: 'Earlier conversations' }).click();
    await visit.alert.waitFor();
    await visit.show('ServiceSurface', { surfaceId: 'poll' });
    await visit.page.getByRole('button', { name: /Pizza/ }).click();
    await visit.page.getByRole('status').filter({ hasText: 'Thank you.' }).waitFor();
    await visit.show('A2AChatFloating');
    await visit.page.getByRole('button', { name: 'Chat', exact: true }).click();
    await visit.ask('Hello');
    expect(await visit.violations()).toEqual([]);
    // Check that the policy does report violations.
    await visit.page.evaluate(() => document.body.setAttribute('style', 'color: red'));
    await expect.poll(() => visit.violations()).toHaveLength(1);
  });

  it('has style rules that apply only to itself', () => {
    const css = readFileSync(fileURLToPath(new URL('../../../react/dist/style.css', import.meta.url)), 'utf8');
    const topLevel = css
      .replaceAll(/\/\*[\s\S]*?\*\//g, '')
      .split('\n')
      .filter((line) => /^[^\s}]/.test(line));
    expect(topLevel).toContain('.agent-bff {');
    expect(/:where\(:root, :host\) \{([^}]*)\}/.exec(css)?.[1]?.match(/[\w-]+(?=:)/g)).toEqual([
      '--lightningcss-light',
      '--lightningcss-dark',
    ]);
    expect(
      topLevel.filter((line) => !/^(?:\.agent-bff|@keyframes agent-bff-[a-z]+|:where\(:root, :host\)) \{$/.test(line)),
    ).toEqual([]);
  });
});

/** Pixels between the visible part and the end of the conversation. */
async function hiddenBelow(visit: ComponentVisit): Promise<number> {
  const log = await visit.page.getByRole('log').boundingBox();
  const last = await visit.finished.boundingBox();
  if (log === null || last === null) throw new Error('There is no conversation.');
  return last.y + last.height - (log.y + log.height);
}

/** The chroma of a colour in oklch. */
function chromaOf(color: string): number {
  const [, chroma = ''] = /^oklch\([\d.]+ ([\d.]+)/.exec(color) ?? [];
  return Number(chroma);
}
