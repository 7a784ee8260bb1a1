/** An address or a path without trailing slashes. A regular expression would take quadratic time on a run of slashes. */
export function withoutTrailingSlashes(text: string): string {
  let end = text.length;
  while (text.charCodeAt(end - 1) === 0x2f) end -= 1;
  return text.slice(0, end);
}

/** A text without percent-encoding; `undefined` if it is not valid. */
export function uriDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** True if a raw path, with or without its query, is the mount point or below it; false for `/api/a2abc`. */
export function isBelow(path: string, mount: string): boolean {
  // At the end of the path `charAt` is empty, and every text includes the empty one.
  return path.startsWith(mount) && '/?'.includes(path.charAt(mount.length));
}

/** True if the host of a URL is loopback: only there may a provider use http. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host);
}
