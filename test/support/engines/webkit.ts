import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { EnginePage, PageOptions, RunningEngine } from './engine-page.js';
import { startDisplay } from './processes.js';
import { type Call, CALL_MS, startWebDriver, WebDriverError } from './web-driver.js';
import { WebDriverPage } from './web-driver-page.js';

/** A browser that has not started by then never does, and its driver must start another one. */
const START_MS = 20_000;
const STARTS = 3;

/** Lets the window be as narrow as a phone; GTK's own toolbar is at least 447 px wide. */
const NARROW = 'window * { min-width: 0; min-height: 0; padding: 0; margin: 0; border-width: 0; font-size: 1px; }';

const ENVIRONMENT = {
  // Containers lack what the sandbox needs, and a graphics card.
  WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
  LIBGL_ALWAYS_SOFTWARE: '1',
  WEBKIT_DISABLE_COMPOSITING_MODE: '1',
  GDK_BACKEND: 'x11',
  NO_AT_BRIDGE: '1',
};

/** WebKitGTK's own browser, by its WebDriver, on a display of its own. */
export async function launchWebKitGtk(driver: string, xvfb: string): Promise<RunningEngine> {
  const settings = mkdtempSync(join(tmpdir(), 'webkit-'));
  const display = await startDisplay(xvfb, settings);
  mkdirSync(join(settings, 'gtk-3.0'));
  writeFileSync(join(settings, 'gtk-3.0/gtk.css'), NARROW);
  const env = { ...ENVIRONMENT, DISPLAY: display.name, XDG_CONFIG_HOME: settings };
  const stopped = async (): Promise<void> => {
    await display.stop();
    rmSync(settings, { recursive: true });
  };
  return webKit(driver, env, 'WebKitWebProcess', dark, stopped, join(settings, 'Xvfb_screen0'));
}

function dark({ colorScheme }: PageOptions): object {
  const args = ['--automation', ...(colorScheme === 'dark' ? ['--dark-mode'] : [])];
  return { 'webkitgtk:browserOptions': { args } };
}

/** WPE, without a display, in a window of 800 × 600. */
export async function launchWpe(driver: string, cog: string): Promise<RunningEngine> {
  const options = { binary: cog, args: ['--automation', '--platform=headless'] };
  return webKit(
    driver,
    ENVIRONMENT,
    'WPEWebProcess',
    () => ({ 'wpe:browserOptions': options }),
    () => Promise.resolve(),
  );
}

async function webKit(
  program: string,
  env: NodeJS.ProcessEnv,
  renderer: string,
  capabilities: (options: PageOptions) => object,
  stopped: () => Promise<unknown>,
  screen?: string,
): Promise<RunningEngine> {
  let driver = await startWebDriver(program, env);
  const session = async (options: PageOptions): Promise<{ readonly version: string; readonly page: EnginePage }> => {
    const timeouts = { script: CALL_MS - 5_000, pageLoad: CALL_MS - 5_000 };
    const alwaysMatch = { timeouts, ...capabilities(options) };
    for (let starts = 1; ; starts += 1) {
      const current = driver;
      try {
        const { sessionId, capabilities: given } = await current.call<{
          readonly sessionId: string;
          readonly capabilities: { readonly browserVersion: string };
        }>('POST', '/session', { capabilities: { alwaysMatch } }, START_MS);
        const call: Call = (method, path, body) => current.call(method, `/session/${sessionId}${path}`, body);
        return { version: given.browserVersion, page: new WebDriverPage(call, renderer, screen) };
      } catch (error) {
        if (starts === STARTS || !(error instanceof WebDriverError && error.code === 'no answer')) throw error;
        await current.stop();
        driver = await startWebDriver(program, env);
      }
    }
  };
  const first = await session({});
  await first.page.close();
  return {
    version: first.version,
    newPage: async ({ width = 800, height = 600, ...options }: PageOptions = {}) => {
      const { page } = await session(options);
      await page.resize({ width, height });
      return page;
    },
    close: async () => {
      await driver.stop();
      await stopped();
    },
  };
}
