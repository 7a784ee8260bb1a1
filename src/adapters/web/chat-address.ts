import { withoutTrailingSlashes } from '../../domain/shared/paths.js';

/** The public address of the chat route. */
export interface PublicAddress {
  /** Scheme, host and path, such as `https://site.example/api/a2a`. */
  readonly url: string;
  /** The path alone. */
  readonly path: string;
}

/**
 * The public address of the chat route, from the address of a request to it (or to its `/config`). Scheme and host of a
 * configured public address win: behind a TLS terminator the request does not show them. A path in the configured
 * address is put before the mount path, unless the host application already mounted the route below it.
 */
export function chatAddress(requested: string, configured: string): PublicAddress {
  const { origin, path } = split(requested);
  const mount = withoutTrailingSlashes(path).replace(/\/config$/, '');
  if (configured === '') return { url: origin + mount, path: mount === '' ? '/' : mount };
  const site = split(configured);
  const prefix = withoutTrailingSlashes(site.path);
  const full = mount === prefix || mount.startsWith(`${prefix}/`) ? mount : prefix + mount;
  return { url: site.origin + full, path: full === '' ? '/' : full };
}

function split(address: string): { readonly origin: string; readonly path: string } {
  const [, origin = '', path = ''] = /^(https?:\/\/[^/?#]*)([^?#]*)/i.exec(address) ?? [];
  return { origin, path };
}
