import { createToolkit } from 'agent-bff';
import { createNodeHandler } from 'agent-bff/node';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';

import type { Site } from '../../site/framework.js';
import { listeningSite } from '../../site/frameworks/listening-site.js';
import {
  type ComponentVisit,
  type ComponentVisitOptions,
  describeInBrowsers,
} from '../../support/component-browser.js';
import { FIELD_NAMES, quoted } from '../../support/field-names.js';
import { RecordingUpstream } from '../../support/recording-upstream.js';

const SAVE = '<button>Save</button>';

/** Markup, and the fields that the platform receives once “Save” was clicked. */
const FORMS: Readonly<Record<string, readonly [html: string, fields: object]>> = {
  'several values of a name': [
    `<form data-action="save"><input name="a" value="1"><input name="a" value="2">${SAVE}</form>`,
    { a: ['1', '2'] },
  ],
  'a field elsewhere, by form=': [
    `<input name="outside" form="here" value="1"><form id="here" data-action="save"></form><button form="here">Save</button>`,
    { outside: '1' },
  ],
  'a required field that formnovalidate skips': [
    `<form data-action="wrong"><input name="a" required><button data-action="save" formnovalidate>Save</button></form>`,
    { a: '' },
  ],
  'the submit button that was clicked': [
    `<form data-action="save"><button name="b" value="1">First</button><button name="b" value="2">Save</button></form>`,
    { b: '2' },
  ],
  'an input as submit button': [
    `<form data-action="wrong"><input type="submit" data-action="save" name="b" value="Save"></form>`,
    { b: 'Save' },
  ],
  'an input as button without a form': [
    '<input type="button" data-action="save" name="b" value="Save">',
    { b: 'Save' },
  ],
  'a button named __proto__': [
    '<button data-action="save" name="__proto__" value="x">Save</button>',
    JSON.parse('{"__proto__":"x"}') as object,
  ],
  'an empty file field': [
    `<form data-action="save"><input type="file" name="f"><input name="a">${SAVE}</form>`,
    { a: '' },
  ],
  'a form in a dialog': [
    `<dialog open><form method="dialog" data-action="save"><input name="a" value="1">${SAVE}</form></dialog>`,
    { a: '1' },
  ],
  'a form named body with a field named insertBefore': [
    `<form name="body" data-action="save"><input name="insertBefore" value="1">${SAVE}</form>`,
    { insertBefore: '1' },
  ],
};

/** Fields of all kinds, as filled in by a visitor. */
const FILLED: Readonly<Record<string, readonly [attributes: string, value: string]>> = {
  text: ['', 'Ada'],
  password: ['', 'secret'],
  email: ['', 'ada@example.com'],
  tel: ['', '+49 30 1'],
  url: ['', 'https://example.com/'],
  search: ['', 'word'],
  number: ['', '42'],
  range: ['max="10"', '7'],
  date: ['', '2026-02-28'],
  time: ['', '13:45'],
  'datetime-local': ['', '2026-02-28T13:45'],
  month: ['', '2026-02'],
  color: ['', '#336699'],
};

