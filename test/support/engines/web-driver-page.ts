import { setTimeout as pause } from 'node:timers/promises';

import { type EnginePage, ROLES, type Target, type WindowSize } from './engine-page.js';
import { findTargets } from './find-targets.js';
import { mainThreadMs } from './main-thread.js';
import { type Call, WebDriverError } from './web-driver.js';
import { photograph } from './x-screen.js';

const WAIT_MS = 20_000;
const POLL_MS = 20;
/** From a frame of the page to its pixels on the display. */
const PAINT_MS = 300;
/** The key of a reference to an element, https://www.w3.org/TR/webdriver2/#elements. */
const REFERENCE = 'element-6066-11e4-a52e-4f735466cecf';
/** Code points of keys without a character, https://www.w3.org/TR/webdriver2/#keyboard-actions. */
const KEYS: Readonly<Record<string, string>> = {
  Tab: '\uE004',
  Enter: '\uE007',
  Shift: '\uE008',
  Escape: '\uE00C',
  Space: ' ',
  PageUp: '\uE00E',
  End: '\uE010',
  Home: '\uE011',
  ArrowUp: '\uE013',
};
/** The page may render again between finding an element and using it. */
const PASSING = ['stale element reference', 'element not interactable'];

interface Point {
  readonly x: number;
  readonly y: number;
}

type Reference = Readonly<Record<typeof REFERENCE, string>>;

/** A page of one session of a W3C WebDriver. */
export class WebDriverPage implements EnginePage {
  readonly #call: Call;
  readonly #renderer: string;
  readonly #screen: string | undefined;

  /** `call` takes paths below the session. `screen` is the file of the display that the page is on. */
  constructor(call: Call, renderer: string, screen?: string) {
    this.#call = call;
    this.#renderer = renderer;
    this.#screen = screen;
  }

  async open(url: string): Promise<void> {
    await this.#call('POST', '/url', { url });
  }

  async reload(): Promise<void> {
    await this.#call('POST', '/refresh', {});
  }

  async back(): Promise<void> {
    await this.#call('POST', '/back', {});
  }

  async forward(): Promise<void> {
    await this.#call('POST', '/forward', {});
  }

  async evaluate<Given, Result>(
    script: ((given: Given) => Result | Promise<Result>) | string,
    given: Given,
  ): Promise<Result> {
    return this.#run<Result>(script, given);
  }

  async on<Given, Result>(
    target: Target,
    script: (element: HTMLElement, given: Given) => Result | Promise<Result>,
    given: Given,
  ): Promise<Result> {
    return this.#use<Result>(target, async (element) => this.#run<Result>(script, element, given));
  }

