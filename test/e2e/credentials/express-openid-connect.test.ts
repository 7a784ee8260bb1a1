import { createServer } from 'node:http';
import { setTimeout as after } from 'node:timers/promises';
import { type Clock, createToolkit, endSession, expressOpenidConnectSession } from 'agent-bff';
import { createA2ARouter } from 'agent-bff/express';
import { RecordingTelemetry } from 'agent-bff/testing';
import express from 'express';
import oidc from 'express-openid-connect';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CookieBrowser } from '../../support/cookie-browser.js';
import { startLoginProvider } from '../../support/identity-provider/login-provider.js';
import { closeAll, listening } from '../../support/listening.mjs';
import { RecordingUpstream } from '../../support/recording-upstream.js';
import { MESSAGE } from '../../support/visitor.js';
import { bearerOf } from './credential-site.js';

const LIFETIME_SECONDS = 2;
const PARALLEL = 6;

/** A website with a real login in front of a chat for signed-in users. */
async function startWebsite(lifetimeSeconds: number | (() => number) = LIFETIME_SECONDS, clock?: Clock) {
  const server = createServer();
  const url = await listening(server);
  const provider = await startLoginProvider(url, lifetimeSeconds);
  const agent = await RecordingUpstream.start();
  const telemetry = new RecordingTelemetry();
  const toolkit = createToolkit({ a2aUrl: `${agent.origin}/a2a` }, { telemetry, clock });
  const auth = expressOpenidConnectSession();
  const app = express();
  app.use(
    oidc.auth({
      issuerBaseURL: provider.issuer,
      baseURL: url,
      clientID: provider.client.id,
      clientSecret: provider.client.secret,
      clientAuthMethod: 'client_secret_post',
      secret: 'of this run only, and long enough',
      authRequired: false,
      authorizationParams: {
        response_type: 'code',
        response_mode: 'query',
        scope: 'openid offline_access chat',
        prompt: 'consent',
      },
    }),
  );
  app.use('/api/a2a', createA2ARouter(express, { toolkit, auth }));
  app.get('/me', (request, response) => {
    response.json({ user: request.oidc.user?.['sub'] ?? null, expired: request.oidc.accessToken?.isExpired() ?? null });
  });
  const held: (() => void)[] = [];
  app.get('/slow', (_request, response) => void held.push(() => response.json({})));
  app.get('/sign-out', async (request, response) => {
    await endSession({ auth, toolkit }, request);
    response.redirect('/logout');
  });
  app.get('/', (_request, response) => void response.send('home'));
  server.on('request', app);
  onTestFinished(async () => {
    await closeAll(server);
    await agent.close();
    await provider.close();
    await toolkit.close();
  });
  return { url, provider, agent, telemetry, held };
}

type Website = Awaited<ReturnType<typeof startWebsite>>;

async function signIn(url: string, user: string): Promise<CookieBrowser> {
  const browser = new CookieBrowser();
  const consent = await browser.submit(await browser.open(`${url}/login`), { login: user, password: 'any' });
  expect((await browser.submit(consent)).page).toBe('home');
  return browser;
}

const chat = (browser: CookieBrowser, url: string, signal?: AbortSignal): Promise<Response> => {
  const headers = { 'content-type': 'application/json' };
  return browser.send(`${url}/api/a2a`, { method: 'POST', headers, body: MESSAGE, ...(signal && { signal }) });
};

const refreshesOf = (provider: Website['provider']): number =>
  provider.tokenRequests.list.filter(({ grant }) => grant === 'refresh_token').length;

