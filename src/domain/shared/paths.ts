/** An address or a path without trailing slashes. A regular expression would take quadratic time on a run of slashes. */
export function withoutTrailingSlashes(text: string): string {
  let end = text.length;
  while (text.charCodeAt(end - 1) === 0x2f) end -= 1;
  return text.slice(0, end);
}

/** The path and query of a request's target, which may be a whole address (RFC 9112 §3.2.2). */
export function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(ABSOLUTE, '');
}

/** The host that a request's target names; `undefined` for the usual target, a path. */
export function targetHost(target: string): string | undefined {
  return target.startsWith('/') ? undefined : ABSOLUTE.exec(target)?.[1];
}

const ABSOLUTE = /^https?:\/\/([^/?#]+)/i;

/** True if a raw path, with or without its query, is the mount point or below it; false for `/api/a2abc`. */
export function isBelow(path: string, mount: string): boolean {
  // At the end of the path `charAt` is empty, and every text includes the empty one.
  return path.startsWith(mount) && '/?'.includes(path.charAt(mount.length));
}

/** True if the host of a URL is loopback. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host);
}

/** The groups of an IPv6 address as written, with zeros in place of `::`. */
export function ipv6Groups(address: string): readonly string[] {
  const [before = [], after] = address.split('::').map((half) => (half === '' ? [] : half.split(':')));
  if (after === undefined) return before;
  return [...before, ...Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0'), ...after];
}

/**
 * The configured address of a provider, `https` if it has no scheme; `undefined` for one with a user, a query or a
 * fragment, or that is not encrypted on its way to another machine.
 */
export function providerUrl(text: string): URL | undefined {
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `https://${text}`;
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  const { protocol, hostname, username, password, search, hash } = url;
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
  return isSafe && username + password + search + hash === '' ? url : undefined;
}
