import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getToken } from '@auth/core/jwt';
import { ExpressAuth } from '@auth/express';
import { createToolkit, type SessionTokenSource, nextAuthSession } from 'agent-bff';
import { createA2ARouter } from 'agent-bff/express';
import { RecordingTelemetry } from 'agent-bff/testing';
import express from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CookieBrowser } from '../../support/cookie-browser.js';
import { startLoginProvider } from '../../support/identity-provider/login-provider.js';
import { RecordingUpstream } from '../../support/recording-upstream.js';
import { MESSAGE } from '../../support/visitor.js';

const SECRET = 'of this run only, and long enough';

/** A website that signs its users in with Auth.js 5, as docs/authentication/sessions.md shows it. */
async function startWebsite(getSessionToken: SessionTokenSource) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const provider = await startLoginProvider(url, 300, '/auth/callback/site');
  const agent = await RecordingUpstream.start();
  const telemetry = new RecordingTelemetry();
  const toolkit = createToolkit({ a2aUrl: `${agent.origin}/a2a` }, { telemetry });
  const app = express();
  const { issuer, client } = provider;
  const authorization = { params: { scope: 'openid offline_access chat', prompt: 'consent' } };
  const site = {
    id: 'site',
    name: 'Site',
    type: 'oidc' as const,
    issuer,
    clientId: client.id,
    clientSecret: client.secret,
    client: { token_endpoint_auth_method: 'client_secret_post' },
    authorization,
    checks: ['pkce', 'state'] as ('pkce' | 'state')[],
  };
  app.use(
    '/auth',
    ExpressAuth({
      providers: [site],
      secret: SECRET,
      trustHost: true,
      callbacks: {
        jwt: ({ token, account }) =>
          account ? { ...token, access_token: account.access_token, expires_at: account.expires_at } : token,
      },
    }),
  );
  app.use('/api/a2a', createA2ARouter(express, { toolkit, getSessionToken }));
  app.get('/', (_request, response) => void response.send('home'));
  server.on('request', app);
  onTestFinished(async () => {
    server.close();
    server.closeAllConnections();
    await agent.close();
    await provider.close();
    await toolkit.close();
  });
  return { url, provider, agent, telemetry };
}

async function signIn(url: string, user: string): Promise<CookieBrowser> {
  const browser = new CookieBrowser();
  const { csrfToken } = JSON.parse((await browser.open(`${url}/auth/csrf`)).page) as { csrfToken: string };
  const body = new URLSearchParams({ csrfToken, callbackUrl: url });
  const login = await browser.open(`${url}/auth/signin/site`, { method: 'POST', body });
  const consent = await browser.submit(login, { login: user, password: 'any' });
  expect((await browser.submit(consent)).page).toBe('home');
  return browser;
}

const chat = (browser: CookieBrowser, url: string): Promise<Response> =>
  browser.send(`${url}/api/a2a`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: MESSAGE });

describe('a site with Auth.js 5', () => {
  it('calls the agent as the user who signed in, and refuses those who did not', async () => {
    const { url, provider, agent } = await startWebsite(nextAuthSession(getToken, { secret: SECRET }));
    expect((await chat(new CookieBrowser(), url)).status).toBe(401);
    const browser = await signIn(url, 'ann');
    expect((await chat(browser, url)).status).toBe(200);
    const [bearer = ''] = agent.requests.map(({ fields }) => fields.find(([name]) => name === 'authorization')?.[1]);
    expect(await provider.userOf(bearer.replace('Bearer ', ''))).toBe('ann');
  });

  it('whose source lacks the secret says so, and asks nobody to try again', async () => {
    const { url, agent, telemetry } = await startWebsite(nextAuthSession(getToken));
    const browser = await signIn(url, 'ann');
    const response = await chat(browser, url);
    expect(response.status).toBe(401);
    expect(await response.text()).toContain(
      'Set \\"secret\\" in the options of nextAuthSession to the secret of Auth.js, such as process.env.AUTH_SECRET.',
    );
    expect(response.headers.get('retry-after')).toBeNull();
    expect(telemetry.of('error')).toMatchObject([{ code: 'service_auth_failed' }]);
    expect(agent.requests).toEqual([]);
  });

  it('that is served over https is found by the cookie such a site has', async () => {
    const asked: unknown[] = [];
    const source = nextAuthSession((parameters: unknown) => Promise.resolve(void asked.push(parameters)));
    for (const name of ['authjs.session-token', '__Secure-authjs.session-token.0']) {
      await source.getToken({ headers: { cookie: `${name}=x` }, native: { request: undefined } }, {});
    }
    expect(asked[0]).not.toHaveProperty('secureCookie');
    expect(asked[1]).toHaveProperty('secureCookie', true);
    expect(source.sessionCookies).toContain('__Secure-authjs.session-token');
  });
});
