import { createA2AProxyHandlerWithServiceAuth } from 'agent-bff/next';

/**
 * The public chat: visitors are not signed in, the agent gets the site's own credential.
 * `GET` and `POST` would do; the others make a wrong method a 405 that says which ones are right.
 */
export const { GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE } = createA2AProxyHandlerWithServiceAuth();
