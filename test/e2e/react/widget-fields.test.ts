import { fileURLToPath } from 'node:url';

import { beforeEach, expect, it } from 'vitest';

import { describeInEngines } from '../../support/engines/engine-suite.js';
import type { EngineVisit } from '../../support/engines/engine-visit.js';
import { FIELD_NAMES, FILLED, quoted } from '../../support/field-names.js';
import { type FormSite, startFormSite } from '../../support/form-site.js';

const SAVE = '<button>Save</button>';
// By role, Playwright would read forms by their properties.
const SAVED = { css: '.service-surface', text: 'Saved.' } as const;
const THIS_FILE = fileURLToPath(import.meta.url);

let site: FormSite;

async function startSite(): Promise<FormSite> {
  site = await startFormSite();
  return site;
}

describeInEngines('the fields of a widget', { startSite }, (visits) => {
  beforeEach(() => site.forget());

  async function visitForm(html: string): Promise<EngineVisit> {
    site.html = html;
    const visit = await visits.visit();
    await visit.show('ServiceSurface', { surfaceId: 'form' });
    await visit.page.see({ css: '.service-surface[aria-busy=false]' });
    return visit;
  }

  async function save({ page }: EngineVisit): Promise<void> {
    await page.click({ role: 'button', name: 'Save' });
    await page.see(SAVED);
  }

  it(`submits fields of ${FIELD_NAMES.length} names, with their labels, ids and images`, async () => {
    const rows = FIELD_NAMES.map((name, index) => {
      const id = quoted(name);
      return `<label for=${id}>${index}</label><input name=${id} id=${id} value="v${index}"><img name=${id} alt="">`;
    });
    const visit = await visitForm(`<form data-action="save">${rows.join('')}${SAVE}</form>`);
    // Scripts read forms by their properties, which are fields here; so the field is found by its label.
    const labelled = await visit.page.on(
      { css: '.service-surface-host' },
      (host) => {
        const root = host.shadowRoot?.querySelector('div > div')?.shadowRoot;
        const labels = [...(root?.querySelectorAll('label') ?? [])];
        (labels[3]?.control as HTMLInputElement | undefined)?.select();
        return labels.map(({ control }) => control?.getAttribute('value'));
      },
      null,
    );
    expect(labelled).toEqual(FIELD_NAMES.map((_name, index) => `v${index}`));
    await visit.page.type('typed');
    await visit.page.press('Enter');
    await visit.page.see(SAVED);
    const [sent] = site.received() as readonly [{ readonly fields: object }];
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
      await page.fill({ css: `[aria-label="of ${type}"]` }, value);
    await page.click({ css: '[aria-label=Check]' });
    await page.click({ css: '[aria-label=Radio]' });
    await page.on(
      { css: 'select' },
      (list) =>
        [0, 2].forEach((index) => (((list as HTMLSelectElement).options[index] as HTMLOptionElement).selected = true)),
      null,
    );
    await page.click({ css: '[aria-label=Area]' });
    await page.type('two');
    await page.press('Enter');
    await page.type('lines');
    await save(visit);
    const typed = Object.fromEntries(Object.entries(FILLED).map(([type, [, value]]) => [type, value]));
    expect(site.received()).toEqual([
      {
        fields: { ...typed, checkbox: 'yes', radio: 'b', select: ['1', '3'], textarea: 'two\nlines', hidden: 'h' },
      },
    ]);
  });

  it('refuses a file at once, names its field, and keeps what else was filled in', async () => {
    const visit = await visitForm(
      `<form data-action="save"><label>Photo of the door <input type="file" name="photo"></label><input name="a" aria-label="A">${SAVE}</form>`,
    );
    const { page } = visit;
    await page.fill({ css: '[aria-label=A]' }, 'kept');
    await page.choose({ css: '[type=file]' }, THIS_FILE);
    await page.see({ role: 'alert', text: 'Photo of the door: The file cannot be sent.' });
    expect(await page.count({ role: 'button', name: 'Try again' })).toBe(0);
    expect(await page.on({ css: '[type=file]' }, (field) => (field as HTMLInputElement).files?.length, null)).toBe(0);
    await save(visit);
    expect(site.received()).toEqual([{ fields: { a: 'kept' } }]);
  });
});
