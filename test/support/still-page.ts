import type { Page } from 'playwright-core';

/** Resolves when nothing fades any more: half-way, a text has a contrast that nobody reads it in. */
export async function untilStill(page: Page): Promise<void> {
  await page.waitForFunction(() => document.getAnimations().every((one) => !(one instanceof CSSTransition)));
}
