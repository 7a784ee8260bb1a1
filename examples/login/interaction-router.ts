import express, { type Request, type Response, Router } from 'express';
import type { Provider } from 'oidc-provider';

import { choicePage } from './choice-page.js';
import { findPerson } from './people.js';

/** Shows the sign-in form, the provider's only interaction. Works without scripts. */
export function createInteractionRouter(provider: Provider): Router {
  const router = Router();
  const signIn = (request: Request, response: Response, id: string): Promise<void> =>
    provider.interactionFinished(request, response, { login: { accountId: id } });

  router.get('/:uid', async (request, response) => {
    const { uid, params } = await provider.interactionDetails(request, response);
    // The site already knows the user. A provider with passwords would only pre-fill the name.
    const person = findPerson(params['login_hint']);
    if (person !== undefined) await signIn(request, response, person.id);
    else sendPage(response, uid);
  });

  router.post('/:uid', express.urlencoded({ extended: false }), async (request, response) => {
    const { uid } = await provider.interactionDetails(request, response);
    const person = findPerson((request.body as { person?: unknown }).person);
    if (person !== undefined) await signIn(request, response, person.id);
    else sendPage(response, uid);
  });

  router.use((error: unknown, _request: Request, response: Response, _next: () => void) => {
    console.error('sign-in provider:', error instanceof Error ? error.message : error);
    // The cookie is missing or the link is old.
    response.status(400).type('text').send('This sign-in is no longer open. Go back to the site and sign in again.');
  });

  return router;
}

function sendPage(response: Response, uid: string): void {
  response
    .set('cache-control', 'no-store')
    .set('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
    .type('html')
    .send(choicePage(`/interaction/${encodeURIComponent(uid)}`));
}
