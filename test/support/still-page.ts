import type { Page } from 'playwright-core';

/** Resolves when all fades have ended. During a fade, axe would report a contrast that is too low. */
export async function untilStill(page: Page): Promise<void> {
  await page.waitForFunction(() => document.getAnimations().every((one) => !(one instanceof CSSTransition)));
}
