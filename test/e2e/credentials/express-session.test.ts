import { expressSession } from 'agent-bff';
import session from 'express-session';
import { describe, expect, it } from 'vitest';
import { CookieBrowser } from '../../support/cookie-browser.js';
import { MESSAGE } from '../../support/visitor.js';
import { bearerOf, startSite } from './credential-site.js';

/** A site whose sign-in stores the token with `keep`, as in docs/authentication/sessions.md. */
async function signedIn(source: ReturnType<typeof expressSession>, keep: (session: object, token: string) => void) {
  const site = await startSite(
    {},
    {
      before: [
        session({ secret: 'of this run only', resave: false, saveUninitialized: false }),
        (request, response, next) => {
          if (request.path !== '/signed-in') return next();
          keep(request.session, 'token-of-ann');
          response.send('home');
        },
      ],
      routes: [{ getSessionToken: source }],
    },
  );
  const browser = new CookieBrowser();
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: MESSAGE };
  const chat = (): Promise<Response> => browser.send(`${site.url}/api/a2a`, init);
  expect((await chat()).status).toBe(401);
  expect(site.agent.requests).toEqual([]);
  await browser.open(`${site.url}/signed-in`);
  expect((await chat()).status).toBe(200);
  return site.agent.requests.map(bearerOf);
}

describe('a site with express-session', () => {
  it('calls the agent with the "accessToken" that its sign-in stored in the session', async () => {
    expect(await signedIn(expressSession(), (to, accessToken) => Object.assign(to, { accessToken }))).toEqual([
      'token-of-ann',
    ]);
  });

  it('reads the token with a custom function', async () => {
    const source = expressSession({ accessToken: (found) => found.tokens?.access_token });
    const keep = (to: object, token: string): object => Object.assign(to, { tokens: { access_token: token } });
    expect(await signedIn(source, keep)).toEqual(['token-of-ann']);
  });
});
