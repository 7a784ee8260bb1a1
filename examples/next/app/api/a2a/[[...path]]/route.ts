import { createA2AProxyHandlerWithServiceAuth } from 'agent-bff/next';

/**
 * The public chat: visitors are not signed in, and the agent receives the site's own credential, so the site keeps their
 * conversations apart. `GET` and `POST` would suffice; with the others a wrong method is a 405 that lists the right ones.
 */
export const { GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE } = createA2AProxyHandlerWithServiceAuth({
  conversations: 'visitor',
});
