import { type Browser, chromium } from 'playwright-core';

import { programPath } from './program-path.js';

const ARGUMENTS = [
  // The sandbox and /dev/shm are often missing in containers. The other flags keep the browser off the network.
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const WHOLE = ['chromium', 'chromium-browser', 'google-chrome'];

/**
 * Chromium without its windows, which takes half the time of the whole browser, or `CHROMIUM_PATH`; undefined if neither
 * is found.
 */
export function findChromium(): string | undefined {
  return programPath('CHROMIUM_PATH', ['chromium-headless-shell', ...WHOLE]);
}

/** The browser that visitors have, or `CHROMIUM_PATH`; undefined if not found. */
export function findWholeChromium(): string | undefined {
  return programPath('CHROMIUM_PATH', WHOLE);
}

/** Starts a headless browser that can only reach this machine. */
export async function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, headless: true, args: ARGUMENTS });
}
