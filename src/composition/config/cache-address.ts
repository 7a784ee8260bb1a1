import { ConfigurationError } from '../../domain/shared/errors.js';
import { type Secret, secret } from '../../domain/shared/secret.js';

/** Where a shared cache is. */
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
  if (url === undefined || scheme === undefined || url.hostname === '' || !isPlain(url)) throw refused();
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
    throw refused();
  }
}

function refused(): ConfigurationError {
  return new ConfigurationError({
    detail: 'Unsupported "cacheStore" URL.',
    hint:
      'Set it to an address with redis, rediss, valkey or valkeys as scheme, such as rediss://cache.example:6379/0; ' +
      'percent-encode the special characters of its password.',
    block: 'configureServer',
    fields: ['cacheStore'],
  });
}