describe('a website that signs its users in with express-openid-connect', () => {
  it('six messages after the token expires cause one refresh each time, and the user stays signed in', async () => {
    const { url, provider, agent } = await startWebsite();
    const browser = await signIn(url, 'ann');
    const refreshes = (): number => refreshesOf(provider);
    expect((await chat(browser, url)).status).toBe(200);
    expect(refreshes()).toBe(0);

    for (const round of [1, 2]) {
      await after(LIFETIME_SECONDS * 1_000 + 100);
      const before = agent.requests.length;
      const replies = await Promise.all(Array.from({ length: PARALLEL }, () => chat(browser, url)));
      expect(replies.map(({ status }) => status)).toEqual(Array<number>(PARALLEL).fill(200));
      expect(refreshes()).toBe(round);

      // All six share one new token, and the cookie of the last response holds the new session.
      const tokens = new Set(agent.requests.slice(before).map(bearerOf));
      expect(tokens.size).toBe(1);
      expect(await provider.userOf([...tokens][0] ?? '')).toBe('ann');
      const me = await browser.send(`${url}/me`);
      expect(await me.json()).toEqual({ user: 'ann', expired: false });
    }
  }, 20_000);

  // The library also writes the rolling session's cookie on such a response, with the spent refresh token.
  it.each(['of the chat', "of the site's own route"])(
    'a response %s that begins before the refresh and ends after it keeps the session valid',
    async (which) => {
      const { url, provider, agent, held } = await startWebsite();
      const browser = await signIn(url, 'ann');
      agent.willAnswer((exchange) => {
        const answer = (): void => exchange.json(200, { jsonrpc: '2.0', id: 1, result: {} });
        if (which === 'of the chat' && agent.requests.length === 1) held.push(answer);
        else answer();
      });
      const slow = which === 'of the chat' ? chat(browser, url) : browser.send(`${url}/slow`);
      await expect.poll(() => held.length).toBe(1);
      await after(LIFETIME_SECONDS * 1_000 + 100);
      expect((await chat(browser, url)).status).toBe(200);
      held[0]?.();
      expect((await slow).status).toBe(200);

      expect((await chat(browser, url)).status).toBe(200);
      expect(refreshesOf(provider)).toBe(1);
      const me = await browser.send(`${url}/me`);
      expect(await me.json()).toEqual({ user: 'ann', expired: false });
    },
  );

  it('a token that the platform rejects before it expires is refreshed once for six messages, and the cookie holds the new one', async () => {
    const { url, provider, agent } = await startWebsite(600);
    const browser = await signIn(url, 'ann');
    const refreshes = (): number => refreshesOf(provider);
    expect((await chat(browser, url)).status).toBe(200);
    const revoked = bearerOf(agent.requests[0]!);
    agent.willAnswer((exchange) => {
      if (bearerOf(exchange.request) === revoked) exchange.json(401, { error: 'revoked' });
      else exchange.json(200, { jsonrpc: '2.0', id: 1, result: {} });
    });

    const replies = await Promise.all(Array.from({ length: PARALLEL }, () => chat(browser, url)));
    expect(replies.map(({ status }) => status)).toEqual(Array<number>(PARALLEL).fill(200));
    expect(refreshes()).toBe(1);
    const tokens = new Set(agent.requests.map(bearerOf));
    expect(tokens.size).toBe(2);
    expect(await provider.userOf([...tokens][1] ?? '')).toBe('ann');

    // The browser has the new session, so the next message is not retried.
    const before = agent.requests.length;
    expect((await chat(browser, url)).status).toBe(200);
    expect(agent.requests.length).toBe(before + 1);
  });
});

describe('a user whose agent takes longer than ten seconds to answer', () => {
  /** A signed-in user whose token has expired. The next one lives for ten minutes; `wait` moves the clock of the routes. */
  async function startSlowSite() {
    let lifetimeSeconds = 1;
    let waited = 0;
    const site = await startWebsite(() => lifetimeSeconds, { now: () => Date.now() + waited });
    const browser = await signIn(site.url, 'ann');
    lifetimeSeconds = 600;
    await after(1_100);
    site.agent.willWait();
    const answer = async (): Promise<void> =>
      (await site.agent.next()).json(200, { jsonrpc: '2.0', id: 1, result: {} });
    return { ...site, browser, answer, wait: (ms: number) => void (waited += ms) };
  }

  it('remains signed in with four parallel messages, another tab and a reload', async () => {
    const { url, provider, browser, answer, wait } = await startSlowSite();
    const slow = [chat(browser, url), chat(browser, url), chat(browser, url), chat(browser, url)];
    await expect.poll(() => refreshesOf(provider)).toBe(1);
    wait(14_000);
    const tab = chat(browser, url);
    const all = [...slow, tab];
    for (const _message of all) await answer();
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    wait(14_000);
    const reloaded = chat(browser, url);
    await answer();
    expect((await reloaded).status).toBe(200);
    expect(refreshesOf(provider)).toBe(1);
  });

  it('remains signed in after leaving the first message', async () => {
    const { url, provider, agent, browser, answer, wait } = await startSlowSite();
    const leaving = new AbortController();
    const left = chat(browser, url, leaving.signal);
    await expect.poll(() => agent.requests.length).toBe(1);
    leaving.abort();
    await expect(left).rejects.toThrow();
    await answer();
    wait(14_000);
    const later = chat(browser, url);
    await answer();
    expect((await later).status).toBe(200);
    // The response of the later message brought the new cookie.
    wait(60_000);
    const again = chat(browser, url);
    await answer();
    expect((await again).status).toBe(200);
    expect(refreshesOf(provider)).toBe(1);
  });

  it('stays signed out after a sign-out that precedes the answer', async () => {
    const { url, agent, browser, answer } = await startSlowSite();
    const slow = chat(browser, url);
    await expect.poll(() => agent.requests.length).toBe(1);
    await browser.send(`${url}/sign-out`);
    await browser.send(`${url}/logout`);
    await answer();
    expect((await slow).status).toBe(200);
    expect((await chat(browser, url)).status).toBe(401);
    expect(await (await browser.send(`${url}/me`)).json()).toMatchObject({ user: null });
  });

  it('is signed out at the provider when the old cookie is used again later', async () => {
    const { url, browser, answer, wait } = await startSlowSite();
    const thief = browser.copy();
    const slow = chat(browser, url);
    await answer();
    expect((await slow).status).toBe(200);
    wait(9_000);
    const late = chat(thief.copy(), url);
    await answer();
    expect((await late).status).toBe(200);
    wait(1_000);
    const stolen = await chat(thief, url);
    expect([stolen.status, JSON.stringify(await stolen.json())]).toEqual([
      401,
      expect.stringContaining('session_expired'),
    ]);
  });
});
