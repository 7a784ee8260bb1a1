import { cookiePair, cookiePairs } from '../../domain/shared/message-fields.js';

/**
 * The header fields with the cookies that `proxy.ts` has just set: a session it refreshed is in none of the browser's
 * fields yet, and the one the browser sent is already used.
 */
export function withProxyCookies(
  headers: Readonly<Record<string, string>>,
  written: string,
): Readonly<Record<string, string>> {
  const cookies = new Map(cookiePairs(headers['cookie']).map(cookiePair));
  // A comma separates two cookies if a name follows it; the comma in a date is followed by a day.
  for (const line of written.split(/,\s*(?=[^\s;,=]+=)/)) {
    const [pair = '', ...attributes] = line.split(';');
    const [name, value] = cookiePair(pair);
    if (value === '' || attributes.some(isPast)) cookies.delete(name);
    else cookies.set(name, value);
  }
  cookies.delete('');
  return { ...headers, cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
}

/** True for an attribute that deletes the cookie (RFC 6265 §5.3). */
function isPast(attribute: string): boolean {
  const [name, value] = cookiePair(attribute);
  if (/^max-age$/i.test(name)) return Number(value) <= 0;
  return /^expires$/i.test(name) && Date.parse(value) <= Date.now();
}
