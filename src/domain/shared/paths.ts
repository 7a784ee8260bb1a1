/** An address or a path without the slashes at its end. A pattern would look for the end again from each slash of a run. */
export function withoutTrailingSlashes(text: string): string {
  let end = text.length;
  while (text.charCodeAt(end - 1) === 0x2f) end -= 1;
  return text.slice(0, end);
}

/** True if a raw path, perhaps with its query, is the mount point or lies below it: `/api/a2abc` does not. */
export function isBelow(path: string, mount: string): boolean {
  // At the end of the path there is no character, and every text includes the empty one.
  return path.startsWith(mount) && '/?'.includes(path.charAt(mount.length));
}

/** True if the host of a URL is this machine: there alone a provider may speak http. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host);
}
