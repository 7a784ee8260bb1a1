import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest';

import { type DemoOptions, startDemo } from '../../../examples/start-demo.js';
import type { ComponentPage } from '../component-browser.js';
import type { Engine, EnginePage, PageOptions, RunningEngine, Target } from './engine-page.js';
import { EngineSite } from './engine-site.js';
import { ENGINES, OLDEST_ENGINES } from './engines.js';

const isEveryEngine = process.env['ENGINES'] === 'all';

export interface EngineSuiteOptions extends Omit<DemoOptions, 'port'> {
  /** True to run in WebKitGTK and Firefox too, and not only with `npm run test:engines`. Default false. */
  readonly inEachKind?: boolean;
  /** The site behind the test page. Default: the demo. */
  readonly startSite?: () => Promise<{ readonly url: string; close(): Promise<void> }>;
}

/** Runs a suite in Chromium, and in every engine with `npm run test:engines` (ENGINES=all). */
export function describeInEngines(
  title: string,
  { inEachKind = false, startSite, ...options }: EngineSuiteOptions,
  suite: (visits: EngineVisits) => void,
): void {
  const chosen = inEachKind ? ENGINES : ENGINES.filter(({ name }) => name === 'Chromium');
  for (const engine of isEveryEngine ? [...ENGINES, ...OLDEST_ENGINES] : chosen) {
    describe.skipIf(engine.missing !== undefined)(`${title}, in ${engine.name}`, { timeout: 120_000 }, () => {
      const visits = new EngineVisits(engine);
      beforeAll(() => visits.start(startSite ?? (() => startDemo({ port: 0, ...options }))), 120_000);
      afterAll(() => visits.close());
      suite(visits);
    });
  }
}

/** The visitors of a site in one engine. */
export class EngineVisits {
  readonly engine: Engine;
  site!: EngineSite;
  /** The address of the site behind the test page. */
  behind!: string;
  #running!: RunningEngine;
  #closeBehind!: () => Promise<void>;

  constructor(engine: Engine) {
    this.engine = engine;
  }

  async start(startSite: NonNullable<EngineSuiteOptions['startSite']>): Promise<void> {
    const behind = await startSite();
    this.behind = behind.url;
    this.#closeBehind = () => behind.close();
    this.site = await EngineSite.start(behind.url);
    this.#running = await this.engine.launch();
  }

  /** A visitor on the empty test page, who leaves when the test ends. */
  async visit(options?: PageOptions): Promise<EngineVisit> {
    const page = await this.#running.newPage(options);
    onTestFinished(() => page.close());
    const visit = new EngineVisit(page, this.site);
    await visit.open();
    return visit;
  }

  async close(): Promise<void> {
    await this.#running.close();
    await this.site.close();
    await this.#closeBehind();
  }
}

/** The parts of the chat. */
export const FIELD: Target = { css: '.a2a-panel textarea' };
export const ANSWER: Target = { css: '.a2a-message-agent' };
const FINISHED_BUBBLE = '.a2a-bubble[aria-busy=false]';
/** An answer that is complete. */
export const FINISHED: Target = { css: `.a2a-message-agent ${FINISHED_BUBBLE}` };
export const QUESTION: Target = { css: '.a2a-message-user' };

/** One visitor's page. */
export class EngineVisit {
  readonly page: EnginePage;
  readonly site: EngineSite;

  constructor(page: EnginePage, site: EngineSite) {
    this.page = page;
    this.site = site;
  }

  /** Opens the empty test page. */
  async open(): Promise<void> {
    await this.page.open(`${this.site.url}/page/`);
    await this.isReady();
  }

  /** Waits until the script of the page runs. */
  async isReady(): Promise<void> {
    await this.page.see({ css: 'html[data-ready]' });
  }

  /** Shows a component with props that are JSON. */
  async show(name: string, props: object = {}): Promise<this> {
    await this.page.evaluate(([component, given]) => (globalThis as unknown as ComponentPage).show(component, given), [
      name,
      props,
    ] as const);
    return this;
  }

  /** Calls a function of the shown component's handle, and does not wait for what it returns. */
  async handle(name: string, ...args: readonly unknown[]): Promise<void> {
    await this.page.evaluate(
      ([method, given]) => void (globalThis as unknown as ComponentPage).handle.current[method]?.(...given),
      [name, args] as const,
    );
  }

  async send(text: string): Promise<void> {
    await this.page.click(FIELD);
    await this.page.type(text);
    await this.page.press('Enter');
  }

  /** Sends a message and waits for the whole answer. */
  async ask(text: string): Promise<string> {
    const { page } = this;
    const count = await page.count(QUESTION);
    await this.send(text);
    await expect.poll(() => page.count(QUESTION), { interval: 20 }).toBeGreaterThan(count);
    return this.textOf({ css: `.a2a-message-agent:not(:has(~ .a2a-message)) ${FINISHED_BUBBLE}` });
  }

  async textOf(target: Target): Promise<string> {
    return this.page.on(target, (element) => element.innerText, null);
  }

  /** The violations that the page's Content-Security-Policy has reported. */
  async violations(): Promise<readonly string[]> {
    return this.page.evaluate(() => (globalThis as unknown as { violations: readonly string[] }).violations, null);
  }
}
