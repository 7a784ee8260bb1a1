import { cookiePairs } from '../shared/cookies.js';
import type { HeaderFields } from '../../ports/http.js';

/** What else tells one session from another: some libraries read a bearer token, or serve several hosts. */
const FIELDS = ['authorization', 'host', 'x-forwarded-host'];

/**
 * Names the session of a request by the cookies that hold it; absent when the request has none of them.
 * Other cookies stay out: one set by an analytics script must not split a session.
 */
export function sessionKey(headers: HeaderFields, cookieNames: readonly string[]): string | undefined {
  // In the order sent: of two cookies with one name, a library reads the first, and which it is tells two users apart.
  const cookies = cookiePairs(headers['cookie']).filter((cookie) => cookieNames.some((name) => isNamed(cookie, name)));
  if (cookies.length === 0) return undefined;
  return JSON.stringify([cookies, ...FIELDS.map((name) => text(headers[name], ','))]);
}

/** Whether a cookie is the named one or a chunk of it: `name=`, `name.0=`, `name__0=`. */
function isNamed(cookie: string, name: string): boolean {
  return cookie.startsWith(name) && /^(?:(?:\.|__)\d+)?=/.test(cookie.slice(name.length));
}

function text(field: string | readonly string[] | undefined, separator: string): string {
  return typeof field === 'string' ? field : (field ?? []).join(separator);
}
