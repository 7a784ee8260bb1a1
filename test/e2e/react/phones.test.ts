import { describe, expect, it } from 'vitest';

import { type ComponentBrowser, type ComponentVisit, describeInBrowsers } from '../../support/component-browser.js';

/** Touch and a mobile window are emulated in Chromium only. */
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const PROMPT = 'Where is my parcel?';

async function openFloating(browser: ComponentBrowser, options: object = PHONE): Promise<ComponentVisit> {
  const visit = await browser.visit(options);
  await visit.page.evaluate(() => {
    document.body.style.height = '3000px';
    document.body.append(Object.assign(document.createElement('button'), { textContent: 'A button of the page' }));
  });
  await visit.show('A2AChatFloating', { panelTitle: 'Ask us', suggestedPrompts: [PROMPT] });
  await visit.page.getByRole('button', { name: 'Ask us' }).click();
  await visit.input.waitFor();
  return visit;
}

const focused = ({ page }: ComponentVisit): Promise<string> =>
  page.evaluate(() => document.activeElement?.getAttribute('role') ?? document.activeElement?.localName ?? '');
const isModal = ({ page }: ComponentVisit): Promise<boolean> =>
  page.locator('.a2a-floating').evaluate((panel) => panel.matches(':modal'));

describeInBrowsers('the chat on a phone', { wordMs: 0, slowStepMs: 20, inEveryEngine: false }, (browser) => {
  describe('Return', () => {
    it.each([
      [{}, 'Enter', 'Hello\n'],
      [{ enterSends: true }, 'Enter', ''],
      [{}, 'Control+Enter', ''],
    ])('with %j, %s leaves %j in the field', async (props, key, left) => {
      const visit = await browser.visit(PHONE);
      await visit.show('A2AChat', props);
      await visit.input.fill('Hello');
      await visit.input.press(key);
      await expect.poll(() => visit.input.inputValue()).toBe(left);
      expect(await visit.page.locator('.a2a-message-user').count()).toBe(left === '' ? 1 : 0);
    });

    it('makes a new line beside a mouse too, with enterSends={false}', async () => {
      const visit = await browser.visit();
      await visit.show('A2AChat', { enterSends: false });
      await visit.input.pressSequentially('Hello');
      await visit.input.press('Enter');
      expect(await visit.input.inputValue()).toBe('Hello\n');
    });
  });

  it('a tapped button moves the focus to the conversation, so that no keyboard opens', async () => {
    const visit = await browser.visit(PHONE);
    await visit.show('A2AChat', { suggestedPrompts: ['slow'] });
    await visit.page.getByRole('button', { name: 'slow' }).tap();
    await visit.page.getByRole('button', { name: 'Stop' }).waitFor();
    expect(await focused(visit)).toBe('log');
    await visit.page.getByRole('button', { name: 'Stop' }).tap();
    await visit.agentMessage.filter({ hasText: 'Stopped.' }).waitFor();
    expect(await focused(visit)).toBe('log');
    await visit.page.getByRole('button', { name: 'New conversation' }).tap();
    expect(await focused(visit)).toBe('log');
  });

  describe('a panel that fills the window', () => {
    it('keeps focus and scrolling in it, until it closes', async () => {
      const visit = await openFloating(browser);
      await expect.poll(() => isModal(visit)).toBe(true);
      expect(await focused(visit)).toBe('textarea');
      for (let count = 0; count < 12; count += 1) {
        await visit.page.keyboard.press('Tab');
        const isOutside = await visit.page.evaluate(
          () => document.activeElement?.closest('dialog') === null && document.activeElement !== document.body,
        );
        expect(isOutside).toBe(false);
      }
      await visit.page.mouse.move(195, 20);
      await visit.page.mouse.wheel(0, 500);
      await visit.page.evaluate(() => new Promise(requestAnimationFrame));
      expect(await visit.page.evaluate(() => getComputedStyle(document.documentElement).overflow)).toBe('hidden');
      expect(await visit.page.evaluate(() => scrollY)).toBe(0);
      expect(await visit.axe()).toEqual([]);
      await visit.page.getByRole('button', { name: 'Close chat' }).tap();
      expect(await isModal(visit)).toBe(false);
      await visit.page.locator('.a2a-fab:focus').waitFor();
      expect(await visit.page.evaluate(() => getComputedStyle(document.documentElement).overflow)).toBe('visible');
    });

    it('opens modally each time, and lets go of the page when it is removed', async () => {
      const visit = await openFloating(browser);
      await expect.poll(() => isModal(visit)).toBe(true);
      await visit.page.keyboard.press('Escape');
      await visit.page.getByRole('button', { name: 'Ask us' }).tap();
      await expect.poll(() => isModal(visit)).toBe(true);
      await visit.show('A2AChat');
      await visit.page.getByRole('button', { name: 'A button of the page' }).tap();
    });

    it('stays open when no file is chosen, and closes with the “back” of the phone', async () => {
      const visit = await openFloating(browser);
      await expect.poll(() => isModal(visit)).toBe(true);
      await visit.page
        .locator('input[type=file]')
        .evaluate((field) => field.dispatchEvent(new Event('cancel', { bubbles: true })));
      expect(await isModal(visit)).toBe(true);
      await visit.page.locator('.a2a-floating').evaluate((panel: HTMLDialogElement) => panel.requestClose());
      await visit.page.getByRole('dialog').waitFor({ state: 'hidden' });
      await visit.page.locator('.a2a-fab:focus').waitFor();
    });

    it('is modal while the window is small, and keeps focus and text when that changes', async () => {
      const visit = await openFloating(browser, { viewport: { width: 900, height: 700 } });
      await visit.input.pressSequentially('Half a');
      expect(await isModal(visit)).toBe(false);
      for (const [width, expected] of [
        [400, true],
        [900, false],
        [400, true],
      ] as const) {
        await visit.page.setViewportSize({ width, height: 700 });
        await expect.poll(() => isModal(visit)).toBe(expected);
        expect(await focused(visit)).toBe('textarea');
      }
      await visit.page.keyboard.type(' word');
      expect(await visit.input.inputValue()).toBe('Half a word');
    });

    it('can be closed after the chat has failed', async () => {
      const visit = await browser.visit(PHONE);
      await visit.page.evaluate(() => {
        const shown = { panelTitle: 'Ask us', suggestedPrompts: [{}] };
        (globalThis as unknown as { show: (name: string, props: object) => void }).show('A2AChatFloating', shown);
      });
      await visit.page.getByRole('button', { name: 'Ask us' }).tap();
      await visit.page.getByRole('button', { name: 'Close chat' }).tap();
      await visit.page.getByRole('dialog').waitFor({ state: 'hidden' });
    });
  });

  it('the icons stand above the texts, which are as wide as the screen allows', async () => {
    const visit = await browser.visit({ viewport: { width: 320, height: 640 } });
    await visit.show('A2AChat');
    await visit.ask('A long question that is broken into several lines on a screen that is as narrow as this one');
    for (const [who, side] of [
      ['user', 'right'],
      ['agent', 'left'],
    ] as const) {
      const [icon, bubble, list] = await Promise.all(
        [`.a2a-message-${who} .a2a-avatar`, `.a2a-message-${who} .a2a-bubble`, '.a2a-messages'].map((selector) =>
          visit.page.locator(selector).evaluate((element) => element.getBoundingClientRect()),
        ),
      );
      expect(icon?.bottom).toBeLessThanOrEqual(bubble?.top ?? 0);
      expect(Math.abs((bubble?.[side] ?? 0) - (list?.[side] ?? 0))).toBeLessThanOrEqual(18);
    }
  });
});
