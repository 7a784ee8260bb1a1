import { type Browser, firefox } from 'playwright-core';

import { programPath } from './program-path.js';

/** The browser's executable, or `FIREFOX_PATH`; undefined if not found. */
export function findFirefox(): string | undefined {
  return programPath('FIREFOX_PATH', ['firefox-esr', 'firefox']);
}

/**
 * Starts a headless Firefox from Debian. Playwright drives it over WebDriver BiDi. From 1.65 on, Playwright needs
 * a command that Firefox 153 does not have, `emulation.setMediaFeaturesOverride`, for every page.
 */
export async function launchFirefox(executablePath: string, colours: 'light' | 'dark' | 'forced'): Promise<Browser> {
  return firefox.launch({
    executablePath,
    channel: 'moz-firefox',
    headless: true,
    firefoxUserPrefs: {
      // Over BiDi, a context cannot set its colours. 0 is dark, 1 is light; 2 forces the colours of the system.
      'layout.css.prefers-color-scheme.content-override': colours === 'dark' ? 0 : 1,
      ...(colours === 'forced' && { 'browser.display.document_color_use': 2 }),
      // Playwright loses a page that the browser restores from its back/forward cache.
      'browser.sessionhistory.max_total_viewers': 0,
      // Tests may read the clipboard.
      'dom.events.testing.asyncClipboard': true,
    },
  });
}
