import { describe, expect, it } from 'vitest';

import { type ComponentBrowser, type ComponentVisit, describeInBrowsers } from '../../support/component-browser.js';
import { PAGE_STYLES } from '../../support/page-styles.js';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const MARKDOWN = `# Heading

## Second

A paragraph with **bold**, *slanted*, ***both***, ~~gone~~, \`code\` and a [link](https://example.com).

- one
- two
  1. deep \`code\`
  2. deeper

> A quote
>
> ### Heading in it

| Name | Count |
|:-----|------:|
| a    | 1     |
| b    | 2     |

\`\`\`js
// A comment
const answer = { text: 'words', count: 42 };
\`\`\`

---

The end.`;

/** Every kind of message and part. */
const MESSAGES = [
  { id: 'q1', role: 'user', text: 'Two\nlines', fileName: 'notes.txt' },
  {
    id: 'a1',
    role: 'agent',
    state: 'complete',
    text: 'All parts',
    parts: [
      { id: 't', type: 'thought', text: 'A *thought*' },
      { id: 'm', type: 'text', text: MARKDOWN },
      { id: 'd', type: 'data', name: 'A table', data: [{ city: 'Lisbon', people: 5 }], isThought: false },
      { id: 'j', type: 'data', name: 'JSON', data: { deep: { down: 1 } }, isThought: false },
      { id: 'i', type: 'file', name: 'pixel.png', mediaType: 'image/png', bytes: PIXEL },
      { id: 'u', type: 'file', name: 'offer.pdf', mediaType: 'application/pdf', url: 'https://example.com/offer.pdf' },
    ],
  },
  { id: 'q2', role: 'user', text: 'Again' },
  {
    id: 'a2',
    role: 'agent',
    state: 'failed',
    text: 'It broke',
    parts: [{ id: 'e', type: 'error', text: 'It `broke`' }],
  },
  { id: 'q3', role: 'user', text: 'And now?' },
  { id: 'a3', role: 'agent', state: 'input-required', text: 'Which city?' },
];

/** Inherited properties that change nothing in a chat. */
const OWN_OF_PAGE = /^(?:tab-size|-webkit-tap-highlight-color|-webkit-text-size-adjust|text-size-adjust)$/;

/** Inherited properties of words, which the button in the corner has none of. */
const OF_WORDS =
  /^(?:caption-side|empty-cells|hyphens|list-style-type|overflow-wrap|quotes|text-wrap-mode|word-break|-webkit-border-\w+-spacing)$/;

async function visitPage(
  browser: ComponentBrowser,
  css: string,
  className: string,
  options = {},
): Promise<ComponentVisit> {
  const visit = await browser.visit({
    viewport: { width: 900, height: 700 },
    hasPolicy: false, // which would forbid an image of the agent
    ...options,
    prepare: (page) =>
      page.route('**/page/own.css', (route) =>
        route.fulfill({
          contentType: 'text/css',
          // The same place for the chat on every page.
          body: `${css} html { font-size: 16px !important; }
            html, body, #root { max-width: none !important; margin: 0 !important; padding: 0 !important; }
            #root { height: 600px !important; }
            #root > .agent-bff { max-width: none; margin: 0; }`,
        }),
      ),
  });
  await visit.page.evaluate((name) => {
    (document.querySelector('#root') as HTMLElement).className = name;
  }, className);
  return visit;
}

type Shown = (visit: ComponentVisit) => Promise<unknown>;