  async count(target: Target): Promise<number> {
    return (await this.#all(target)).length;
  }

  async see(target: Target): Promise<void> {
    await this.#use(target, () => Promise.resolve());
  }

  async missing(target: Target): Promise<void> {
    await this.#until(`no ${describe(target)}`, async () => ((await this.count(target)) === 0 ? true : undefined));
  }

  async click(target: Target): Promise<void> {
    // The command for a click fails on elements in a shadow tree.
    const middle = await this.#until(`${describe(target)} with nothing above it`, async () => {
      const element = (await this.#all(target)).at(-1);
      return (element && (await this.#run<Point | null>(reachableMiddleOf, element))) ?? undefined;
    });
    const actions = [
      { type: 'pointerMove', duration: 0, ...middle },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ];
    await this.#call('POST', '/actions', { actions: [{ type: 'pointer', id: 'mouse', actions }] });
  }

  async type(text: string): Promise<void> {
    await this.#keys(Array.from(text).flatMap((value) => [down(value), up(value)]));
  }

  async press(key: string): Promise<void> {
    const values = key.split('+').map((name) => KEYS[name] ?? name);
    await this.#keys([...values.map(down), ...values.reverse().map(up)]);
  }

  async fill(target: Target, value: string): Promise<void> {
    const isTyped = await this.on(target, focusTyped, null);
    if (isTyped) return this.type(value);
    return this.on(target, setValue, value);
  }

  async choose(target: Target, path: string): Promise<void> {
    await this.#use(target, async (element) =>
      this.#call('POST', `/element/${element[REFERENCE]}/value`, { text: path }),
    );
  }

  async wheel(target: Target, px: number): Promise<void> {
    const middle = await this.on(target, middleOf, null);
    const scroll = { type: 'scroll', ...middle, deltaX: 0, deltaY: px };
    await this.#call('POST', '/actions', { actions: [{ type: 'wheel', id: 'wheel', actions: [scroll] }] });
  }

  async resize({ width, height }: WindowSize): Promise<void> {
    let setAt = 0;
    await this.#until(`a window of ${width} × ${height}`, async () => {
      const inner = await this.evaluate(() => ({ width: innerWidth, height: innerHeight }), null);
      if (inner.width === width && inner.height === height) return true;
      // The window has a toolbar, and takes a while.
      if (performance.now() < setAt + 300) return undefined;
      setAt = performance.now();
      const outer = await this.#call<WindowSize>('GET', '/window/rect');
      const [right, bottom] = [outer.width - inner.width, outer.height - inner.height];
      await this.#call('POST', '/window/rect', { x: 0, y: 0, width: width + right, height: height + bottom });
      return undefined;
    });
  }

  /** The driver cannot take pictures without a graphics card. */
  async screenshot(): Promise<Buffer> {
    if (this.#screen !== undefined) {
      const part = await this.evaluate(shownPart, null);
      await pause(PAINT_MS);
      return photograph(this.#screen, part);
    }
    return Buffer.from(await this.#call<string>('GET', '/screenshot'), 'base64');
  }

  mainThreadMs(): number {
    return mainThreadMs(this.#renderer);
  }

  async close(): Promise<void> {
    await this.#call('DELETE', '');
  }

  async #run<Result>(script: string | ((...given: never[]) => unknown), ...args: readonly unknown[]): Promise<Result> {
    return this.#call('POST', '/execute/sync', { script: `return (${String(script)})(...arguments)`, args });
  }

  async #all({ role, css, name, text }: Target): Promise<readonly Reference[]> {
    return this.#run(findTargets, { selector: role === undefined ? (css ?? '*') : ROLES[role], name, text });
  }

  /** Waits for an element and uses it. */
  async #use<Result>(target: Target, use: (element: Reference) => Promise<Result>): Promise<Result> {
    const { result } = await this.#until(describe(target), async () => {
      const element = (await this.#all(target)).at(-1);
      return element && { result: await use(element) };
    });
    return result;
  }

  async #until<Value>(what: string, look: () => Promise<Value | undefined>): Promise<Value> {
    const endsAt = performance.now() + WAIT_MS;
    let last: unknown;
    do {
      try {
        const value = await look();
        if (value !== undefined) return value;
      } catch (error) {
        if (!(error instanceof WebDriverError && PASSING.includes(error.code)))
          throw new Error(`The page did not show ${what}.`, { cause: error });
        last = error;
      }
      await pause(POLL_MS);
    } while (performance.now() < endsAt);
    throw new Error(`The page did not show ${what}.`, { cause: last });
  }

  async #keys(actions: readonly object[]): Promise<void> {
    await this.#call('POST', '/actions', { actions: [{ type: 'key', id: 'keyboard', actions }] });
  }
}

const down = (value: string): object => ({ type: 'keyDown', value });
const up = (value: string): object => ({ type: 'keyUp', value });
const describe = (target: Target): string => JSON.stringify(target);

/** Runs in the page. Focuses a field and selects its text; false if its value cannot be typed as it is. */
function focusTyped(field: HTMLElement): boolean {
  const untyped = ['date', 'time', 'datetime-local', 'month', 'color', 'range'];
  if (field instanceof HTMLInputElement && untyped.includes(field.type)) return false;
  field.focus();
  (field as HTMLInputElement).select();
  return true;
}

/** Runs in the page. Sets a value as pickers do. */
function setValue(field: HTMLElement, value: string): void {
  (field as HTMLInputElement).value = value;
  field.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  field.dispatchEvent(new Event('change', { bubbles: true }));
}

/** Runs in the page. Its place on the display, after two frames. */
async function shownPart(): Promise<Readonly<Record<'x' | 'y' | 'width' | 'height', number>>> {
  const frame = (): Promise<unknown> => new Promise((resolve) => requestAnimationFrame(resolve));
  await frame();
  await frame();
  const [width, height] = [innerWidth, innerHeight];
  return { x: screenX + outerWidth - width, y: screenY + outerHeight - height, width, height };
}

/** Runs in the page. */
function middleOf(element: HTMLElement): Point {
  const { left, top, width, height } = element.getBoundingClientRect();
  return { x: Math.round(left + width / 2), y: Math.round(top + height / 2) };
}

/** Runs in the page. The middle of an element that is scrolled into view; null if something else is above it. */
function reachableMiddleOf(element: HTMLElement): Point | null {
  element.scrollIntoView({ block: 'nearest', behavior: 'instant' });
  const { left, top, width, height } = element.getBoundingClientRect();
  const [x, y] = [Math.round(left + width / 2), Math.round(top + height / 2)];
  let hit = document.elementFromPoint(x, y);
  while (hit !== null && !element.contains(hit) && hit.shadowRoot !== null) hit = hit.shadowRoot.elementFromPoint(x, y);
  return element.contains(hit) ? { x, y } : null;
}
