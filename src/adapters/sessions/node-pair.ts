import type { SessionRequest } from '../../ports/session-token-source.js';

/**
 * Request and response as session libraries for Node take them; empty where there is nothing to write cookies on,
 * and the library finds both itself.
 */
export function nodePair({
  headers,
  native,
}: SessionRequest): readonly [] | readonly [request: unknown, response: unknown] {
  const { request, response } = native;
  if (response === undefined || response === null) return [];
  // Libraries take a Web request for one of a middleware, and answer it or look for a Web response.
  return [request instanceof Request ? { headers, url: request.url } : request, response];
}
