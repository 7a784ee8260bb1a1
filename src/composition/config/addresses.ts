import type { HostName, HostPolicy } from '../../adapters/web/admission.js';
import { ConfigurationError } from '../../domain/shared/errors.js';
import { withoutTrailingSlashes } from '../../domain/shared/paths.js';
import { type Secret, secret } from '../../domain/shared/secret.js';
import { endpoint } from '../../domain/upstream/platform-call.js';

/** The error for a field of `configureServer` whose value cannot be used. */
export function invalidField(field: string, detail: string, hint: string): ConfigurationError {
  return new ConfigurationError({ detail, hint, block: 'configureServer', fields: [field] });
}

/** Reads `publicUrl`; empty when it is not set. */
export function publicAddress(value = ''): string {
  if (value === '') return '';
  const { origin, path } = endpoint('publicUrl', value);
  return withoutTrailingSlashes(origin + path);
}

/**
 * Reads one origin of the list `name`.
 *
 * @throws ConfigurationError for anything besides scheme and host.
 */
export function originOf(origin: string, name: string): string {
  // Browsers leave the scheme's own port out.
  if (/^https?:\/\/[^/\\?#*\s,@]+$/i.test(origin) && URL.canParse(origin)) return new URL(origin).origin;
  throw invalidField(name, `Invalid origin in "${name}".`, 'List scheme and host only, such as https://shop.example.');
}

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
  const hint =
    'List host names, each with a port where only that one counts, such as site.example, 10.0.0.7:3000 or [::1]: no scheme, path, user name or wildcard.';
  throw invalidField('allowedHosts', 'Invalid value in "allowedHosts".', hint);
}

/** The names by which a site may be called; `undefined` when any will do. `loopback`: a server on this machine alone is called by its names too, and by no others (DNS rebinding). */
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

/** The address of a shared cache. */
export interface CacheAddress {
  /** With the scheme its client library knows; the password may stand in it. */
  readonly url: Secret;
  /** As it stands in the address; empty without one. */
  readonly writtenPassword: Secret;
  /** As it is sent. */
  readonly password: Secret;
}

/** Valkey speaks the protocol of Redis. */
const SCHEMES: Readonly<Record<string, string>> = {
  'redis:': 'redis:',
  'rediss:': 'rediss:',
  'valkey:': 'redis:',
  'valkeys:': 'rediss:',
};

/**
 * Reads the address of a shared cache.
 *
 * @throws ConfigurationError when it is none; the address is not quoted, since a password may stand in it.
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

/** Nothing but a database's number behind the host. */
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
