import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import type { AxeResults } from 'axe-core';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest';

import { type Demo, type DemoOptions, startDemo } from '../../examples/start-demo.js';
import { findChromium, launchChromium } from './chromium.js';
import { componentFiles, mediaTypeOf, POLICY } from './component-files.js';
import { findFirefox, launchFirefox } from './firefox.js';
import { untilStill } from './still-page.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The functions of the test page for `page.evaluate`. */
export interface ComponentPage {
  show(name: string, props: object): void;
  hide(): void;
  readonly handle: { readonly current: Record<string, (...args: readonly unknown[]) => unknown> };
}

export interface ComponentVisitOptions extends BrowserContextOptions {
  /** Runs before the page is opened. */
  readonly prepare?: (page: Page) => Promise<unknown>;
  /** False for a page without a Content-Security-Policy. Default true: the strictest one. */
  readonly hasPolicy?: boolean;
}

const BROWSERS = [
  {
    name: 'Chromium',
    path: findChromium(),
    launch: launchChromium,
    permissions: ['clipboard-read', 'clipboard-write'],
  },
  { name: 'Firefox', path: findFirefox(), launch: launchFirefox, permissions: [] },
] as const;

export interface SuiteOptions extends Omit<DemoOptions, 'port'> {
  /** True to also run in the browsers of `npm run test:engines`. Default false. */
  readonly inEveryEngine?: boolean;
}

/** Runs a suite in Chromium, and in the other browsers with `npm run test:engines` (ENGINES=all). */
export function describeInBrowsers(
  title: string,
  { inEveryEngine = process.env['ENGINES'] === 'all', ...options }: SuiteOptions,
  suite: (browser: ComponentBrowser) => void,
): void {
  for (const { name, path, launch, permissions } of inEveryEngine ? BROWSERS : BROWSERS.slice(0, 1)) {
    describe.skipIf(path === undefined)(`${title}, in ${name}`, { timeout: 60_000 }, () => {
      const browser = new ComponentBrowser((colours) => launch(path ?? '', colours), permissions);
      beforeAll(() => browser.start(options), 60_000);
      afterAll(() => browser.close());
      suite(browser);
    });
  }
}

type Colours = 'light' | 'dark' | 'forced';

/** The components in a browser, on a test page with the demo's routes. */
export class ComponentBrowser {
  demo!: Demo;
  #files: ReadonlyMap<string, string> = new Map();
  #shared: Page | undefined;
  readonly #launch: (colours: Colours) => Promise<Browser>;
  readonly #permissions: readonly string[];
  readonly #launched = new Map<Colours, Promise<Browser>>();

  constructor(launch: (colours: Colours) => Promise<Browser>, permissions: readonly string[]) {
    this.#launch = launch;
    this.#permissions = permissions;
  }

  async start(options: Omit<DemoOptions, 'port'>): Promise<void> {
    this.#files = await componentFiles();
    this.demo = await startDemo({ port: 0, ...options });
    await this.#browser('light');
  }

  /** A visitor on the empty test page. It is closed after the test. */
  async visit(options?: ComponentVisitOptions): Promise<ComponentVisit> {
    const page = options === undefined ? await this.#sharedPage() : await this.#newPage(options);
    if (options !== undefined) onTestFinished(() => closeQuietly(page));
    await page.goto(`${this.demo.url}/page/`);
    const visit = new ComponentVisit(page);
    await visit.isReady();
    return visit;
  }

  /** Opening a page takes longer than most tests, so tests without options share one. */
  async #sharedPage(): Promise<Page> {
    const page = (this.#shared ??= await this.#newPage({}));
    onTestFinished(async ({ task }) => {
      if (task.result?.state !== 'pass' || page.isClosed()) {
        this.#shared = undefined;
        return closeQuietly(page);
      }
      page.removeAllListeners();
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await this.#serve(page, true);
      await page.context().clearCookies();
      await page.evaluate(() => {
        sessionStorage.clear();
        localStorage.clear();
      });
    });
    return page;
  }

