// Chromium for the package tests: of the machine, or at CHROMIUM_PATH.
import assert from 'node:assert/strict';
import { execSync } from 'node:child_process';
import { chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** With these options of Playwright. */
export async function openBrowser(options = {}) {
  const executablePath =
    process.env.CHROMIUM_PATH || execSync(`command -v ${NAMES.join(' ')} | head -1`, { encoding: 'utf8' }).trim();
  assert.notEqual(executablePath, '', 'Install chromium, or set CHROMIUM_PATH.');
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'], ...options });
}

/** The errors of a page and its console, with the address. Collects from now on. */
export function problemsOf(tab) {
  const problems = [];
  tab.on('pageerror', ({ message }) => problems.push(message));
  tab.on(
    'console',
    (message) => message.type() === 'error' && problems.push(`${message.text()} ${message.location().url}`),
  );
  return problems;
}
