/** An element as a visitor means it: by its role and exact name or by a selector, and by words in it. Frames are not searched. */
export interface Target {
  readonly role?: keyof typeof ROLES;
  readonly name?: string;
  readonly css?: string;
  readonly text?: string;
}

/** The roles that walks look for, with the elements that have them. */
export const ROLES = {
  alert: '[role=alert]',
  button: 'button, input[type=submit], [role=button]',
  dialog: 'dialog, [role=dialog]',
  link: 'a[href]',
  listitem: 'li',
  region: 'section, [role=region]',
  status: 'output, [role=status]',
  textbox: 'textarea, input:not([type]), input[type=text]',
} as const;

export interface WindowSize {
  readonly width: number;
  readonly height: number;
}

/**
 * A page as a visitor uses it, in any engine: by Playwright in Chromium and Firefox, by W3C WebDriver in WebKit. If a
 * target matches several elements, the last rendered one is used. Methods with a target wait for it, for at most 20 s.
 */
export interface EnginePage {
  open(url: string): Promise<void>;
  reload(): Promise<void>;
  back(): Promise<void>;
  forward(): Promise<void>;
  /** Runs a function, or its source text, in the page. Arguments and results are JSON. */
  evaluate<Given, Result>(script: ((given: Given) => Result | Promise<Result>) | string, given: Given): Promise<Result>;
  /** Runs a function with an element in the page. */
  on<Given, Result>(
    target: Target,
    script: (element: HTMLElement, given: Given) => Result | Promise<Result>,
    given: Given,
  ): Promise<Result>;
  /** The number of such elements that are rendered now. */
  count(target: Target): Promise<number>;
  see(target: Target): Promise<void>;
  /** Waits until no rendered element matches. */
  missing(target: Target): Promise<void>;
  click(target: Target): Promise<void>;
  /** Types into the focused element, key by key. */
  type(text: string): Promise<void>;
  /** Presses a key, such as `Shift+Enter`, in the focused element. */
  press(key: string): Promise<void>;
  /** Sets the value of a field. A field of text is typed into. */
  fill(target: Target, value: string): Promise<void>;
  /** Chooses a file of this machine. */
  choose(target: Target, path: string): Promise<void>;
  /** Turns the wheel over the middle of an element, downwards if positive. */
  wheel(target: Target, px: number): Promise<void>;
  resize(size: WindowSize): Promise<void>;
  /** A picture of the window, as PNG. */
  screenshot(): Promise<Buffer>;
  /** CPU time of the page's main thread so far, in milliseconds. */
  mainThreadMs(): number;
  close(): Promise<void>;
}

export interface PageOptions extends Partial<WindowSize> {
  /** Default light. */
  readonly colorScheme?: 'light' | 'dark';
}

/** A browser of this machine. */
export interface Engine {
  readonly name: string;
  /** The program that is missing and its remedy; undefined if the engine is installed. */
  readonly missing: string | undefined;
  /**
   * False for an engine older than those in `browserslist` of react/package.json. It sends and shows text, but without
   * styles.
   */
  readonly isSupported: boolean;
  launch(): Promise<RunningEngine>;
}

export interface RunningEngine {
  readonly version: string;
  /** A page of a visitor without cookies, 800 × 600 by default. */
  newPage(options?: PageOptions): Promise<EnginePage>;
  close(): Promise<void>;
}
