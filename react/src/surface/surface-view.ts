import DOMPurify from 'dompurify';

import { adoptStyle } from '../style/adopt-style.js';
import { removeForeign } from './fetched-parts.js';
import type { ActionFields, SurfaceClient } from './surface-client.js';
import { unstyledMarkup } from './unstyled-markup.js';

/** The page's own rules for the element win over it. */
const HOST_STYLE = ':host { display: block; overflow: auto; }';
/** Nothing inside is shown or clicked outside, fixed or not; what is too wide scrolls. */
const BOX_STYLE = 'contain: layout paint; overflow: auto hidden';
/** In a layer, so that every rule of the theme wins over it, except that a list of options stays the browser's own. */
const BASE_STYLE = `@layer base {
  :host { box-sizing: border-box; }
  :is(h1, h2, h3, h4) { margin: 0 0 0.75rem; font-size: 1.0625rem; line-height: 1.35; }
  p { margin: 0.5rem 0; }
  button, input, select, textarea {
    padding: 0.5rem 0.875rem; border: 1px solid; border-radius: 0.5rem; font: inherit; line-height: 1.4;
  }
  button { cursor: pointer; }
  :focus-visible { outline: 2px solid currentColor; outline-offset: -2px; }
  li, p, h3 { overflow-wrap: anywhere; }
  ::picker(select) { appearance: auto !important; }
}`;

const SANITISER = {
  RETURN_DOM_FRAGMENT: true as const,
  // A browser reads https:/path and https:path as paths of the site; a visitor does not.
  ALLOWED_URI_REGEXP: /^(?:https?:\/\/|mailto:|tel:|[^a-z]|[a-z+.-]+(?:[^a-z+.\-:]|$))/i,
  // Addresses of forms, ways to the top layer of the page, and styles.
  FORBID_ATTR: ['action', 'method', 'popover', 'popovertarget', 'command', 'commandfor', 'style'],
  FORBID_TAGS: ['style'],
};

/**
 * A widget in a shadow root of its own, inside a box that neither its theme nor its markup can reach: it stays in the box,
 * fetches from the origins the site allows, and runs no script. A form or a button with `data-action` submits that action
 * instead of its own.
 */
export class SurfaceView {
  readonly #box = document.createElement('div');
  readonly #root: ShadowRoot;
  readonly #content = document.createElement('div');
  readonly #client: SurfaceClient;
  readonly #onAction: (action: string, fields: ActionFields) => unknown;
  readonly #themed: Promise<void>;
  #newest: DocumentFragment | undefined;

  /** `onAction` gets the name of an action and what was filled in. */
  constructor(host: HTMLElement, client: SurfaceClient, onAction: (action: string, fields: ActionFields) => unknown) {
    if (host.shadowRoot === null) adoptStyle(host.attachShadow({ mode: 'open' }), HOST_STYLE);
    this.#box.style.cssText = BOX_STYLE;
    const widget = document.createElement('div');
    this.#root = widget.attachShadow({ mode: 'open' });
    this.#client = client;
    this.#onAction = onAction;
    adoptStyle(this.#root, BASE_STYLE);
    this.#root.append(this.#content);
    this.#box.append(widget);
    host.shadowRoot?.append(this.#box);
    // A widget without its theme is still a widget.
    this.#themed = client.theme().then(
      (css) => void adoptStyle(this.#root, css),
      () => undefined,
    );
    this.#root.addEventListener('submit', (event) => this.#submit(event as SubmitEvent));
    this.#root.addEventListener('click', (event) => this.#click(event));
  }

  /** Shows new markup; the focus stays where it was if that is still there. */
  async show(html: string): Promise<void> {
    const fragment = DOMPurify.sanitize(unstyledMarkup(html), SANITISER);
    this.#newest = fragment;
    for (const link of fragment.querySelectorAll('a, area')) openOutside(link);
    await removeForeign(fragment, () => this.#client.mediaOrigins());
    await this.#themed; // no flash of what it looks like without
    if (this.#newest !== fragment) return;
    const focused = this.#root.activeElement;
    const place = focused === null ? undefined : this.#controls().findIndex((control) => control.isSameNode(focused));
    this.#content.replaceChildren(fragment);
    if (place === undefined || place < 0) return;
    const controls = this.#controls();
    controls[Math.min(place, controls.length - 1)]?.focus();
  }

  close(): void {
    this.#box.remove();
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

/** Gives a link to another site a tab of its own, without access to the page and without its address; any in SVG too. */
function openOutside(link: Element & Partial<Pick<HTMLAnchorElement, 'origin' | 'protocol'>>): void {
  if (link.origin === location.origin || link.protocol?.startsWith('http') === false) return;
  link.setAttribute('target', '_blank');
  link.setAttribute('rel', 'noopener noreferrer');
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
