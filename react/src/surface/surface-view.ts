import DOMPurify from 'dompurify';

import { adoptStyle } from '../style/adopt-style.js';
import { removeForeign } from './fetched-parts.js';
import { attributeOf, sanitiseNamed } from './form-names.js';
import type { ActionFields, SurfaceClient } from './surface-client.js';
import { unstyledMarkup } from './unstyled-markup.js';

/** The page's own rules for the element override it. */
const HOST_STYLE = ':host { display: block; overflow: auto; }';
/** Content cannot be shown or clicked outside the box, even if fixed; content that is too wide scrolls. */
const BOX_STYLE = 'contain: layout paint; overflow: auto hidden';
/** In a layer, so that every rule of the theme overrides it. An option list keeps the browser's own style. */
const BASE_STYLE = `@layer base {
  :host { box-sizing: border-box; }
  :is(h1, h2, h3, h4) { margin: 0 0 0.75rem; font-size: 1.0625rem; line-height: 1.35; }
  p { margin: 0.5rem 0; }
  button, input, select, textarea {
    padding: 0.5rem 0.875rem; border: 1px solid; border-radius: 0.5rem; font: inherit; line-height: 1.4;
  }
  button, input, select, textarea, img { box-sizing: border-box; max-width: 100%; }
  fieldset { min-width: 0; }
  dialog { position: static; }
  button { cursor: pointer; }
  [type=color] { width: 3rem; height: 2.25rem; padding: 0; }
  :focus-visible { outline: 2px solid currentColor; outline-offset: -2px; }
  li, p, h3 { overflow-wrap: anywhere; }
  ::picker(select) { appearance: auto !important; }
}`;

const SANITISER = {
  RETURN_DOM_FRAGMENT: true as const,
  // A browser reads https:/path and https:path as paths of the site; a visitor does not.
  ALLOWED_URI_REGEXP: /^(?:https?:\/\/|mailto:|tel:|[^a-z]|[a-z+.-]+(?:[^a-z+.\-:]|$))/i,
  ADD_ATTR: ['form', 'formnovalidate'],
  // Form addresses, access to the page's top layer, and styles.
  FORBID_ATTR: ['action', 'popover', 'popovertarget', 'command', 'commandfor', 'style'],
  FORBID_TAGS: ['style'],
};

/** Controls that can have an action. */
const BUTTON = ':is(button, [type=submit], [type=image], [type=button])[data-action]';

type Field = HTMLInputElement | HTMLTextAreaElement;

/** The values to submit. */
export interface Submission {
  readonly fields: ActionFields;
  /** Called once the platform has accepted them. */
  readonly onDone?: () => void;
}

/**
 * A widget in its own shadow root, inside a box that neither its theme nor its markup can affect: it stays in the box,
 * loads only from the origins the site allows, and runs no scripts. A form or a button with `data-action` submits that
 * action instead of its own. A file cannot be submitted: an action is JSON.
 */
export class SurfaceView {
  readonly #box = document.createElement('div');
  readonly #root: ShadowRoot;
  readonly #content = document.createElement('div');
  readonly #client: SurfaceClient;
  readonly #onAction: (action: string, submit: () => Submission) => unknown;
  readonly #onFile: (label: string) => unknown;
  readonly #themed: Promise<void>;
  #newest: DocumentFragment | undefined;
  /** Fields that the visitor has changed and not submitted since. */
  readonly #typed = new Set<Field>();