describeInBrowsers('a form of a widget', { wordMs: 5 }, (browser) => {
  let upstream: RecordingUpstream;
  let toolkit: ReturnType<typeof createToolkit>;
  let site: Site;
  let html: string;
  const received = (): readonly unknown[] =>
    upstream.requests
      .filter(({ target }) => target.endsWith('/actions/save'))
      .map(({ body }) => JSON.parse(body.toString()) as unknown);

  beforeAll(async () => {
    upstream = await RecordingUpstream.start();
    upstream.willAnswer((exchange) => {
      const { target } = exchange.request;
      if (target.endsWith('theme.css')) exchange.head(200, { 'content-type': 'text/css' }).end();
      else if (target.includes('/actions/')) exchange.json(200, { message: 'Saved.' });
      else exchange.json(200, { id: 'form', title: 'A form', html });
    });
    toolkit = createToolkit({ serviceApiUrl: upstream.origin, serviceApiKey: 'key', telemetry: 'silent' });
    const handler = createNodeHandler({ toolkit });
    site = await listeningSite((request, response) => {
      handler(request, response, () => response.writeHead(404).end());
    });
  });
  afterAll(async () => {
    await site.close();
    await toolkit.close();
    await upstream.close();
  });
  beforeEach(() => {
    upstream.requests.length = 0;
  });

  /** The test page on the site above, with its strict policy. */
  async function visitForm(markup: string, options?: ComponentVisitOptions): Promise<ComponentVisit> {
    html = markup;
    const visit = await browser.visit(options);
    await visit.page.goto(`${site.url}/page/`);
    await visit.isReady();
    await visit.show('ServiceSurface', { surfaceId: 'form' });
    await visit.page.locator('.service-surface[aria-busy=false]').waitFor();
    return visit;
  }

  async function save({ page }: ComponentVisit): Promise<void> {
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
  }

  it(`submits fields of ${FIELD_NAMES.length} names, with their labels, ids and images`, async () => {
    const rows = FIELD_NAMES.map((name, index) => {
      const id = quoted(name);
      return `<label for=${id}>${index}</label><input name=${id} id=${id} value="v${index}"><img name=${id} alt="">`;
    });
    const visit = await visitForm(`<form data-action="save">${rows.join('')}${SAVE}</form>`);
    // The test library reads forms by their properties, which are fields here.
    const labelled = await visit.page.locator('.service-surface-host').evaluate((host) => {
      const root = host.shadowRoot?.querySelector('div > div')?.shadowRoot;
      const labels = [...(root?.querySelectorAll('label') ?? [])];
      (labels[3]?.control as HTMLInputElement | undefined)?.select();
      return labels.map(({ control }) => control?.getAttribute('value'));
    });
    expect(labelled).toEqual(FIELD_NAMES.map((_name, index) => `v${index}`));
    await visit.page.keyboard.type('typed');
    await visit.page.keyboard.press('Enter');
    await visit.page.getByText('Saved.').waitFor();
    const [sent] = received() as readonly [{ readonly fields: object }];
    const expected = FIELD_NAMES.map((name, index) => [name, index === 3 ? 'typed' : `v${index}`] as const);
    expect(Object.fromEntries(Object.entries(sent.fields))).toEqual(Object.fromEntries(expected));
    expect(Object.keys(sent.fields)).toHaveLength(FIELD_NAMES.length);
  });

  it('submits every type of input as filled in', async () => {
    const inputs = Object.entries(FILLED).map(
      ([type, [attributes]]) => `<input type="${type}" name="${type}" aria-label="of ${type}" ${attributes}>`,
    );
    const visit = await visitForm(`<form data-action="save">${inputs.join('')}
      <input type="checkbox" name="checkbox" value="yes" aria-label="Check"><input type="checkbox" name="unchecked">
      <input type="radio" name="radio" value="a"><input type="radio" name="radio" value="b" aria-label="Radio">
      <select name="select" multiple aria-label="Select"><option>1<option>2<option>3</select>
      <textarea name="textarea" aria-label="Area"></textarea><input type="hidden" name="hidden" value="h">${SAVE}</form>`);
    const { page } = visit;
    for (const [type, [, value]] of Object.entries(FILLED))
      await page.getByLabel(`of ${type}`, { exact: true }).fill(value);
    await page.getByLabel('Check').check();
    await page.getByLabel('Radio').check();
    await page.getByLabel('Select').selectOption(['1', '3']);
    await page.getByLabel('Area').fill('two\nlines');
    await save(visit);
    const typed = Object.fromEntries(Object.entries(FILLED).map(([type, [, value]]) => [type, value]));
    expect(received()).toEqual([
      {
        fields: { ...typed, checkbox: 'yes', radio: 'b', select: ['1', '3'], textarea: 'two\nlines', hidden: 'h' },
      },
    ]);
  });

  it.each(Object.entries(FORMS))('submits %s', async (_what, [markup, fields]) => {
    const visit = await visitForm(markup);
    await save(visit);
    expect(JSON.stringify(received())).toBe(JSON.stringify([{ fields }]));
  });

  it('submits with Enter, by the first button, and validates first', async () => {
    const visit = await visitForm(
      '<form data-action="save"><input name="a" aria-label="A" required><button name="b" value="1">One</button><button name="b" value="2">Two</button></form>',
    );
    const field = visit.page.getByLabel('A');
    await field.press('Enter');
    expect(received()).toEqual([]);
    await field.fill('x');
    await field.press('Enter');
    await visit.page.getByText('Saved.').waitFor();
    expect(received()).toEqual([{ fields: { a: 'x', b: '1' } }]);
  });

  it('closes a dialog whose form has no action, without a request', async () => {
    const visit = await visitForm('<dialog open><form method="dialog"><button>Close</button></form></dialog>');
    await visit.page.getByRole('button', { name: 'Close' }).click();
    await visit.page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(upstream.requests.filter(({ target }) => target.includes('/actions/'))).toEqual([]);
    expect(new URL(visit.page.url()).search).toBe('');
  });

  it('refuses a file at once, names its field, and keeps what else was filled in', async () => {
    const visit = await visitForm(
      `<form data-action="save"><label>Photo of the door <input type="file" name="photo"></label><input name="a" aria-label="A">${SAVE}</form>`,
    );
    await visit.page.getByLabel('A').fill('kept');
    const chosen = { name: 'door.png', mimeType: 'image/png', buffer: Buffer.from('x') };
    await visit.page.getByLabel('Photo of the door').setInputFiles(chosen);
    await visit.alert.filter({ hasText: 'Photo of the door: The file cannot be sent.' }).waitFor();
    expect(await visit.page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    expect(await visit.page.getByLabel('Photo of the door').inputValue()).toBe('');
    await save(visit);
    expect(received()).toEqual([{ fields: { a: 'kept' } }]);
  });

  it('has no control wider than its widget at 390 px, and a colour field shows its colour', async () => {
    const types = [...Object.keys(FILLED), 'checkbox', 'radio', 'file', 'submit', 'button', 'reset', 'image'];
    const inputs = types.map((type) => `<p><input type="${type}" size="80" aria-label="of ${type}"></p>`).join('');
    const visit = await visitForm(
      `<form>${inputs}<fieldset><legend>L</legend><select><option>${'wide '.repeat(40)}</select></fieldset>
        <textarea cols="90"></textarea><progress style="width: 900px"></progress></form>`,
      { viewport: { width: 390, height: 844 } },
    );
    const { page } = visit;
    const wide = await page
      .locator('.service-surface :is(input, select, textarea, fieldset, progress)')
      .evaluateAll((all) =>
        all.filter((control) => control.getBoundingClientRect().right > innerWidth).map(({ outerHTML }) => outerHTML),
      );
    expect(wide).toEqual([]);
    const colour = page.getByLabel('of color');
    await colour.fill('#ff0000');
    const box = await colour.evaluate((input) => {
      const { paddingLeft, paddingTop, borderLeftWidth, width, height } = getComputedStyle(input);
      const inner = (side: string, padding: string): number =>
        Number.parseFloat(side) - 2 * (Number.parseFloat(padding) + Number.parseFloat(borderLeftWidth));
      return [inner(width, paddingLeft), inner(height, paddingTop)];
    });
    expect(Math.min(...box)).toBeGreaterThan(20);
  });
});
