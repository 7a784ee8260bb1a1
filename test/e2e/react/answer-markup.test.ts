import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import {
  type ComponentVisit,
  type ComponentVisitOptions,
  describeInBrowsers,
} from '../../support/component-browser.js';
import { EVERYDAY_ANSWERS } from '../../support/markdown/everyday-answers.js';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const SVG = btoa('<svg xmlns="http://www.w3.org/2000/svg"/>');
const MIXED = `# مرحبا\n\nHello there\n\nشغّل \`--port=3000\` ثم\n\n1. أولا\n2. second\n\n> اقتباس\n\n| اسم | Name |\n|---|---|\n| واحد | one |`;
const TABLE = `| Order | Item | Ordered | Total | Remark |
|---|---|---|---:|---|
| 4711 | Trail shoes, size 42, with spare laces | 2024-11-20 | €1,129.00 | sent well-known by 2024-12-24 or 12/31/2024, phone +49-30-123456 |
| 4712 | Rain jacket | 20 November | -210.00 | state-of-the-art |`;

describeInBrowsers('the markup of an answer', { wordMs: 1 }, (browser) => {
  /** The answer with this text, in a chat with these props. */
  async function shown(text: string, props: object = {}, options?: ComponentVisitOptions): Promise<ComponentVisit> {
    const visit = await browser.visit(options);
    const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text }] };
    const body = `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: { message } })}\n\n`;
    await visit.page.route('**/api/a2a', (route) => route.fulfill({ contentType: 'text/event-stream', body }));
    await visit.show('A2AChat', props);
    await visit.ask('Hello');
    await visit.finished.locator('.a2a-markdown > :not([hidden])').first().waitFor();
    return visit;
  }

  it('has the same space between blocks, and none above the first one', async () => {
    const visit = await shown(
      '<!-- a -->\n\n# a\n\nb\n\n<!-- c -->\n\nd\n\n## e\n\n- f\n\n  > g\n  >\n  > h\n\n  i\n\n> j',
    );
    const spaces = await visit.finished
      .locator('.a2a-markdown :is(p, h3, h4, ul, blockquote):not([hidden])')
      .evaluateAll((blocks) => blocks.map((block) => `${block.localName} ${getComputedStyle(block).marginTop}`));
    expect(spaces.join(', ')).toBe(
      'h3 0px, p 12px, p 12px, h4 16px, ul 12px, p 0px, blockquote 4px, p 0px, p 8px, p 4px, blockquote 12px, p 0px',
    );
  });

  describe('with an image', () => {
    it('of bytes shows it, and no character of them', async () => {
      const visit = await shown(`A ![red dot](data:image/png;base64,${PNG}) here`, {}, { hasPolicy: false });
      const image = visit.finished.getByRole('img', { name: 'red dot' });
      expect(await image.getAttribute('src')).toMatch(/^blob:/);
      await expect.poll(() => image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBe(1);
      expect(await visit.finished.innerText()).not.toContain('iVBOR');
    });

    it('of bytes that the policy forbids offers it as a file', async () => {
      const visit = await shown(`![red dot](data:image/png;base64,${PNG})`);
      await visit.finished.getByRole('button', { name: 'Download red dot' }).waitFor();
      expect(await visit.finished.locator('img').count()).toBe(0);
    });

    it.each(['![a](', '![a][b]\n\n[b]: ', '', '<img src="'])('of SVG offers it as a file, after %j', async (before) => {
      const visit = await shown(
        `See ${before}data:image/svg+xml;base64,${SVG}${before === '![a](' ? ')' : ''}`,
        {},
        {
          hasPolicy: false,
        },
      );
      await visit.finished.getByRole('button', { name: /Download/ }).waitFor();
      expect(await visit.finished.innerText()).not.toContain(SVG);
    });

    it('of the web is a link, and is not fetched', async () => {
      const visit = await browser.visit();
      const fetched: string[] = [];
      visit.page.on('request', (request) => fetched.push(request.url()));
      await visit.show('A2AChat');
      await visit.ask('![a cat](https://x.example/cat.png)');
      expect(await visit.finished.getByRole('link', { name: 'a cat' }).getAttribute('href')).toContain('x.example');
      expect(fetched.join()).not.toContain('x.example');
    });
  });

  describe('with a link', () => {
    const TEXT = '[a](/page) [b](https://x.example/) [c](//x.example) [d](tel:+1) [e](?q=1)';
    const linksOf = async (visit: ComponentVisit): Promise<readonly string[]> =>
      visit.finished
        .getByRole('link')
        .evaluateAll((links) => links.map((link) => `${link.textContent} ${link.getAttribute('target') ?? 'here'}`));

    it('leads to the web in a new tab', async () => {
      expect(await linksOf(await shown(TEXT))).toEqual(['b _blank', 'd _blank']);
    });

    it('with links="site" also leads to the site, in a new tab', async () => {
      expect(await linksOf(await shown(TEXT, { links: 'site' }))).toEqual([
        'a _blank',
        'b _blank',
        'd _blank',
        'e _blank',
      ]);
    });

    it('with links="site" and keepOnReload leads to the site in this tab', async () => {
      const visit = await shown(`${TEXT} [f](${browser.demo.url}/x)`, { links: 'site', keepOnReload: true });
      expect(await linksOf(visit)).toEqual(['a here', 'b _blank', 'd _blank', 'e here', 'f here']);
    });
  });

  it('has the direction of each paragraph, item, cell and heading', async () => {
    const visit = await shown(MIXED);
    const directions = await visit.finished
      .locator('.a2a-markdown :is(h3, p, li, ol, blockquote, table, td)')
      .evaluateAll((all) => all.map((one) => `${one.localName} ${getComputedStyle(one).direction}`));
    expect(directions.join(', ')).toBe(
      'h3 rtl, p ltr, p rtl, ol rtl, li rtl, p rtl, li ltr, p ltr, blockquote rtl, p rtl, table rtl, td rtl, td ltr',
    );
    const code = visit.finished.locator('p > code');
    expect([await code.getAttribute('dir'), await visit.styleOf(code, 'unicode-bidi')]).toEqual(['ltr', 'isolate']);
    expect(await visit.axe()).toEqual([]);
  });

  it.each([
    ['short', 10, ['rtl', 'rtl']],
    // A new direction would restyle all of it.
    ['long', 3_000, ['ltr', 'rtl']],
  ])(
    'after a %s part without letters, the first letter decides about %i items above it',
    async (_, items, expected) => {
      const visit = await shown(`${'- 1\n'.repeat(items)}\nשלום`);
      const directions = (): Promise<readonly string[]> =>
        visit.finished
          .locator('.a2a-markdown, .a2a-markdown > p')
          .evaluateAll((all) => all.map((one) => getComputedStyle(one).direction));
      await expect.poll(directions).toEqual(expected);
    },
  );

  it.each([
    ['# One\n\n## Two\n\n###### Six\n\n## Two', ['h3', 'h4', 'h5', 'h4']],
    ['## Two\n\n### Three\n\nTwo\n---\n\n> # One', ['h3', 'h4', 'h3', 'h3']],
  ])('of %j has its headings below the title of the chat, and leaves out no level', async (text, expected) => {
    const visit = await shown(text);
    const levels = await visit.page
      .locator(':is(h1, h2, h3, h4, h5, h6)')
      .evaluateAll((all) => all.map((one) => one.localName));
    expect(levels).toEqual(['h2', ...expected]);
    expect(await visit.axe()).toEqual([]);
  });

  describe('with a table', () => {
    it.each([320, 1280])('breaks no number, date or word at %i px, and scrolls by keyboard', async (width) => {
      const visit = await shown(TABLE, {}, { viewport: { width, height: 700 } });
      const broken = await visit.finished.locator('td, th').evaluateAll((cells) =>
        cells.flatMap((cell) => {
          const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
          const found: string[] = [];
          while (texts.nextNode()) {
            for (const { 0: word, index } of (texts.currentNode as Text).data.matchAll(/\S{1,19}/g)) {
              const range = document.createRange();
              range.setStart(texts.currentNode, index);
              range.setEnd(texts.currentNode, index + word.length);
              const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
              if (lines.size > 1) found.push(word);
            }
          }
          return found;
        }),
      );
      expect(broken).toEqual([]);
      const table = visit.finished.getByRole('group', { name: 'Table' });
      expect(await table.evaluate((frame: HTMLElement) => frame.tabIndex)).toBe(0);
      expect(await visit.styleOf(table.locator('td').first(), 'font-variant-numeric')).toBe('tabular-nums');
      const page = visit.page.locator('.a2a-log');
      expect(await page.evaluate((log) => log.scrollWidth - log.clientWidth)).toBe(0);
      expect(await visit.axe()).toEqual([]);
    });
  });

  describe('with code', () => {
    const copyButton = (visit: ComponentVisit): Locator => visit.finished.locator('.a2a-copy');

    it('is selected without the word of its button', async () => {
      const visit = await shown('Before\n\n```\nconst a = 1;\n```\n\nAfter');
      const selected = await visit.finished.evaluate((bubble) => {
        getSelection()?.selectAllChildren(bubble);
        return getSelection()?.toString();
      });
      expect(selected).toContain('const a = 1;');
      expect(selected).not.toContain('Copy');
      expect(await copyButton(visit).evaluate((button) => button.getBoundingClientRect().width)).toBeGreaterThan(30);
    });

    it('says so where the browser forbids copying', async () => {
      const visit = await shown('```\nconst a = 1;\n```', {}, { permissions: [] });
      await visit.page.evaluate(() => {
        navigator.clipboard.writeText = () => Promise.reject(new DOMException('denied', 'NotAllowedError'));
      });
      await copyButton(visit).click();
      await visit.finished.getByRole('button', { name: 'Copying is not allowed here' }).waitFor();
    });
  });

  describe('while it is written', () => {
    interface Page {
      views(): Promise<{ MarkdownView: new (element: HTMLElement, settings: object) => View }>;
      /** A new answer; each of the texts is a longer beginning of it. */
      written(texts: readonly string[], afterEach?: (element: Element, at: number) => void): Promise<Element>;
    }

    interface View {
      show(text: string, isGrowing: boolean): void;
    }

    const settings = { copy: 'c', table: 't', file: 'f', download: 'd', linksTo: 'web', isSameTab: false };

    async function visitor(): Promise<ComponentVisit> {
      const visit = await browser.visit({});
      await visit.page.evaluate((given) => {
        const page = globalThis as unknown as Page;
        page.written = async (texts, afterEach) => {
          const { MarkdownView } = await page.views();
          const element = document.body.appendChild(document.createElement('div'));
          const view = new MarkdownView(element, given);
          for (const [index, text] of texts.entries()) {
            view.show(text, index < texts.length - 1);
            await new Promise((resolve) => setTimeout(resolve));
            afterEach?.(element, index);
          }
          for (let before = ''; before !== element.innerHTML;) {
            before = element.innerHTML;
            await new Promise((resolve) => setTimeout(resolve, 500));
          }
          return element;
        };
      }, settings);
      return visit;
    }

    const growing = (text: string, count: number): readonly string[] =>
      Array.from({ length: count }, (_, index) => text.slice(0, Math.ceil(((index + 1) * text.length) / count)));
    const ALL = EVERYDAY_ANSWERS.map((answer) => answer.text).join('\n\n');

    it('ends in the same elements, in one piece and in 2,000', async () => {
      const visit = await visitor();
      const [whole, grown] = await visit.page.evaluate(
        async ([one, many]) => {
          const page = globalThis as unknown as Page;
          const elements = [await page.written(one), await page.written(many)];
          return elements.map((element) => {
            element.normalize();
            return element.innerHTML;
          });
        },
        [[ALL], growing(ALL, 2000)] as const,
      );
      const blocks = (html = ''): readonly string[] => html.split(/(?=<(?:p|li|h\d|div|table|tr)\b)/);
      expect(blocks(grown)).toEqual(blocks(whole));
    });

    it('keeps a selection that ends in its last paragraph', async () => {
      const visit = await visitor();
      const [before, after] = await visit.page.evaluate(
        async (texts) => {
          let before = '';
          await (globalThis as unknown as Page).written(texts, (element, at) => {
            if (at !== 10) return;
            const [first, last] = element.querySelectorAll('p');
            getSelection()?.setBaseAndExtent(first?.firstChild as Node, 6, last?.firstChild as Node, 12);
            before = String(getSelection());
          });
          return [before, String(getSelection())];
        },
        [
          ...growing('First paragraph.\n\nThe second is', 11),
          ...growing('First paragraph.\n\nThe second is **long** and `more` of it follows.', 60).slice(35),
        ],
      );
      expect(before).toContain('paragraph.');
      expect(after).toBe(before);
    });

    it('keeps a selection in code that gets its colours late', async () => {
      const visit = await visitor();
      const [before, after, colours] = await visit.page.evaluate(
        async (texts) => {
          let before = '';
          const element = await (globalThis as unknown as Page).written(texts, (shown, at) => {
            if (at !== texts.length - 2) return;
            const text = shown.querySelector('code')?.firstChild as Node;
            getSelection()?.setBaseAndExtent(text, 3, text, 15);
            before = String(getSelection());
          });
          return [before, String(getSelection()), element.querySelectorAll('code span').length];
        },
        growing('```js\nconst answer = 6 * 7; // of course\nlet other = "text";\n```\n\nEnd.', 30),
      );
      expect(before).toBe('st answer = ');
      expect(after).toBe(before);
      expect(colours).toBeGreaterThan(2);
    });

    it.each(['before', 'during', 'after'])('has each word once when the page is translated %s', async (when) => {
      const visit = await visitor();
      const [shown, expected] = await visit.page.evaluate(
        async ([texts, at]) => {
          const translate = (element: Element): void => {
            const found = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
            const nodes: Text[] = [];
            while (found.nextNode()) nodes.push(found.currentNode as Text);
            for (const node of nodes) {
              const font = document.createElement('font');
              node.replaceWith(font);
              font.append(node);
            }
          };
          const page = globalThis as unknown as Page;
          const times = { before: [2], during: [20, 60, 61, 99], after: [texts.length - 1] }[at] ?? [];
          const element = await page.written(texts, (one, index) => times.includes(index) && translate(one));
          return [element.textContent, (await page.written(texts.slice(-1))).textContent];
        },
        [growing(ALL.slice(0, 6000), 120), when] as const,
      );
      expect(shown).toBe(expected);
    });
  });
});