const STATES: Readonly<Record<string, Shown>> = {
  'an empty chat': async (visit) => {
    await visit.show('A2AChat', {
      suggestedPrompts: ['Where is my parcel?', 'Which size fits me?'],
      user: { name: 'Ada', picture: '/people/ada.svg' },
      serviceBaseUrl: '/api/service',
    });
    await visit.page.getByRole('heading', { name: 'Demo agent' }).waitFor();
    await visit.page.getByRole('button', { name: 'Earlier conversations' }).click();
    await visit.alert.waitFor();
    const file = { name: 'film.bin', mimeType: 'video/mp4', buffer: Buffer.alloc(1_500_000) };
    await visit.page.locator('input[type=file]').setInputFiles(file);
    await visit.alert.filter({ hasText: 'too large' }).waitFor();
  },
  'a conversation': async (visit) => {
    await visit.page.evaluate((messages) => {
      sessionStorage.setItem('agent-bff:/api/a2a', JSON.stringify({ contextId: 'c', messages }));
    }, MESSAGES);
    await visit.show('A2AChat', { keepOnReload: true, user: { name: 'Ada', picture: '/people/ada.svg' } });
    await visit.page.locator('.hljs-comment').waitFor();
    await visit.page.locator('.a2a-image').waitFor();
    await visit.page.getByRole('heading', { name: 'Demo agent' }).waitFor();
    for (const summary of await visit.page.locator('summary').all()) await summary.click();
    await visit.input.fill('One line\nand another');
  },
  'the floating chat': async (visit) => {
    await visit.show('A2AChatFloating', { panelTitle: 'Ask us', suggestedPrompts: ['Where is my parcel?'] });
    await visit.page.getByRole('button', { name: 'Ask us' }).click();
    await visit.input.waitFor();
    await visit.page.route('**/api/a2a', (route) => route.abort());
    await visit.send('Hello');
    await visit.page.getByRole('button', { name: 'Retry' }).waitFor();
  },
};

/** Every computed style of every element of the chat, and of what is before and after it. */
async function looks({ page }: ComponentVisit): Promise<Readonly<Record<string, string>>> {
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await page.mouse.move(0, 0);
  return page.evaluate(() => {
    const found: Record<string, string> = {};
    const nameOf = (element: Element): string => {
      const parent = element.parentElement?.closest('.agent-bff') ? element.parentElement : null;
      const index = parent === null ? 0 : [...parent.children].indexOf(element);
      const name = `${element.localName}${[...element.classList].map((one) => `.${one}`).join('')}`;
      return parent === null ? name : `${nameOf(parent)} > ${name}(${index})`;
    };
    for (const animation of document.getAnimations()) animation.cancel();
    for (const element of document.querySelectorAll(':is(.a2a-panel, .a2a-fab), :is(.a2a-panel, .a2a-fab) *')) {
      if (!element.checkVisibility()) continue;
      const name = nameOf(element);
      const isShape = element.parentElement?.closest('svg') !== null;
      const isItem = getComputedStyle(element).display === 'list-item';
      for (const pseudo of isShape
        ? ['']
        : isItem
          ? ['', '::before', '::after', '::marker']
          : ['', '::before', '::after']) {
        const style = getComputedStyle(element, pseudo);
        const isNothing = pseudo !== '' && pseudo !== '::marker' && style.content === 'none';
        for (const property of isNothing ? ['content'] : isShape ? ['color', 'fill', 'stroke'] : style)
          if (!property.startsWith('--')) found[`${name}${pseudo} ${property}`] = style.getPropertyValue(property);
      }
    }
    return found;
  });
}

describeInBrowsers('the chat in a page with', { wordMs: 0 }, (browser) => {
  const unstyled: Record<string, ReturnType<typeof looks>> = {};
  describe.each(Object.entries(PAGE_STYLES))('%s', (_name, { css, className }) => {
    it.each(Object.entries(STATES))('%s looks as in a page without styles', async (state, show) => {
      const expected = await (unstyled[state] ??= visitPage(browser, '', '').then(async (plain) => {
        await show(plain);
        return looks(plain);
      }));
      expect(Object.keys(expected).length).toBeGreaterThan(10_000);
      const styled = await visitPage(browser, await css(), className);
      await show(styled);
      const actual = await looks(styled);
      const names = new Set([...Object.keys(expected), ...Object.keys(actual)]);
      const differing = [...names].filter((name) => {
        const property = name.slice(name.lastIndexOf(' ') + 1);
        const isOfWords = name.includes('.a2a-fab') && OF_WORDS.test(property);
        return expected[name] !== actual[name] && !OWN_OF_PAGE.test(property) && !isOfWords;
      });
      const shown = differing.map(
        (name) => `${name.split(' > ').slice(-2).join(' > ')}: ${expected[name]} → ${actual[name]}`,
      );
      expect(shown.slice(0, 60)).toEqual([]);
    });

    it('a conversation is readable in dark colours', async () => {
      const visit = await visitPage(browser, `${await css()} html { color-scheme: dark; }`, className, {
        colorScheme: 'dark',
      });
      await STATES['a conversation']?.(visit);
      expect(await visit.axe()).toEqual([]);
    });
  });
});
