import type { HostName, HostPolicy } from '../../adapters/web/admission.js';
import type { ConfigurationError } from '../../domain/shared/errors.js';
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
 * Parses one origin of the list `name`.
 *
 * @throws ConfigurationError for anything besides scheme and host.
 */
export function originOf(origin: string, name: string): string {
  // Browsers omit the scheme's default port.
  if (/^https?:\/\/[^/\\?#*\s,@]+$/i.test(origin) && URL.canParse(origin)) return new URL(origin).origin;
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
  const places = new Set<string>();
  const { hostname, port } = publicUrl === '' ? { hostname: '', port: '' } : new URL(publicUrl);
  const own = hostname === '' ? [] : [{ name: hostname, port }];
  for (const host of [...own, ...allowedHosts]) {
    if (host.port === '') names.add(host.name);
    else places.add(`${host.name}:${host.port}`);
    // The default ports are omitted in the field, and only a proxy knows which of the two schemes was used.
    if (host.port === '80' || host.port === '443') places.add(`${host.name}:`);
  }
  return { names, places, loopback };
}

/** The address of a shared cache. */
export interface CacheAddress {
  /** With the scheme that its client library supports; may contain the password. */
  readonly url: Secret;
  /** As written in the address; empty if there is none. */
  readonly writtenPassword: Secret;
  /** As sent. */
  readonly password: Secret;
}

/** Valkey uses the protocol of Redis. */
const SCHEMES: Readonly<Record<string, string>> = {
  'redis:': 'redis:',
  'rediss:': 'rediss:',
  'valkey:': 'redis:',
  'valkeys:': 'rediss:',
};

/**
 * Parses the address of a shared cache.
 *
 * @throws ConfigurationError when it is invalid; the address is not quoted, since it may contain a password.
 */
export function cacheAddress(text: string): CacheAddress {
  const address = text.trim();
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const scheme = SCHEMES[url?.protocol ?? ''];
  if (url === undefined || scheme === undefined || url.hostname === '' || !isPlain(url)) throw unsupportedCache();
  return {
    url: secret(scheme + address.slice(address.indexOf(':') + 1)),
    writtenPassword: secret(url.password),
    password: secret(decoded(url.password)),
  };
}

/** True if only a database number follows the host. */
function isPlain({ pathname, search, hash }: URL): boolean {
  return /^(?:\/\d*)?$/.test(pathname) && search === '' && hash === '';
}

function decoded(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    throw unsupportedCache();
  }
}

function unsupportedCache(): ConfigurationError {
  const hint =
    'Set it to an address with redis, rediss, valkey or valkeys as scheme, such as rediss://cache.example:6379/0; ' +
    'percent-encode the special characters of its password.';
  return invalidField('cacheStore', 'Unsupported "cacheStore" URL.', hint);
}
