import type { HeaderFields, RequestContext } from '../../ports/http.js';
import type { SessionToken } from '../../ports/session-token-source.js';

/**
 * Request and response as session libraries for Node take them; empty where there is nothing to write cookies on,
 * and the library finds both itself.
 */
export function nodePair({
  headers,
  native,
}: RequestContext): readonly [] | readonly [request: unknown, response: unknown] {
  const { request, response } = native;
  if (response === undefined || response === null) return [];
  // Libraries take a Web request for one of a middleware, and respond to it or look for a Web response.
  return [request instanceof Request ? { headers, url: request.url } : request, response];
}

/** The header fields as the Web `Headers` that session libraries read. */
export function webHeaders(fields: HeaderFields): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    // Two cookie fields are one list of cookies, which a comma would break (RFC 9113 §8.2.3).
    headers.set(name, typeof value === 'string' ? value : value.join(name === 'cookie' ? '; ' : ', '));
  }
  return headers;
}

interface CookieResponse {
  getHeader(name: 'set-cookie'): unknown;
  appendHeader(name: 'set-cookie', value: string): unknown;
  readonly headersSent?: boolean;
}

/**
 * Lets the cookies that a library writes on a Node response follow the token:
 * every request that shares it responds with them, so they survive when the first browser request is cancelled.
 */
export async function withRefreshedCookies(
  request: RequestContext,
  call: () => Promise<SessionToken>,
): Promise<SessionToken> {
  const response = cookieResponse(request);
  const before = response === undefined ? [] : cookiesOf(response);
  const found = await call();
  const written = response === undefined ? [] : cookiesOf(response).filter((cookie) => !before.includes(cookie));
  return found.kind !== 'token' || written.length === 0
    ? found
    : { ...found, adopt: (to) => writeCookies(written, to) };
}

/** Writes cookies on the response of a request, when that is a Node response whose head is not sent. */
export function writeCookies(cookies: readonly string[], to: RequestContext): void {
  const response = cookieResponse(to);
  if (response === undefined || response.headersSent === true) return;
  for (const cookie of cookies) response.appendHeader('set-cookie', cookie);
}

function cookieResponse({ native }: RequestContext): CookieResponse | undefined {
  const { response } = native as { response?: Partial<CookieResponse> | null };
  const isNode = typeof response?.getHeader === 'function' && typeof response.appendHeader === 'function';
  return isNode ? (response as CookieResponse) : undefined;
}

function cookiesOf(response: CookieResponse): readonly string[] {
  const field = response.getHeader('set-cookie') ?? [];
  return (Array.isArray(field) ? field : [field]).map(String);
}
