import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';

import {
  type ComponentVisit,
  type ComponentVisitOptions,
  describeInBrowsers,
} from '../../support/component-browser.js';
import { FILLED } from '../../support/field-names.js';
import { type FormSite, startFormSite } from '../../support/form-site.js';

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

describeInBrowsers('a form of a widget', { wordMs: 5 }, (browser) => {
  let site: FormSite;
  beforeAll(async () => {
    site = await startFormSite();
  });
  afterAll(() => site.close());
  beforeEach(() => site.forget());

  /** The test page on the site above, with its strict policy. */
  async function visitForm(markup: string, options?: ComponentVisitOptions): Promise<ComponentVisit> {
    site.html = markup;
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

  it.each(Object.entries(FORMS))('submits %s', async (_what, [markup, fields]) => {
    const visit = await visitForm(markup);
    await save(visit);
    expect(JSON.stringify(site.received())).toBe(JSON.stringify([{ fields }]));
  });

  it('submits with Enter, by the first button, and validates first', async () => {
    const visit = await visitForm(
      '<form data-action="save"><input name="a" aria-label="A" required><button name="b" value="1">One</button><button name="b" value="2">Two</button></form>',
    );
    const field = visit.page.getByLabel('A');
    await field.press('Enter');
    expect(site.received()).toEqual([]);
    await field.fill('x');
    await field.press('Enter');
    await visit.page.getByText('Saved.').waitFor();
    expect(site.received()).toEqual([{ fields: { a: 'x', b: '1' } }]);
  });

  it('closes a dialog whose form has no action, without a request', async () => {
    const visit = await visitForm('<dialog open><form method="dialog"><button>Close</button></form></dialog>');
    await visit.page.getByRole('button', { name: 'Close' }).click();
    await visit.page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(site.targets().filter((target) => target.includes('/actions/'))).toEqual([]);
    expect(new URL(visit.page.url()).search).toBe('');
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
