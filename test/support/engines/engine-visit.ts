import type { ComponentPage } from '../component-browser.js';
import type { EnginePage, Target } from './engine-page.js';
import type { EngineSite } from './engine-site.js';

/** The parts of the chat. */
export const FIELD: Target = { css: '.a2a-panel textarea' };
export const ANSWER: Target = { css: '.a2a-message-agent' };
const FINISHED_BUBBLE = '.a2a-bubble[aria-busy=false]';
/** An answer that is complete. */
export const FINISHED: Target = { css: `.a2a-message-agent ${FINISHED_BUBBLE}` };
export const QUESTION = { css: '.a2a-message-user' } as const;

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
      async ([method, given]) => {
        const { handle } = globalThis as unknown as ComponentPage;
        // The component may not be rendered yet.
        while (!handle.current) await new Promise((resolve) => setTimeout(resolve, 10));
        void handle.current[method]?.(...given);
      },
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
    await page.see({ css: Array.from({ length: count + 1 }, () => QUESTION.css).join(' ~ ') });
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
