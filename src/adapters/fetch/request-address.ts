/** The parts of a request's address, raw. */
export interface RequestAddress {
  /** With its colon, such as `https:`. */
  readonly scheme: string;
  /** With its port. */
  readonly host: string;
  /** Starts with `/`; dot segments and backslashes are resolved already, escapes are as they came. */
  readonly path: string;
  /** With its `?`, or empty. */
  readonly query: string;
}

/**
 * Cuts the `url` of a Web `Request` into its parts. `Request` has parsed and written it by the rules of the URL standard:
 * it is absolute, `..` (also as `%2e%2e`) has gone as far as it goes, so a path below a mount point stays below it.
 */
export function requestAddress(url: string): RequestAddress {
  const { protocol: scheme, host, pathname: path, search } = new URL(url);
  // `search` of an empty query is empty.
  return { scheme, host, path, query: search || (url.endsWith('?') ? '?' : '') };
}