  /**
   * `onAction` receives the name of an action, and a function that returns the values entered at that time; `onFile`
   * receives the label of a field in which the visitor chose a file. That field is empty again.
   */
  constructor(
    host: HTMLElement,
    client: SurfaceClient,
    onAction: (action: string, submit: () => Submission) => unknown,
    onFile: (label: string) => unknown,
  ) {
    if (host.shadowRoot === null) adoptStyle(host.attachShadow({ mode: 'open' }), HOST_STYLE);
    this.#box.style.cssText = BOX_STYLE;
    const widget = document.createElement('div');
    this.#box.append(widget);
    // First, since a shadow root that moves to another document, such as that of a frame, loses its styles.
    host.shadowRoot?.append(this.#box);
    this.#root = widget.attachShadow({ mode: 'open' });
    this.#client = client;
    this.#onAction = onAction;
    this.#onFile = onFile;
    adoptStyle(this.#root, BASE_STYLE);
    this.#root.append(this.#content);
    // A widget works without its theme.
    this.#themed = client.theme().then(
      (css) => void adoptStyle(this.#root, css),
      () => undefined,
    );
    this.#root.addEventListener('input', ({ target }) => this.#typed.add(target as Field));
    this.#root.addEventListener('submit', (event) => this.#submit(event as SubmitEvent));
    this.#root.addEventListener('click', (event) => this.#click(event));
    this.#root.addEventListener('change', ({ target }) => this.#refuseFile(target as HTMLInputElement));
  }

  /** Shows new markup; keeps the focus if the focused element still exists. */
  async show(html: string): Promise<void> {
    const markup = unstyledMarkup(html);
    const fragment = sanitiseNamed(DOMPurify, () => DOMPurify.sanitize(markup, SANITISER));
    this.#newest = fragment;
    for (const link of fragment.querySelectorAll('a, area')) openOutside(link);
    await removeForeign(fragment, () => this.#client.mediaOrigins());
    await this.#themed; // avoids a flash of unstyled content
    if (this.#newest !== fragment) return;
    const place = this.#controls().indexOf(this.#root.activeElement as HTMLElement);
    this.#keepTyped(fragment);
    this.#content.textContent = '';
    this.#content.append(fragment);
    if (place < 0) return;
    const controls = this.#controls();
    controls[Math.min(place, controls.length - 1)]?.focus();
  }

  close(): void {
    this.#box.remove();
  }

  /** Keeps what was typed in a field with a unique name. Fields that share a name cannot be distinguished in new markup. */
  #keepTyped(fragment: DocumentFragment): void {
    const typed = [...this.#typed];
    this.#typed.clear();
    for (const { name, type, value, defaultValue } of typed) {
      const [[before, other], [field, another]] = [this.#content, fragment].map((root) =>
        [...root.querySelectorAll<Field>('input, textarea')].filter((one) => one.name === name && one.type === type),
      ) as [Field[], Field[]];
      const isOne = before !== undefined && field !== undefined && (other ?? another) === undefined;
      if (!isOne || value === defaultValue) continue;
      field.value = value;
      this.#typed.add(field);
    }
  }

  #controls(): HTMLElement[] {
    return [...this.#content.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea, [tabindex]')];
  }

  #submit(event: SubmitEvent): void {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const submitter = event.submitter as HTMLButtonElement | HTMLInputElement | null;
    const action = submitter?.dataset['action'] ?? attributeOf(form, 'data-action');
    const submit = (): Submission => {
      const sent = [...this.#typed].flatMap((field) => (field.form === form ? [[field, field.value] as const] : []));
      const onDone = (): void => sent.forEach(([field, value]) => field.value === value && this.#typed.delete(field));
      return { fields: fieldsOf(new FormData(form, submitter)), onDone };
    };
    if (attributeOf(form, 'method') === 'dialog')
      (Element.prototype.closest.call(form, 'dialog') as HTMLDialogElement | null)?.close();
    if (action !== null) this.#onAction(action, submit);
  }

  #click({ target }: Event): void {
    const button = Element.prototype.closest.call(target, BUTTON) as HTMLButtonElement | null;
    // A button that submits its form is handled as "submit", after the form's validation.
    if (button === null || (button.form !== null && /^(?:submit|image)$/.test(button.type))) return;
    const { name, value } = button;
    this.#onAction(button.dataset['action'] ?? '', () => ({ fields: name === '' ? {} : { [name]: value } }));
  }

  /** Empties the field at once, so that the file does not look submitted. */
  #refuseFile(field: HTMLInputElement): void {
    if (field.type !== 'file' || field.value === '') return;
    field.value = '';
    const label = field.labels?.[0]?.textContent ?? field.ariaLabel ?? field.name;
    this.#onFile(label.trim());
  }
}

/** Opens a link to another site in a new tab, without access to the page and without its address; links in SVG too. */
function openOutside(link: Element & Partial<Pick<HTMLAnchorElement, 'origin' | 'protocol'>>): void {
  if (link.origin === location.origin || link.protocol?.startsWith('http') === false) return;
  link.setAttribute('target', '_blank');
  link.setAttribute('rel', 'noopener noreferrer');
}

/** The entered values by name; without file fields, which are always empty. */
function fieldsOf(data: FormData): ActionFields {
  return Object.fromEntries(
    [...new Set(data.keys())].flatMap((name) => {
      const values = data.getAll(name).filter((value) => typeof value === 'string');
      return values.length === 0 ? [] : [[name, values.length > 1 ? values : (values[0] ?? '')]];
    }),
  );
}
