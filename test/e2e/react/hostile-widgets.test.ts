import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { CssChecker } from '../../../src/adapters/css/css-checker.js';
import { type ComponentVisit, describeInBrowsers } from '../../support/component-browser.js';
import { ForeignSite } from '../../support/foreign-site.js';
import { ESCAPES, fetchingMarkup, fetchingTheme, THEMED_MARKUP, TOP_LAYER } from '../../support/hostile-widget.js';

interface ShownWidget {
  readonly html: string;
  readonly theme?: string;
}

const ALLOWED = 'http://media.example';
const CONFIG = '**/api/a2a/config';
/** Themes in the form the server's routes send. */
const checker = new CssChecker(new Set([ALLOWED]));

describeInBrowsers('a hostile widget', { inEveryEngine: true, wordMs: 5 }, (browser) => {
  let foreign: ForeignSite;
  let configRequests: number;
  /** Paths requested by the page, by origin. Chromium may block requests to the local machine. */
  let fetched: Map<string, string[]>;
  let shown = 0;
  beforeAll(async () => {
    foreign = await ForeignSite.start();
  });
  afterAll(async () => {
    await foreign.close();
  });
  beforeEach(() => {
    foreign.requests.length = 0;
    fetched = new Map();
    configRequests = 0;
  });

  /** A page with a container for widgets in the middle and its own button in a corner. */
  async function visitPage(hasPolicy: boolean): Promise<ComponentVisit> {
    const visit = await browser.visit({
      hasPolicy,
      prepare: (page) =>
        page.route(CONFIG, (route) => {
          configRequests += 1;
          return route.fulfill({ json: { agentCard: {}, mediaOrigins: [ALLOWED] } });
        }),
    });
    visit.page.on('request', (request) => {
      const { origin, pathname } = new URL(request.url());
      fetched.set(origin, [...(fetched.get(origin) ?? []), pathname]);
    });
    await visit.page.evaluate(() => {
      const root = document.querySelector<HTMLElement>('#root') as HTMLElement;
      root.style.cssText = 'position: absolute; top: 150px; left: 200px; width: 300px; height: auto';
      const button = document.createElement('button');
      button.textContent = 'Of the page';
      button.style.cssText = 'position: absolute; top: 10px; left: 10px';
      button.addEventListener('click', () => (button.textContent = 'Clicked'));
      document.body.prepend(button);
    });
    return visit;
  }

  /** Replaces the shown widget. */
  async function showWidget(visit: ComponentVisit, { html, theme = '' }: ShownWidget): Promise<void> {
    const { page } = visit;
    shown += 1;
    const surfaceId = `widget-${shown}`;
    await page.route(`**/${surfaceId}/render`, (route) =>
      route.fulfill({ json: { id: surfaceId, title: surfaceId, html: `${html}<i>${surfaceId}</i>` } }),
    );
    const body = (await checker.theme(theme))?.css ?? '';
    await page.route(`**/${surfaceId}/theme.css`, (route) => route.fulfill({ contentType: 'text/css', body }));
    await visit.show('ServiceSurface', { surfaceId });
    await page.getByText(surfaceId).waitFor({ state: 'attached' });
  }

  async function visitTo(widget: ShownWidget, hasPolicy = true): Promise<ComponentVisit> {
    const visit = await visitPage(hasPolicy);
    await showWidget(visit, widget);
    return visit;
  }

  it('does not cover the page or receive clicks outside its box', async () => {
    const visit = await visitPage(false);
    const escaped: string[] = [];
    const beside = (): Promise<Buffer> => visit.page.screenshot({ clip: { x: 510, y: 0, width: 290, height: 600 } });
    const untouched = await beside();
    for (const [name, widget] of Object.entries(ESCAPES)) {
      await showWidget(visit, widget);
      if (!untouched.equals(await beside())) escaped.push(`${name}, painted`);
      const width = await visit.page.evaluate(() => document.documentElement.scrollWidth);
      if ((await hitsOutside(visit)) > 0 || width > 800) escaped.push(name);
    }
    expect(escaped).toEqual([]);
    await visit.page.mouse.click(30, 20);
    await visit.page.getByRole('button', { name: 'Clicked' }).waitFor();
  });

  it('cannot open anything over the page', async () => {
    const visit = await visitPage(false);
    const escaped: string[] = [];
    for (const [name, widget] of Object.entries(TOP_LAYER)) {
      await showWidget(visit, widget);
      await visit.page.locator('.service-surface button, .service-surface select').focus();
      await visit.page.keyboard.press('Space');
      await visit.page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
      if ((await hitsOutside(visit)) > 0) escaped.push(name);
    }
    expect(escaped).toEqual([]);
  });

  describe.each([true, false])('on a page whose strict policy is %s', (hasPolicy) => {
    it.each(['markup', 'theme'])('cannot load files from other sites through its %s', async (which) => {
      const last = `<img src="${ALLOWED}/last">`;
      const widget =
        which === 'markup'
          ? { html: fetchingMarkup(foreign.origin) + last }
          : { html: THEMED_MARKUP + last, theme: `${fetchingTheme(foreign.origin)} h5 { color: red; }` };
      const visit = await visitTo(widget, hasPolicy);
      if (!hasPolicy) await expect.poll(() => fetched.get(ALLOWED), { timeout: 20_000 }).toEqual(['/last']);
      await visit.page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 500)));
      expect([fetched.get(foreign.origin), foreign.requests]).toEqual([undefined, []]);
    });

    it('does not submit a form to an address', async () => {
      const action = `action="${foreign.origin}/form" method="post" target="_blank"`;
      const html = `<form ${action}><label>Name <input name="who"></label><button formaction="${foreign.origin}/button" formtarget="_top">Send</button>
        <input type="image" alt="Go" src="${foreign.origin}/image" formaction="${foreign.origin}/input"></form>`;
      const visit = await visitTo({ html }, hasPolicy);
      const before = visit.page.url();
      const opened: string[] = [];
      visit.page.on('popup', (popup) => opened.push(popup.url()));
      await visit.page.getByRole('textbox', { name: 'Name' }).press('Enter');
      await visit.page.getByRole('button', { name: 'Send' }).click();
      await visit.page.getByRole('button', { name: 'Go' }).click();
      await visit.page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)));
      expect([visit.page.url(), opened, foreign.requests]).toEqual([before, [], []]);
    });
  });

  it('loads from the origins in mediaOrigins after one request for the configuration', async () => {
    const origin = ALLOWED;
    const html = `<img src="${origin}/img"><img srcset="${origin}/set 1x"><p class="x">x</p><svg width="9" height="9"><image href="${origin}/image" width="9" height="9"/></svg>`;
    const theme = `.x { background: url("${origin}/theme"), url(data:image/gif;base64,R0lGODlhAQABAAAAACw=); }`;
    await visitTo({ html, theme }, false);
    await expect
      .poll(() => fetched.get(ALLOWED)?.toSorted(), { timeout: 20_000 })
      .toEqual(['/image', '/img', '/set', '/theme']);
    // Two requests, as React’s StrictMode mounts twice.
    expect(configRequests).toBeLessThanOrEqual(2);
  });

  it('without external loads does not request the site’s configuration', async () => {
    const html = `<a href="https://example.com/">Elsewhere</a><img src="/page/icon" alt=""><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><linearGradient id="g"/><rect fill="url(#g)" width="9" height="9"/></svg>`;
    const theme =
      '@namespace svg url(http://www.w3.org/2000/svg); .md\\:x { content: "\\e900"; background: url("/page/icon"); }';
    const visit = await visitTo({ html, theme });
    expect(await visit.page.locator('rect').getAttribute('fill')).toBe('url(#g)');
    expect(configRequests).toBe(0);
  });

  it('opens links to other sites in a new tab without opener or referrer, and links to the site in this tab', async () => {
    const html = `<a href="${foreign.origin}/link">Out</a><svg width="90" height="20"><a xlink:href="${foreign.origin}/svg"><text y="15">Drawn</text></a></svg>
      <a href="/page/#there">Inside</a><a href="javascript:alert(1)">Script</a><a href="http:/page/">One slash</a><a href="ht&Tab;tp:page">No slash</a>
      <a href="mailto:ada@example.com">Mail</a><a href="${foreign.origin}/ping" ping="${foreign.origin}/pinged" target="_top" rel="opener">Ping</a>`;
    const visit = await visitTo({ html });
    for (const name of ['Out', 'Drawn', 'Ping']) {
      const popup = visit.page.waitForEvent('popup');
      await visit.page.getByText(name).click();
      const page = await popup;
      await page.waitForLoadState();
      expect(await page.evaluate(() => globalThis.opener === null)).toBe(true);
    }
    const visited = foreign.requests.filter(({ path }) => path !== '/favicon.ico');
    expect(visited).toEqual(['/link', '/svg', '/ping'].map((path) => ({ path, referrer: undefined })));
    const links = visit.page.locator('.service-surface a');
    const written = await links.evaluateAll((all) =>
      all.map((link) => [link.textContent, link.getAttribute('href'), link.getAttribute('target')]),
    );
    expect(written.slice(2, 7)).toEqual([
      ['Inside', '/page/#there', null],
      ['Script', null, null],
      ['One slash', null, null],
      ['No slash', null, null],
      ['Mail', 'mailto:ada@example.com', null],
    ]);
    await visit.page.getByText('Inside').click();
    await visit.page.waitForURL(/#there$/);
  });

  it('still inherits custom properties, and its labels, focus and size work', async () => {
    const html = `<form data-action="vote"><label for="who-is">Name</label><input id="who-is" name="who" required><button>Vote</button></form>
      <p class="tall">Tall</p>`;
    const theme =
      ':host { border: 1px solid; } .tall { height: 700px; color: var(--of-the-page); } .wide { width: 900px; }';
    const visit = await visitTo({ html, theme });
    await visit.page.evaluate(() => document.documentElement.style.setProperty('--of-the-page', 'rgb(1, 2, 3)'));
    expect(await visit.styleOf(visit.page.getByText('Tall'), 'color')).toBe('rgb(1, 2, 3)');
    const height = (await visit.page.locator('.service-surface-host').boundingBox())?.height ?? 0;
    expect(height).toBeGreaterThan(700);
    await visit.page.getByText('Name').click();
    await visit.page.keyboard.type('Ada');
    expect(await visit.page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Ada');
    await visit.page.keyboard.press('Tab');
    expect(await visit.page.getByRole('button', { name: 'Vote' }).evaluate((button) => button.matches(':focus'))).toBe(
      true,
    );
    const box = await visit.page.locator('.service-surface-host').boundingBox();
    expect(box?.width).toBe(300);
  });
});

/** The number of grid points outside the widget's box at which a click would hit the widget. */
async function hitsOutside({ page }: ComponentVisit): Promise<number> {
  return page.evaluate(() => {
    const host = document.querySelector('.service-surface-host') as Element;
    const { left, right, top, bottom } = (host.closest('#root') as Element).getBoundingClientRect();
    let hits = 0;
    for (let x = 2; x < innerWidth; x += 12) {
      for (let y = 2; y < innerHeight; y += 12) {
        const isInside = x >= left && x <= right && y >= top && y <= bottom;
        if (!isInside && document.elementsFromPoint(x, y).includes(host)) hits += 1;
      }
    }
    return hits;
  });
}
