import type { HostName, HostPolicy } from '../../adapters/web/admission.js';
import { ConfigurationError } from '../../domain/shared/errors.js';

/**
 * Reads one entry of `allowedHosts`: a name or an address, and the port where only that one counts.
 *
 * @throws ConfigurationError for schemes, paths, user names, wildcards and ports no host has.
 */
export function allowedHost(entry: string): HostName {
  const [, written = '', port = ''] = /^(\[[0-9a-f:.]+\]|[^\s/\\?#@:%*,[\]]+)(?::(\d+))?$/i.exec(entry) ?? [];
  const address = `http://${written}${port === '' ? '' : `:${port}`}`;
  if (written !== '' && URL.canParse(address)) {
    return { name: new URL(address).hostname, port: port === '' ? '' : String(Number(port)) };
  }
  throw new ConfigurationError({
    detail: 'Invalid value in "allowedHosts".',
    hint: 'List host names, each with a port where only that one counts, such as site.example, 10.0.0.7:3000 or [::1]: no scheme, path, user name or wildcard.',
    block: 'configureServer',
    fields: ['allowedHosts'],
  });
}

/** By which names a site may be called; `undefined` when any will do. `loopback`: a server on this machine alone is called by its names too, and by no others (DNS rebinding). */
export function hostPolicy(
  { publicUrl, allowedHosts }: { readonly publicUrl: string; readonly allowedHosts: readonly HostName[] },
  loopback = false,
): HostPolicy | undefined {
  if (allowedHosts.length === 0 && !loopback) return undefined;
  const names = new Set<string>();
  const places = new Set<string>();
  const { hostname, port } = publicUrl === '' ? { hostname: '', port: '' } : new URL(publicUrl);
  const own = hostname === '' ? [] : [{ name: hostname, port }];
  for (const host of [...own, ...allowedHosts]) {
    if (host.port === '') names.add(host.name);
    else places.add(`${host.name}:${host.port}`);
    // The ports of http and https are left out of the field, and which of the two it was is known to a proxy alone.
    if (host.port === '80' || host.port === '443') places.add(`${host.name}:`);
  }
  return { names, places, loopback };
}
