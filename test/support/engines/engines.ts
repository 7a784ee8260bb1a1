import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { findWholeChromium, launchChromium } from '../chromium.js';
import { findFirefox, launchFirefox } from '../firefox.js';
import { programPath } from '../program-path.js';
import type { Engine } from './engine-page.js';
import { playwrightEngine } from './playwright-engine.js';
import { launchWebKitGtk, launchWpe } from './webkit.js';

const CHROME_123 = fileURLToPath(new URL('../../../temp/chrome-123/chrome', import.meta.url));

const chromium = findWholeChromium();
const firefox = findFirefox();
const webKitDriver = programPath('WEBKIT_DRIVER_PATH', ['WebKitWebDriver']);
const xvfb = programPath('XVFB_PATH', ['Xvfb']);
const wpeDriver = programPath('WPE_DRIVER_PATH', ['WPEWebDriver']);
const cog = programPath('COG_PATH', ['cog']);
const chrome123 = existsSync(CHROME_123) ? CHROME_123 : undefined;

/** The engines that `.ci/run` has: one of each kind. */
export const ENGINES: readonly Engine[] = [
  {
    name: 'WebKitGTK',
    isSupported: true,
    missing: missing('webkit2gtk-driver and xvfb', webKitDriver, xvfb),
    launch: () => launchWebKitGtk(webKitDriver ?? '', xvfb ?? ''),
  },
  {
    name: 'Firefox',
    isSupported: true,
    missing: missing('firefox-esr', firefox),
    launch: () => playwrightEngine((colorScheme) => launchFirefox(firefox ?? '', colorScheme), '-contentproc'),
  },
  {
    name: 'Chromium',
    isSupported: true,
    missing: missing('chromium', chromium),
    launch: () => playwrightEngine(() => launchChromium(chromium ?? ''), '--type=renderer'),
  },
];

/** The oldest ones available: the first supported Chrome, and a WebKit older than the first supported Safari. */
export const OLDEST_ENGINES: readonly Engine[] = [
  {
    name: 'Chrome 123',
    isSupported: true,
    missing: missing('it with npm run test:engines, which downloads it', chrome123),
    launch: () => playwrightEngine(() => launchChromium(chrome123 ?? ''), '--type=renderer'),
  },
  {
    name: 'WPE',
    isSupported: false,
    missing: missing('wpewebkit-driver and cog', wpeDriver, cog),
    launch: () => launchWpe(wpeDriver ?? '', cog ?? ''),
  },
];

function missing(packages: string, ...programs: readonly (string | undefined)[]): string | undefined {
  return programs.includes(undefined) ? `install ${packages}` : undefined;
}
