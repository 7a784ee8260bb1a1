import { decodeJwt } from 'jose';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createInternalTool } from '../../examples/internal-tool/server.js';
import { listeningSite } from '../site/frameworks/listening-site.js';
import type { Site } from '../site/framework.js';
import { findChromium, launchChromium } from '../support/chromium.js';
import { startIdpA, type IdpA } from '../support/identity-provider/index.js';
import { RecordingUpstream } from '../support/recording-upstream.js';
import { bearerOf, chatAt, failureOf } from './credentials/credential-site.js';

describe('the internal tool', () => {
  let idp: IdpA;
  let agent: RecordingUpstream;
  let tool: Site;

  beforeAll(async () => {
    idp = await startIdpA({ insecure: true });
    agent = await RecordingUpstream.start();
    agent.willAnswer((exchange) => {
      const { id } = JSON.parse(exchange.request.body.toString()) as { id: unknown };
      const parts = [{ text: `Hello, ${decodeJwt(bearerOf(exchange.request)).sub ?? ''}.` }];
      exchange.json(200, { jsonrpc: '2.0', id, result: { message: { role: 'ROLE_AGENT', parts } } });
    });
    const { tokenEndpoint, audience, browserClient } = idp;
    const a2aUrl = `${agent.origin}/a2a`;
    tool = await listeningSite(createInternalTool({ a2aUrl, tokenEndpoint, audience, clientId: browserClient.id }));
  });
  beforeEach(() => void agent.requests.splice(0));
  afterAll(async () => {
    await tool.close();
    await agent.close();
    await idp.close();
  });

  it.each([{}, { authorization: 'Basic dXNlcjpwYXNz' }, { authorization: 'Bearer ' }])(
    'responds 401 without a token and does not call the agent: %j',
    async (headers) => {
      const answer = await chatAt(tool.url, { headers });
      expect(answer.status).toBe(401);
      expect(failureOf(answer).code).toBe('session_required');
      expect(agent.requests).toEqual([]);
    },
  );

  const chromiumPath = findChromium();
  describe.skipIf(chromiumPath === undefined)('in a browser', { timeout: 30_000 }, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchChromium(chromiumPath ?? '');
    });
    afterAll(() => browser.close());

    it('signs its user in at the provider, shows the answer without storing the token, and prompts for another sign-in after a 401', async () => {
      const page = await browser.newPage();
      await page.goto(tool.url);
      await page.getByLabel('User name').fill(idp.user.username);
      await page.getByLabel('Password').fill('wrong');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await expect.poll(() => page.getByRole('alert').textContent()).toBe('User name or password is wrong.');

      await page.getByLabel('Password').fill(idp.user.password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByLabel('Message').fill('Hello?');
      await page.getByRole('button', { name: 'Send' }).click();
      await expect.poll(() => page.getByRole('status').textContent()).toBe(`Hello, auth0|${idp.user.username}.`);
      expect(await page.evaluate('JSON.stringify([localStorage.length, sessionStorage.length, document.cookie])')).toBe(
        '[0,0,""]',
      );

      agent.willAnswer((exchange) => exchange.json(401, {}));
      await page.getByLabel('Message').fill('Still there?');
      await page.getByRole('button', { name: 'Send' }).click();
      await expect.poll(() => page.getByRole('alert').textContent()).toBe('Please sign in again.');
      expect(await page.getByRole('button', { name: 'Sign in' }).isVisible()).toBe(true);
      await page.close();
    });
  });
});
