import DOMPurify from 'dompurify';

import { adoptStyle } from '../style/adopt-style.js';
import type { ActionFields } from './surface-client.js';
import { unstyledMarkup } from './unstyled-markup.js';

/** In a layer, so that every rule of the theme wins over it. */
const BASE_STYLE = `@layer base {
  :host { display: block; color: inherit; font: inherit; }
  :is(h1, h2, h3, h4) { margin: 0 0 0.75rem; font-size: 1.0625rem; line-height: 1.35; }
  p { margin: 0.5rem 0; }
  button, input, select, textarea {
    padding: 0.5rem 0.875rem; border: 1px solid; border-radius: 0.5rem; font: inherit; line-height: 1.4;
  }
  button { cursor: pointer; }
  :focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
  li, p, h3 { overflow-wrap: anywhere; }
}`;

/** Where a form would send its reader if it were left to itself, and styles that could leave the widget's place. */
const FORBIDDEN = {
  FORBID_ATTR: ['action', 'formaction', 'method', 'formmethod', 'target', 'formtarget', 'style'],
  FORBID_TAGS: ['style'],
};

/**
 * A widget's markup in a shadow root: its theme stays inside, the page's style outside, and scripts out altogether.
 * What carries `data-action`, a form or a button, submits that action instead of what it would do on its own.
 */
export class SurfaceView {
  readonly #root: ShadowRoot;
  readonly #content = document.createElement('div');
  readonly #sheet = document.createElement('link');
  readonly #listening = new AbortController();
  readonly #onAction: (action: string, fields: ActionFields) => unknown;
  readonly #themed: Promise<void>;
  /** What takes each style away again. */
  readonly #styles: (() => void)[] = [];

  /** The theme is an address, or its text to come; `onAction` gets the name of an action and what was filled in. */
  constructor(
    host: HTMLElement,
    theme: string | Promise<string>,
    onAction: (action: string, fields: ActionFields) => unknown,
  ) {
    this.#root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    this.#onAction = onAction;
    this.#styles.push(adoptStyle(this.#root, BASE_STYLE));
    this.#root.append(this.#content);
    // A widget without its theme is still a widget.
    this.#themed = (typeof theme === 'string' ? this.#link(theme) : this.#adopt(theme)).catch(() => undefined);
    const { signal } = this.#listening;
    this.#root.addEventListener('submit', (event) => this.#submit(event as SubmitEvent), { signal });
    this.#root.addEventListener('click', (event) => this.#click(event), { signal });
  }

  /** Shows new markup; the focus stays where it was if that is still there. */
  async show(html: string): Promise<void> {
    const fragment = DOMPurify.sanitize(unstyledMarkup(html), { ...FORBIDDEN, RETURN_DOM_FRAGMENT: true });
    await this.#themed; // no flash of what it looks like without
    const focused = this.#root.activeElement;
    const place = focused === null ? undefined : this.#controls().findIndex((control) => control.isSameNode(focused));
    this.#content.replaceChildren(fragment);
    if (place === undefined || place < 0) return;
    const controls = this.#controls();
    controls[Math.min(place, controls.length - 1)]?.focus();
  }

  close(): void {
    this.#listening.abort();
    this.#content.remove();
    this.#sheet.remove();
    for (const remove of this.#styles) remove();
  }

  #link(url: string): Promise<void> {
    this.#sheet.rel = 'stylesheet';
    this.#sheet.href = url;
    return new Promise((resolve) => {
      this.#sheet.onload = () => resolve();
      this.#sheet.onerror = () => resolve();
      this.#content.before(this.#sheet);
    });
  }

  async #adopt(text: Promise<string>): Promise<void> {
    const css = await text;
    if (!this.#listening.signal.aborted) this.#styles.push(adoptStyle(this.#root, css));
  }

  #controls(): HTMLElement[] {
    return [...this.#content.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea, [tabindex]')];
  }

  #submit(event: SubmitEvent): void {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const action = event.submitter?.dataset['action'] ?? form.dataset['action'];
    if (action !== undefined) this.#onAction(action, fieldsOf(new FormData(form, event.submitter)));
  }

  #click(event: Event): void {
    const button = (event.target as Element).closest<HTMLButtonElement>('button[data-action]');
    // A button that submits its form is heard as "submit", once the form has checked itself.
    if (button === null || (button.form !== null && button.type === 'submit')) return;
    const { name, value } = button;
    this.#onAction(button.dataset['action'] ?? '', name === '' ? {} : { [name]: value });
  }
}

function fieldsOf(data: FormData): ActionFields {
  const texts = (name: string): readonly string[] => data.getAll(name).filter((value) => typeof value === 'string');
  return Object.fromEntries(
    [...new Set(data.keys())].map((name) => {
      const [first = '', ...others] = texts(name);
      return [name, others.length === 0 ? first : [first, ...others]];
    }),
  );
}
