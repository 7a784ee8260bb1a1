import type { Request } from 'playwright-core';
import { expect, it } from 'vitest';

import { describeDemo } from '../../support/demo-browser.js';

describeDemo('the browsers of visitors', { wordMs: 5 }, (demo) => {
  it('receive no secret, and their cookies do not reach the platform', async () => {
    const sent: Request[] = [];
    const files: Promise<string>[] = [];
    const visit = await demo.visit({
      prepare: async (page) => {
        page.on('request', (request) => sent.push(request));
        page.on('requestfinished', (request) => files.push(fileText(request)));
        await page.addInitScript(recordFetchedText);
        await page.context().addCookies([{ name: 'session', value: 'visitor', url: demo.demo.url }]);
      },
    });
    const { page } = visit;
    await visit.ask('Hello');

    const seen = [await page.content(), await page.evaluate('fetchedText()'), ...(await Promise.all(files))].join('\n');
    for (const part of ['TASK_STATE_COMPLETED', 'SendStreamingMessage', 'lunch']) expect(seen).toContain(part);
    // Every JWT begins with "eyJ".
    expect(seen).not.toMatch(/PRIVATE KEY|eyJ|demo-site|demo-programs/);
    expect(seen).not.toContain(new URL(demo.demo.platform.url).host);
    for (const request of sent) {
      expect(new URL(request.url()).origin).toBe(new URL(demo.demo.url).origin);
      expect(await request.headerValue('authorization')).toBeNull();
    }

    const forwarded = demo.demo.platform.requests;
    expect(forwarded).toContainEqual(expect.objectContaining({ method: 'POST', path: '/a2a' }));
    for (const { path, headerNames } of forwarded) {
      if (!path.includes('.well-known')) expect(headerNames).toContain('authorization');
      expect(headerNames).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(cookie|origin|referer)$/)]));
    }
  });
});

/** The header fields of a response, and its body if the page loaded it as a file. */
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
  // The chat aborts a stream after the last event, which may be before its end.
  const received = async ({ body }: Response): Promise<string> => {
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    const next = async (): Promise<string | undefined> => (await reader?.read().catch(() => undefined))?.value;
    let text = '';
    for (let part = await next(); part !== undefined; part = await next()) text += part;
    return text;
  };
  globalThis.fetch = async (...request) => {
    const response = await fetch(...request);
    texts.push(received(response.clone()));
    return response;
  };
  Object.assign(globalThis, { fetchedText: async () => (await Promise.all(texts)).join('\n') });
}