  async #newPage({ prepare, hasPolicy = true, ...options }: ComponentVisitOptions): Promise<Page> {
    const scheme = options.colorScheme === 'dark' ? 'dark' : 'light';
    const browser = await this.#browser(options.forcedColors === 'active' ? 'forced' : scheme);
    const permissions = [...this.#permissions];
    const context = await browser.newContext({ viewport: { width: 800, height: 600 }, permissions, ...options });
    context.setDefaultTimeout(20_000);
    const page = await context.newPage();
    await this.#serve(page, hasPolicy);
    await prepare?.(page);
    return page;
  }

  async #serve(page: Page, hasPolicy: boolean): Promise<void> {
    await page.route('**/page/*', (route) => {
      const name = new URL(route.request().url()).pathname.replace('/page/', '');
      const body = this.#files.get(name);
      return route.fulfill({
        status: body === undefined ? 404 : 200,
        headers: {
          'content-type': mediaTypeOf(name),
          ...(hasPolicy ? { 'content-security-policy': POLICY } : {}),
        },
        body: body ?? '',
      });
    });
  }

  async close(): Promise<void> {
    for (const browser of this.#launched.values()) await (await browser).close();
    await this.demo.close();
  }

  async #browser(colours: Colours): Promise<Browser> {
    const browser = this.#launched.get(colours) ?? this.#launch(colours);
    this.#launched.set(colours, browser);
    return browser;
  }
}

/** Closes a page whatever requests its test has not answered. */
async function closeQuietly(page: Page): Promise<void> {
  if (!page.isClosed()) await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.context().close();
}

/** One visitor's page. */
export class ComponentVisit {
  readonly page: Page;
  readonly input: Locator;
  readonly agentMessage: Locator;
  /** The agent's last message, once it is complete. */
  readonly finished: Locator;
  readonly alert: Locator;

  constructor(page: Page) {
    this.page = page;
    this.input = page.locator('.a2a-panel textarea');
    this.agentMessage = page.locator('.a2a-message-agent').last();
    this.finished = this.agentMessage.locator('.a2a-bubble[aria-busy=false]');
    this.alert = page.getByRole('alert').filter({ hasText: /./ });
  }

  async isReady(): Promise<void> {
    await this.page.waitForFunction(() => 'show' in globalThis);
  }

  /** Reloads the page, so it is empty again. */
  async reload(): Promise<void> {
    await this.page.reload();
    await this.isReady();
  }

  /** Shows a component with props that are JSON. */
  async show(name: string, props: object = {}): Promise<this> {
    await this.page.evaluate(([component, given]) => (globalThis as unknown as ComponentPage).show(component, given), [
      name,
      props,
    ] as const);
    return this;
  }

  /** Calls a method of the component that is shown. */
  async handle(method: string, ...given: readonly unknown[]): Promise<void> {
    await this.page.evaluate(
      ([name, parameters]) => (globalThis as unknown as ComponentPage).handle.current[name]?.(...parameters),
      [method, given] as const,
    );
  }

  async send(text: string): Promise<void> {
    // Key by key, because over BiDi React does not notice fill().
    await this.input.pressSequentially(text);
    await this.input.press('Enter');
  }

  /** Sends a message and waits for the whole answer. */
  async ask(text: string): Promise<string> {
    const count = await this.page.locator('.a2a-message-user').count();
    await this.send(text);
    await this.page.locator('.a2a-message-user').nth(count).waitFor();
    await this.finished.waitFor();
    return this.finished.innerText();
  }

  /** The violations that the page's Content-Security-Policy has reported. */
  async violations(): Promise<readonly string[]> {
    return this.page.evaluate(() => (globalThis as unknown as { violations: readonly string[] }).violations);
  }

  /** All findings of axe of any impact, except those about whole pages. */
  async axe(): Promise<readonly string[]> {
    await untilStill(this.page);
    await this.page.evaluate(AXE);
    const { violations, passes } = await this.page.evaluate<AxeResults>(
      'axe.run("#root", { rules: { region: { enabled: false } } })',
    );
    if (passes.length < 10) throw new Error('axe has looked at next to nothing.');
    return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${String(target)}`));
  }

  /** A computed style of an element. */
  async styleOf(element: Locator, property: string): Promise<string> {
    return element.evaluate((styled, name) => getComputedStyle(styled).getPropertyValue(name), property);
  }
}
