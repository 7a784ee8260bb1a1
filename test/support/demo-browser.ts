import { execFile } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest';

import type { Demo, DemoOptions, startDemo } from '../../examples/start-demo.js';
import { findChromium, launchChromium } from './chromium.js';

const BUILD = fileURLToPath(new URL('../../scripts/build.mjs', import.meta.url));

export interface VisitOptions extends BrowserContextOptions {
  /** Path of the page. Default `/`. */
  readonly path?: string;
  /** Runs before the page is opened. */
  readonly prepare?: (page: Page) => Promise<unknown>;
}

/** Describes browser tests of the running demo. Skipped if Chromium is not installed. */
export function describeDemo(
  title: string,
  options: Omit<DemoOptions, 'port'>,
  tests: (demo: DemoBrowser) => void,
): void {
  const chromiumPath = findChromium();
  describe.skipIf(chromiumPath === undefined)(title, { timeout: 120_000 }, () => {
    const demo = new DemoBrowser();
    beforeAll(() => demo.start(chromiumPath ?? '', options), 60_000);
    afterAll(() => demo.close());
    tests(demo);
  });
}

/** The demo in `examples` with its built page; with DEMO_MODULE, the bundle in that file, such as of an installed package. */
async function demoModule(): Promise<{ readonly startDemo: typeof startDemo }> {
  const { DEMO_MODULE } = process.env;
  if (DEMO_MODULE !== undefined) return import(pathToFileURL(DEMO_MODULE).href) as ReturnType<typeof demoModule>;
  await promisify(execFile)(process.execPath, [BUILD, 'web', '--if-needed']);
  return import('../../examples/start-demo.js');
}

/** The demo with its built page, and a browser. */
export class DemoBrowser {
  #demo: Demo | undefined;
  #browser: Browser | undefined;

  async start(chromiumPath: string, options: Omit<DemoOptions, 'port'>): Promise<void> {
    const demo = await demoModule();
    this.#demo = await demo.startDemo({ port: 0, ...options });
    this.#browser = await launchChromium(chromiumPath);
  }

  get demo(): Demo {
    if (this.#demo === undefined) throw new Error('the demo has not started');
    return this.#demo;
  }

  /** A visitor with separate cookies and cache, on a loaded page. It is closed after the test. */
  async visit({ path = '/', prepare, ...options }: VisitOptions = {}): Promise<DemoVisit> {
    if (this.#browser === undefined) throw new Error('the demo has not started');
    const context = await this.#browser.newContext(options);
    onTestFinished(() => context.close());
    context.setDefaultTimeout(20_000);
    const page = await context.newPage();
    await prepare?.(page);
    await page.goto(this.demo.url + path);
    const visit = new DemoVisit(page);
    await visit.isReady();
    return visit;
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    await this.#demo?.close();
  }
}

/** The page as a visitor sees it, located by its labels. */
export class DemoVisit {
  readonly page: Page;
  readonly input: Locator;
  /** The agent's last answer. */
  readonly answer: Locator;
  /** The agent's last answer, once it is complete. */
  readonly finishedAnswer: Locator;
  /** The alert of the chat. */
  readonly alert: Locator;
  readonly poll: Locator;
  readonly notes: Locator;
  readonly credentialSwitch: Locator;

  constructor(page: Page) {
    this.page = page;
    this.input = page.getByRole('textbox', { name: 'Message' });
    this.answer = page.locator('.a2a-message-agent .a2a-bubble').last();
    this.finishedAnswer = page.locator('.a2a-message-agent').last().locator('.a2a-bubble[aria-busy=false]');
    this.alert = page.locator('.a2a-panel').getByRole('alert');
    this.poll = page.getByRole('region', { name: 'Widget by id' });
    this.notes = page.getByRole('region', { name: 'Widget by name' });
    this.credentialSwitch = page.getByRole('switch', { name: 'Break the credential' });
  }

  /**
   * Resolves when the page has loaded the visitor's name, the state of the switch and the widgets: a widget that appears
   * during a click moves everything below it, and the click misses.
   */
  async isReady(): Promise<void> {
    await this.page.locator('input[role=switch][aria-busy=false]').waitFor();
    await this.page.locator('.service-surface[aria-busy=false]').nth(1).waitFor();
  }

  async send(text: string): Promise<void> {
    await this.input.fill(text);
    await this.input.press('Enter');
  }

  /** Sends a message and returns the complete answer. */
  async ask(text: string): Promise<string> {
    const answers = await this.page.locator('.a2a-message-agent').count();
    await this.send(text);
    await this.page.locator('.a2a-message-agent:not([data-state=thinking])').nth(answers).waitFor();
    return this.wholeAnswer();
  }

  /** The text of the last answer once it is complete, without the text for screen readers. */
  async wholeAnswer(): Promise<string> {
    await this.finishedAnswer.waitFor();
    return this.finishedAnswer.locator('.a2a-markdown').innerText();
  }

  async signIn(name: 'Ada' | 'Grace'): Promise<void> {
    await this.page.getByRole('link', { name, exact: true }).click();
    await this.page.getByRole('button', { name: 'Sign out' }).waitFor();
    await this.isReady();
  }

  async setCredentialBroken(broken: boolean): Promise<void> {
    const answered = this.page.waitForResponse(
      (response) => response.request().method() === 'POST' && response.url().endsWith('/demo/credential'),
    );
    await this.credentialSwitch.setChecked(broken);
    await answered;
    await this.isReady();
  }
}
