/**
 * The header fields with the cookies that `proxy.ts` has just set: a session it refreshed is in none of the browser's
 * fields yet, and the one the browser sent is already used.
 */
export function withProxyCookies(
  headers: Readonly<Record<string, string>>,
  written: string,
): Readonly<Record<string, string>> {
  const cookies = new Map((headers['cookie'] ?? '').split(';').map(pairOf));
  // A comma separates two cookies if a name follows it; the comma in a date is followed by a day.
  for (const line of written.split(/,\s*(?=[^\s;,=]+=)/)) {
    const [pair = '', ...attributes] = line.split(';');
    const [name, value] = pairOf(pair);
    if (value === '' || attributes.some(isPast)) cookies.delete(name);
    else cookies.set(name, value);
  }
  cookies.delete('');
  return { ...headers, cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
}

function pairOf(text: string): [name: string, value: string] {
  const [name = '', ...value] = text.split('=');
  return [name.trim(), value.join('=').trim()];
}

/** True for an attribute that deletes the cookie (RFC 6265 §5.3). */
function isPast(attribute: string): boolean {
  const [name, value] = pairOf(attribute);
  if (/^max-age$/i.test(name)) return Number(value) <= 0;
  return /^expires$/i.test(name) && Date.parse(value) <= Date.now();
}
