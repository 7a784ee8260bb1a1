import { redisServers } from '../../adapters/keyv/redis-address.js';
import type { HostName, HostPolicy } from '../../adapters/web/admission.js';
import { withoutTrailingSlashes } from '../../domain/shared/paths.js';
import { type Secret, secret } from '../../domain/shared/secret.js';
import { invalidField } from '../../domain/shared/setting.js';
import { endpoint } from '../../domain/upstream/platform-call.js';

/** Parses `publicUrl`; empty if it is not set. */
export function publicAddress(value = ''): string {
  if (value === '') return '';
  const { origin, path } = endpoint('publicUrl', value);
  return withoutTrailingSlashes(origin + path);
}

/**
 * Parses one origin of the list `name`; in `allowedOrigins`, also one of an app or extension.
 *
 * @throws ConfigurationError for anything besides scheme and host.
 */
export function originOf(origin: string, name: string): string {
  if (/^[a-z][a-z\d+.-]*:\/\/[^/\\?#*\s,@]+$/i.test(origin) && URL.canParse(origin)) {
    const { protocol, host, origin: parsed } = new URL(origin); // Browsers omit the scheme's default port.
    if (/^https?:$/.test(protocol)) return parsed;
    // `URL` knows no origin for the scheme of an app. That of a file's page is `null`; `xhttps:` is a typing error.
    if (name === 'allowedOrigins' && parsed === 'null' && !/^file:|http/.test(protocol)) return `${protocol}//${host}`;
  }
  throw invalidField(name, `Invalid origin in "${name}".`, 'List scheme and host only, such as https://shop.example.');
}

/**
 * Parses one entry of `allowedHosts`: a name or an address, with a port if only that port is allowed.
 *
 * @throws ConfigurationError for schemes, paths, user names, wildcards and invalid ports.
 */
export function allowedHost(entry: string): HostName {
  const [, written = '', port = ''] = /^(\[[0-9a-f:.]+\]|[^\s/\\?#@:%*,[\]]+)(?::(\d+))?$/i.exec(entry) ?? [];
  const address = `http://${written}${port === '' ? '' : `:${port}`}`;
  if (written !== '' && URL.canParse(address)) {
    return { name: new URL(address).hostname, port: port === '' ? '' : String(Number(port)) };
  }
  const hint =
    'List host names, with a port if only that port is allowed, such as site.example, 10.0.0.7:3000 or [::1]: no scheme, path, user name or wildcard.';
  throw invalidField('allowedHosts', 'Invalid value in "allowedHosts".', hint);
}

/**
 * The host names a site accepts; `undefined` if it accepts any. With `loopback`, a server for this machine only also
 * accepts loopback names, and no others (DNS rebinding).
 */
export function hostPolicy(
  { publicUrl, allowedHosts }: { readonly publicUrl: string; readonly allowedHosts: readonly HostName[] },
  loopback = false,
): HostPolicy | undefined {
  if (allowedHosts.length === 0 && !loopback) return undefined;
  const names = new Set<string>();
  const namesWithPort = new Set<string>();
  const { hostname, port } = publicUrl === '' ? { hostname: '', port: '' } : new URL(publicUrl);
  const own = hostname === '' ? [] : [{ name: hostname, port }];
  for (const host of [...own, ...allowedHosts]) {
    if (host.port === '') names.add(host.name);
    else namesWithPort.add(`${host.name}:${host.port}`);
    // The default ports are omitted in the field, and only a proxy knows which of the two schemes was used.
    if (host.port === '80' || host.port === '443') namesWithPort.add(`${host.name}:`);
  }
  return { names, namesWithPort, loopback };
}

/** The address of a shared cache. */
export interface CacheAddress {
  /** May contain the password. */
  readonly url: Secret;
  /** As written in the address; empty if there is none. */
  readonly writtenPassword: Secret;
  /** As sent. */
  readonly password: Secret;
}

/**
 * Parses the address of a shared cache. `maker` is the function that the site called.
 *
 * @throws ConfigurationError when it is invalid; the address is not quoted, since it may contain a password.
 */
export function cacheAddress(text: string, maker: string): CacheAddress {
  const address = text.trim();
  const servers = redisServers(address);
  if (typeof servers === 'string')
    throw invalidField('cacheStore', `Invalid value for "cacheStore" of ${maker}.`, servers, maker);
  const { password } = new URL(servers.urls[0] ?? '');
  return { url: secret(address), writtenPassword: secret(password), password: secret(decodeURIComponent(password)) };
}
