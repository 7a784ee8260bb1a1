import { forgetVisitorCookies } from 'agent-bff';
import { type ErrorRequestHandler, type Request, Router } from 'express';

import type { OpenIdClient } from './open-id-client.js';
import { endSession, renewSession, SESSION_COOKIE } from './session.js';

/** Signs users in and out. Tokens are stored in the session, and only sent to the platform. */
export function createSignInRouter(client: OpenIdClient | undefined): Router {
  const router = Router();

  router.use((_request, response, next) => {
    response.set('cache-control', 'no-store');
    next();
  });

  router.get('/me', ({ session: { user } }, response) => {
    response.json({ user: user === undefined ? null : { name: user.name, picture: user.picture } });
  });

  router.post('/logout', async (request, response) => {
    await endSession(request);
    response.clearCookie(SESSION_COOKIE);
    // The next person at this computer finds no conversation from before the sign-in.
    for (const cookie of forgetVisitorCookies()) response.append('set-cookie', cookie);
    // A form needs a page afterwards, a script does not.
    if (request.accepts(['json', 'html']) === 'html') response.redirect(303, '/');
    else response.sendStatus(204);
  });

  if (client === undefined) return router;

  router.get('/login', async (request, response) => {
    const { user } = request.query;
    const { url, pending } = await client.begin(addressOf(request, '/auth/callback').href, hintOf(user));
    request.session.pendingSignIn = pending;
    response.redirect(url.href);
  });

  router.get('/callback', async (request, response) => {
    const { pendingSignIn: pending } = request.session;
    if (pending === undefined) throw new Error('There is no pending sign-in.');
    const { user, tokens } = await client.finish(addressOf(request, request.originalUrl), pending);
    await renewSession(request);
    Object.assign(request.session, { user, tokens });
    response.redirect('/');
  });

  router.use(answerSignInErrors);
  return router;
}

/** The terminal gets the reason; the page does not, since the reason could quote the provider. */
const answerSignInErrors: ErrorRequestHandler = (error: unknown, _request, response, _next) => {
  console.error(`sign-in: ${error instanceof Error ? `${error.message} ${String(error.cause ?? '')}` : String(error)}`);
  response.status(400).type('text').send('The sign-in did not succeed. Go back to the site and try again.');
};

function hintOf(user: unknown): string | undefined {
  return typeof user === 'string' && /^\w{1,32}$/.test(user) ? user : undefined;
}

/** The site under the name in the browser; the provider only accepts registered addresses. */
function addressOf(request: Request, path: string): URL {
  return new URL(path, `${request.protocol}://${request.host}`);
}
