import { generateKeyPairSync } from 'node:crypto';

import type { Browser, Locator, Page, Request, Response } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { type Platform, startPlatform } from '../../examples/platform/start-platform.js';
import { type Site, startSite } from '../../examples/site/start-site.js';
import { findChromium, launchChromium } from '../support/chromium.js';

const chromiumPath = findChromium();
const LAST_WORDS = 'to your browser.';

describe.skipIf(chromiumPath === undefined)('the demo in a browser', { timeout: 30_000 }, () => {
  let platform: Platform;
  let site: Site;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    platform = await startPlatform({ wordMs: 40 });
    platform.registerKey('key-1', publicKey, 'site-1');
    site = await startSite({
      port: 0,
      a2aUrl: platform.a2aUrl,
      serviceApiUrl: platform.serviceApiUrl,
      serviceAccount: { serviceAccountId: 'site-1', keyId: 'key-1', privateKeyPem: privateKey },
    });
    browser = await launchChromium(chromiumPath ?? '');
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    await site?.close();
    await platform?.close();
  });

  beforeEach(async () => {
    // A context of its own: nothing in its cache.
    page = await browser.newPage();
    page.setDefaultTimeout(10_000);
  });

  afterEach(async () => {
    await page.close();
    // The switch belongs to the site, not to the page: a failed test must not break the ones after it.
    await post('/demo/credential', { broken: false });
  });

  const lastAnswer = (): Locator => page.locator('.agent').last();
  const alert = (): Locator => page.getByRole('alert');
  const credentialSwitch = (): Locator => page.getByRole('switch', { name: 'Break the credential' });

  async function openPage(): Promise<void> {
    await page.goto(site.url);
    // Until the page knows the state of the switch, the switch is disabled.
    await page.locator('#break-credential:enabled').waitFor();
  }

  async function post(path: string, body: unknown): Promise<unknown> {
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
    const response = await fetch(site.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    return response.json();
  }

  async function taskState(id: string): Promise<string> {
    const answer = await post('/api/a2a', { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id } });
    return (answer as { result: { status: { state: string } } }).result.status.state;
  }

  async function send(text: string): Promise<void> {
    await page.getByRole('textbox', { name: 'Message' }).fill(text);
    await page.keyboard.press('Enter');
  }

  async function setCredentialBroken(broken: boolean): Promise<void> {
    const answered = page.waitForResponse(isAnswerOfSwitch);
    await credentialSwitch().setChecked(broken);
    expect(await (await answered).json()).toEqual({ broken });
  }

  it('shows the first words while the answer is still being written', async () => {
    await openPage();
    await send('Is anybody there?');
    await lastAnswer().filter({ hasText: 'You said' }).waitFor();

    const firstWords = (await lastAnswer().textContent()) ?? '';
    expect(platform.openStreams).toBe(1);
    expect(await lastAnswer().getAttribute('aria-busy')).toBe('true');
    expect(firstWords).not.toContain(LAST_WORDS);

    await lastAnswer().filter({ hasText: LAST_WORDS }).waitFor();
    expect((await lastAnswer().textContent())?.startsWith(firstWords)).toBe(true);
    await page.locator('.agent:not([aria-busy])').waitFor();
    expect(await lastAnswer().textContent()).toContain('“Is anybody there?”');
  });

  it('stops the answer and cancels the task when the visitor presses Stop', async () => {
    await openPage();
    await send('slow');
    await lastAnswer().filter({ hasText: 'Counting' }).waitFor();
    const cancelRequest = page.waitForRequest(isCallOf('CancelTask'));
    await page.getByRole('button', { name: 'Stop' }).click();

    await lastAnswer().filter({ hasText: 'Stopped.' }).waitFor();
    const taskId = (await cancelRequest).postDataJSON().params.id as string;
    await expect.poll(() => taskState(taskId)).toBe('TASK_STATE_CANCELED');
    await expect.poll(() => platform.openStreams).toBe(0);
    expect(await alert().textContent()).toBe('');
  });

  it('names the configuration block to check when the credential is refused, and recovers', async () => {
    await openPage();
    await setCredentialBroken(true);
    await send('Hello');
    await alert().filter({ hasText: 'serviceAccount' }).waitFor();
    expect(await page.locator('.agent').count()).toBe(0);

    await setCredentialBroken(false);
    await send('Hello again');
    await lastAnswer().filter({ hasText: LAST_WORDS }).waitFor();
    expect(await alert().textContent()).toBe('');
  });

  it('continues a task that asked for input', async () => {
    await openPage();
    await send('input');
    await lastAnswer().filter({ hasText: 'Which city' }).waitFor();
    await page.locator('.agent:not([aria-busy])').waitFor();
    await send('Lisbon');
    await lastAnswer().filter({ hasText: 'I have noted: Lisbon' }).waitFor();
  });

  it('says so when the agent fails', async () => {
    await openPage();
    await send('fail');
    await lastAnswer().filter({ hasText: 'The agent failed: I was asked to fail' }).waitFor();
  });

  it('inserts what the agent says as text, never as markup', async () => {
    await openPage();
    await send('<img src=x id=injected>');
    await lastAnswer().filter({ hasText: LAST_WORDS }).waitFor();
    expect(await page.locator('#injected').count()).toBe(0);
  });

  it('shows the browser no secret, and the platform nothing of the browser', async () => {
    const sent: Request[] = [];
    const files: Promise<string>[] = [];
    page.on('request', (request) => sent.push(request));
    page.on('requestfinished', (request) => files.push(fileText(request)));
    await page.addInitScript(recordFetchedText);
    await page.context().addCookies([{ name: 'session', value: 'visitor', url: site.url }]);
    await openPage();
    const before = platform.requests.length;
    await send('Hello');
    await lastAnswer().filter({ hasText: LAST_WORDS }).waitFor();
    await setCredentialBroken(true);
    await send('Hello');
    await alert().filter({ hasText: 'serviceAccount' }).waitFor();
    await setCredentialBroken(false);

    const seen = [await page.content(), await fetchedText(page), ...(await Promise.all(files))].join('\n');
    for (const part of ['TASK_STATE_COMPLETED', 'SERVICE_TOKEN_REJECTED', 'EventSourceParserStream']) {
      expect(seen).toContain(part);
    }
    // "eyJ" is how every JWT begins.
    expect(seen).not.toMatch(/PRIVATE KEY|eyJ|site-1|key-1/);
    expect(seen).not.toContain(new URL(platform.url).host);
    for (const request of sent) {
      expect(new URL(request.url()).origin).toBe(new URL(site.url).origin);
      expect(await request.headerValue('authorization')).toBeNull();
    }

    const forwarded = platform.requests.slice(before);
    expect(forwarded[0]).toMatchObject({ method: 'POST', path: '/a2a', subject: 'site-1' });
    for (const { headerNames } of forwarded) {
      expect(headerNames).toContain('authorization');
      expect(headerNames).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(cookie|origin|referer)$/)]));
    }
  });

  it('fits a narrow screen', async () => {
    await openPage();
    await page.setViewportSize({ width: 320, height: 600 });
    await send('a-very-long-word'.repeat(20));
    await lastAnswer().filter({ hasText: 'You said' }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
  });
});

function isCallOf(method: string): (request: Request) => boolean {
  return (request) => request.method() === 'POST' && (request.postData() ?? '').includes(`"${method}"`);
}

function isAnswerOfSwitch(response: Response): boolean {
  return response.request().method() === 'POST' && response.url().endsWith('/demo/credential');
}

/** Header fields, and the body of what the page loaded as a file. */
async function fileText(request: Request): Promise<string> {
  const response = await request.response();
  if (response === null) return '';
  const body = request.resourceType() === 'fetch' ? '' : await response.text();
  return JSON.stringify(await response.allHeaders()) + body;
}

/** Runs in the page. Chromium does not reliably keep the body of a stream for its debugger, so the page keeps it. */
function recordFetchedText(): void {
  const texts: Promise<string>[] = [];
  const { fetch } = globalThis;
  globalThis.fetch = async (...request) => {
    const response = await fetch(...request);
    texts.push(response.clone().text());
    return response;
  };
  Object.assign(globalThis, { fetchedText: async () => (await Promise.all(texts)).join('\n') });
}

async function fetchedText(page: Page): Promise<string> {
  return page.evaluate('fetchedText()');
}
