import { createA2AProxyHandlerWithServiceAuth } from 'agent-bff/next';

const chat = createA2AProxyHandlerWithServiceAuth();

/** Serves the card of the public chat at the site's root as well, for clients that only know the site. */
export const GET = ({ url, headers }: Request) =>
  chat(new Request(url.replace('/.well-known', '/api/a2a/.well-known'), { headers }));
