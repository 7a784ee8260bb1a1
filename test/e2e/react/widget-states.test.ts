import type { Route } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { type ComponentVisit, describeInBrowsers } from '../../support/component-browser.js';
import { type FormSite, startFormSite } from '../../support/form-site.js';

const RENDER = '**/api/service-surfaces/*/render';
const ACTION = '**/api/service-surfaces/*/actions/*';

/** Holds requests until it is opened. */
function gate() {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

describeInBrowsers('a widget', { wordMs: 5 }, (browser) => {
  it('shows the state after an action, though an older render arrives later', async () => {
    const visit = await browser.visit();
    const { page } = visit;
    const late = gate();
    let [state, isLate] = ['old', false];
    await page.route(RENDER, async (route) => {
      const html = `<p>State: ${state}</p><button data-action="save">Save</button>`;
      if (isLate && state === 'old') await late.opened;
      await route.fulfill({ json: { id: 'w', title: 'T', html } });
    });
    await page.route(ACTION, (route) => {
      state = 'new';
      return route.fulfill({ json: { message: 'Saved.' } });
    });
    await visit.show('ServiceSurface', { surfaceId: 'w' });
    await page.getByText('State: old').waitFor();
    isLate = true;
    const asked = page.waitForRequest(RENDER);
    const refreshed = visit.handle('refresh');
    await asked;
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    late.open();
    await refreshed;
    expect(await page.getByText('State:').innerText()).toBe('State: new');
  });

  it('shows no message of the widget that was in its place', async () => {
    const visit = await browser.visit();
    const { page } = visit;
    await page.route(RENDER, (route) => {
      const [, id = ''] = /([^/]+)\/render$/.exec(route.request().url()) ?? [];
      return route.fulfill({
        json: { id, title: id, html: `<p>This is ${id}</p><button data-action="x">Cancel</button>` },
      });
    });
    await page.route(ACTION, (route) => route.fulfill({ json: { message: 'Order 17 is cancelled.' } }));
    await visit.show('ServiceSurface', { surfaceId: 'order-17' });
    await page.getByRole('button', { name: 'Cancel' }).click();
    const message = page.getByText('Order 17 is cancelled.');
    await message.waitFor();
    await visit.show('ServiceSurface', { surfaceId: 'order-18' });
    await page.getByText('This is order-18').waitFor();
    expect(await message.count()).toBe(0);
  });

  describe('with a form', () => {
    let site: FormSite;
    beforeAll(async () => {
      site = await startFormSite();
    });
    afterAll(() => site.close());
    beforeEach(() => site.forget());

    async function visitForm(html: string): Promise<ComponentVisit> {
      site.html = html;
      const visit = await browser.visit();
      await visit.page.goto(`${site.url}/page/`);
      await visit.isReady();
      await visit.show('ServiceSurface', { surfaceId: 'form' });
      await visit.page.locator('.service-surface[aria-busy=false]').waitFor();
      return visit;
    }
    const fail = (route: Route): Promise<void> => route.fulfill({ status: 503, json: { detail: 'Busy.' } });
    const saved = ({ page }: ComponentVisit): Promise<void> => page.getByText('Saved.').waitFor();

    it('that could not be submitted keeps its text, and "Try again" submits what it contains', async () => {
      const visit = await visitForm(
        '<form data-action="save"><input name="a" aria-label="A"><button>Send</button></form>',
      );
      const { page } = visit;
      await page.route(ACTION, fail, { times: 1 });
      const field = page.getByLabel('A');
      await field.fill('A long complaint');
      await page.getByRole('button', { name: 'Send' }).click();
      await visit.alert.waitFor();
      await field.press('End');
      await field.pressSequentially('!');
      const again = page.getByRole('button', { name: 'Try again' });
      await again.focus();
      await page.keyboard.press('Enter');
      await page.locator('.service-surface:focus').waitFor();
      await saved(visit);
      expect(site.received()).toEqual([{ fields: { a: 'A long complaint!' } }]);
      expect(await field.inputValue()).toBe('');
    });

    it('keeps the text that is typed while an action runs, and empties the rest', async () => {
      const visit = await visitForm(
        `<form data-action="save"><input name="note" aria-label="Note"><input name="other" aria-label="Other">
        <textarea name="row" aria-label="Row 1"></textarea><textarea name="row" aria-label="Row 2"></textarea><button>Add</button></form>`,
      );
      const { page } = visit;
      const running = gate();
      await page.route(ACTION, (route) => running.opened.then(() => route.continue()));
      const [note, other] = [page.getByLabel('Note'), page.getByLabel('Other')];
      await other.fill('sent');
      await note.fill('milk');
      const submitted = page.waitForRequest(ACTION);
      await note.press('Enter');
      await submitted;
      await page.getByLabel('Row 1').fill('A row may be another one in the next state.');
      await note.fill('bread');
      running.open();
      await saved(visit);
      expect(site.received()).toEqual([{ fields: { note: 'milk', other: 'sent', row: ['', ''] } }]);
      expect(await note.inputValue()).toBe('bread');
      expect(await other.inputValue()).toBe('');
      expect(await page.getByLabel('Row 1').inputValue()).toBe('');
      await note.press('Enter');
      await expect.poll(() => site.received().length).toBe(2);
      expect(site.received()[1]).toEqual({ fields: { note: 'bread', other: '', row: ['', ''] } });
    });

    it('keeps the text that is typed before the page refreshes it', async () => {
      const visit = await visitForm(
        '<form data-action="save"><input name="a" aria-label="A"><button>Send</button></form>',
      );
      await visit.page.getByLabel('A').fill('Typed');
      await visit.handle('refresh');
      expect(await visit.page.getByLabel('A').inputValue()).toBe('Typed');
    });
  });
});
