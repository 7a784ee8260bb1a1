import { createA2AProxyHandlerWithServiceAuth } from 'agent-bff/next';

const chat = createA2AProxyHandlerWithServiceAuth();

/** The card of the public chat once more, for clients that know the site and not its chat. */
export const GET = ({ url, headers }: Request) =>
  chat(new Request(url.replace('/.well-known', '/api/a2a/.well-known'), { headers }));
