import type { Browser, Locator, Page } from 'playwright-core';

import type { EnginePage, PageOptions, RunningEngine, Target, WindowSize } from './engine-page.js';
import { mainThreadMs } from './main-thread.js';

type ColorScheme = 'light' | 'dark';
type Launch = (colorScheme: ColorScheme) => Promise<Browser>;

/** A browser that Playwright drives. `renderer` is in the command line of the processes that run its pages. */
export async function playwrightEngine(launch: Launch, renderer: string): Promise<RunningEngine> {
  // Firefox takes the colour scheme at its start.
  const browsers = new Map<ColorScheme, Promise<Browser>>([['light', launch('light')]]);
  const browserOf = (colorScheme: ColorScheme): Promise<Browser> => {
    const browser = browsers.get(colorScheme) ?? launch(colorScheme);
    browsers.set(colorScheme, browser);
    return browser;
  };
  return {
    version: (await browserOf('light')).version(),
    newPage: async ({ width = 800, height = 600, colorScheme = 'light' }: PageOptions = {}) => {
      const browser = await browserOf(colorScheme);
      const context = await browser.newContext({ viewport: { width, height }, colorScheme });
      context.setDefaultTimeout(20_000);
      return new PlaywrightPage(await context.newPage(), renderer);
    },
    close: async () => {
      for (const browser of browsers.values()) await (await browser).close();
    },
  };
}

class PlaywrightPage implements EnginePage {
  readonly #page: Page;
  readonly #renderer: string;

  constructor(page: Page, renderer: string) {
    this.#page = page;
    this.#renderer = renderer;
  }

  async open(url: string): Promise<void> {
    await this.#page.goto(url);
  }

  async reload(): Promise<void> {
    await this.#page.reload();
  }

  async back(): Promise<void> {
    await this.#page.goBack();
  }

  async forward(): Promise<void> {
    await this.#page.goForward();
  }

  async evaluate<Given, Result>(
    script: ((given: Given) => Result | Promise<Result>) | string,
    given: Given,
  ): Promise<Result> {
    // Playwright calls functions, but not texts of functions.
    if (typeof script === 'string') return this.#page.evaluate<Result>(`(${script})(${JSON.stringify(given)})`);
    return this.#page.evaluate(script as never, given) as Promise<Result>;
  }

  async on<Given, Result>(
    target: Target,
    script: (element: HTMLElement, given: Given) => Result | Promise<Result>,
    given: Given,
  ): Promise<Result> {
    return this.#last(target).evaluate(script as never, given) as Promise<Result>;
  }

  async count(target: Target): Promise<number> {
    return this.#all(target).count();
  }

  async see(target: Target): Promise<void> {
    await this.#last(target).waitFor();
  }

  async missing(target: Target): Promise<void> {
    await this.#last(target).waitFor({ state: 'hidden' });
  }

  async click(target: Target): Promise<void> {
    await this.#last(target).click();
  }

  async type(text: string): Promise<void> {
    await this.#page.keyboard.type(text);
  }

  async press(key: string): Promise<void> {
    await this.#page.keyboard.press(key);
  }

  async fill(target: Target, value: string): Promise<void> {
    await this.#last(target).fill(value);
  }

  async choose(target: Target, path: string): Promise<void> {
    await this.#last(target).setInputFiles(path);
  }

  async wheel(target: Target, px: number): Promise<void> {
    await this.#last(target).hover();
    await this.#page.mouse.wheel(0, px);
  }

  async resize(size: WindowSize): Promise<void> {
    await this.#page.setViewportSize(size);
  }

  async screenshot(): Promise<Buffer> {
    return this.#page.screenshot();
  }

  mainThreadMs(): number {
    return mainThreadMs(this.#renderer);
  }

  async close(): Promise<void> {
    await this.#page.context().close();
  }

  #last(target: Target): Locator {
    return this.#all(target).last();
  }

  #all({ role, name, css, text }: Target): Locator {
    const named = role && this.#page.getByRole(role, name === undefined ? {} : { name, exact: true });
    const found = named ?? this.#page.locator(css ?? '*');
    return found.filter({ visible: true, ...(text === undefined ? {} : { hasText: text }) });
  }
}
