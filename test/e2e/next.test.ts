import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CookieBrowser } from '../support/cookie-browser.js';
import { A_BUILD_MS, buildNextExample, nextIsInstalled } from '../support/next-example.js';
import { freePort } from '../support/free-port.js';
import { NextServer } from '../support/next-server.js';
import { type SignIn, startSignIn } from '../support/next-sign-in.js';
import { RecordingUpstream } from '../support/recording-upstream.js';
import { MESSAGE, visit } from '../support/visitor.js';

const TOKEN_SECONDS = 5;
const PARALLEL = 6;
/** `next dev` compiles a route on its first request. */
const A_ROUTE_MS = 120_000;

const NO_SESSION = [401, { code: 'session_required' }];
const JSON_TYPE = { 'content-type': 'application/json' };

describe.skipIf(!nextIsInstalled).each(['start', 'dev'] as const)(
  'the example under next %s',
  (command) => {
    let site: NextServer;
    let platform: RecordingUpstream;
    let signIn: SignIn;

    beforeAll(async () => {
      if (command === 'start') await buildNextExample();
      const port = await freePort('localhost');
      platform = await RecordingUpstream.start();
      signIn = await startSignIn(`http://localhost:${String(port)}`, TOKEN_SECONDS);
      site = await NextServer.start(command, port, {
        ...signIn.environment,
        A2A_URL: `${platform.origin}/agent`,
        SERVICE_API_URL: `${platform.origin}/platform`,
        SERVICE_API_KEY: 'the-api-key',
      });
      // Compile each route before a test measures time.
      const paths = ['/api/a2a', '/members/api/a2a', '/api/service/x', '/members'];
      for (const path of paths) await (await fetch(site.url + path)).text();
    }, A_BUILD_MS);

    afterAll(async () => {
      await site?.close();
      await signIn?.close();
      await platform?.close();
    });

    beforeEach(() => {
      platform.requests.length = 0;
      platform.willAnswerAgain();
    });

    async function openStream() {
      platform.willWait();
      const pending = visit(site.url);
      const exchange = await platform.next();
      exchange.eventStream();
      return { exchange, reply: await pending };
    }

    async function signedIn(user: string): Promise<CookieBrowser> {
      const browser = new CookieBrowser();
      const login = await browser.open(`${site.url}/auth/login?returnTo=/members`);
      const consent = await browser.submit(login, { login: user, password: 'any' });
      expect((await browser.submit(consent)).page).toContain(user);
      return browser;
    }

    /** Resolves when the token of a session has expired, as the session library sees it. */
    async function expired(browser: CookieBrowser): Promise<void> {
      const { expires_at: end } = (await (await browser.send(`${site.url}/auth/access-token`)).json()) as {
        expires_at: number;
      };
      await expect.poll(() => Date.now() / 1_000, { timeout: 4 * TOKEN_SECONDS * 1_000 }).toBeGreaterThan(end);
    }

    const membersChat = (browser: CookieBrowser): Promise<Response> =>
      browser.send(`${site.url}/members/api/a2a`, { method: 'POST', headers: JSON_TYPE, body: MESSAGE });

    // `test/site/next.test.ts` proves the same and more of a built site.
    if (command === 'dev')
      it('passes each event on at once, and the end of either connection', async () => {
        const { exchange, reply } = await openStream();
        expect(reply.headers['content-type']).toBe('text/event-stream');
        exchange.write('data: one\n\n');
        await reply.until('data: one\n\n');
        exchange.write('data: half');
        await reply.until('data: half');
        exchange.reset();
        expect(await reply.ending()).toMatchObject({ clean: false });

        const left = await openStream();
        left.reply.leave();
        await left.exchange.closed;
        expect(left.exchange.aborted).toBe(true);
      });

    it('calls the platform with the token of the signed-in user, without cookies', async () => {
      platform.willAnswer((exchange) => {
        exchange.json(200, {});
      });
      const browser = await signedIn('ada');
      expect((await membersChat(browser)).status).toBe(200);
      const records = await browser.send(`${site.url}/api/service/conversations?limit=2`);
      await records.text();
      expect(platform.requests.map(({ method, target }) => [method, target])).toEqual([
        ['POST', '/agent'],
        ['GET', '/platform/conversations?limit=2'],
      ]);
      for (const request of platform.requests) {
        expect(claimsOf(request.fields)).toMatchObject({ sub: 'ada', aud: 'https://platform.example/api' });
        expect(request.fields.map(([name]) => name)).not.toContain('cookie');
      }
    });

    // The rest is the same code in both, and `next dev` is slow to compile it.
    if (command === 'dev') return;

    it('refreshes an expired session once for six messages, and sets its cookies on each response', async () => {
      const browser = await signedIn('grace');
      await expired(browser);
      const before = signIn.refreshes;
      const answers = await Promise.all(Array.from({ length: PARALLEL }, () => membersChat(browser)));
      expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: PARALLEL }, () => 200));
      expect(signIn.refreshes - before).toBe(1);
      // The token is long, so its session fills two cookies, each in its own field.
      for (const { headers } of answers) {
        const names = headers.getSetCookie().map((cookie) => cookie.split('=', 1)[0]);
        expect(names).toEqual(expect.arrayContaining(['__session__0', '__session__1']));
      }
      // No cookie has the spent refresh token, otherwise this would end the session.
      await expired(browser);
      expect((await membersChat(browser)).status).toBe(200);
    });

    it('serves configuration and card below the chat and the card at the root, with the address of the request, and serves data of members to members only', async () => {
      platform.willAnswer((exchange) => {
        if (exchange.request.target.endsWith('agent-card.json'))
          exchange.json(200, { name: 'Agent', url: `${platform.origin}/agent` });
        else exchange.json(200, { id: 'project-1' });
      });
      const reply = await fetch(`${site.url}/api/a2a/config`);
      expect(reply.status).toBe(200);
      expect(await reply.json()).toMatchObject({ a2aEndpoint: '/api/a2a', agentCard: { url: `${site.url}/api/a2a` } });
      for (const place of ['/api/a2a', '/members/api/a2a', '']) {
        const card = await fetch(`${site.url}${place}/.well-known/agent-card.json`);
        if (place.startsWith('/members')) expect([card.status, await card.json()]).toMatchObject(NO_SESSION);
        else expect(await card.json()).toMatchObject({ name: 'Agent', url: `${site.url}/api/a2a` });
      }
      const records = await fetch(`${site.url}/api/service/conversations`);
      expect([records.status, await records.json()]).toMatchObject(NO_SESSION);
    });

    it('renders the chat on the server, with a stylesheet and no inline style', async () => {
      const page = await (await fetch(site.url)).text();
      expect(page).toContain('class="agent-bff"');
      expect(page).toContain('How can I help?');
      expect(page).toMatch(/<link rel="stylesheet"/);
      expect(page.slice(page.indexOf('class="agent-bff"'))).not.toMatch(/ style="/);
    });
  },
  A_ROUTE_MS,
);

/** The claims of the token sent to the platform. */
function claimsOf(fields: readonly (readonly [string, string])[]): unknown {
  const bearer = fields.find(([name]) => name === 'authorization')?.[1] ?? '';
  return JSON.parse(Buffer.from(bearer.split('.')[1] ?? '', 'base64url').toString());
}
