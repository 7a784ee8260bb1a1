import { uriDecoded } from '../../domain/shared/bytes.js';

/** The servers that an address names. */
export interface RedisServers {
  /** One URL each, as the client library supports it; may contain the password. */
  readonly urls: readonly string[];
  /** The name of the primary if the servers are Sentinels; otherwise empty. */
  readonly primaryName: string;
}

const ONE_SCHEME = 'Write the scheme once, with commas between the servers: redis://a.example:6379,b.example:6379.';
const PRIMARY_NAME =
  'Add the name that the Sentinels know the primary by: redis+sentinel://a.example:26379,b.example:26379/mymaster.';
const ADDRESS =
  'Set it to an address with redis, rediss, valkey or valkeys as scheme, such as rediss://cache.example:6379/0; percent-encode the special characters of its password.';

const FORM = /^(?:redis|valkey)(s?)(\+sentinel)?:\/\/([^@/?#]*@)?([^@/?#]*)((?:\/[^/?#]*){0,2})$/i;

/**
 * Parses `redis://user:password@a:6379,b:6379/0` and `redis+sentinel://user:password@a:26379,b:26379/mymaster/0`, also
 * with `rediss`, `valkey` or `valkeys`. The result for an unusable address is the advice.
 */
export function redisServers(address: string): RedisServers | string {
  const [, tls, sentinel, login = '', hosts = '', path = ''] = FORM.exec(address) ?? [];
  if (/,\s*[a-z+]+:\/\//i.test(address)) return ONE_SCHEME;
  if (tls === undefined) return ADDRESS;
  const parts = path.split('/').slice(1);
  const primaryName = sentinel === undefined ? '' : (uriDecoded(parts.shift() ?? '') ?? '');
  if (sentinel !== undefined && primaryName === '') return PRIMARY_NAME;
  const [database = '', ...rest] = parts;
  const port = sentinel === undefined ? '' : ':26379';
  const urls = hosts.split(',').map((host) => {
    const authority = /:\d+$/.test(host) ? host : host + port;
    return `redis${tls.toLowerCase()}://${login}${authority}${database === '' ? '' : `/${database}`}`;
  });
  const isValid = rest.every((part) => part === '') && /^\d*$/.test(database) && urls.every(isUsable);
  return isValid ? { urls, primaryName } : ADDRESS;
}

function isUsable(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname, password } = new URL(url);
  return hostname !== '' && uriDecoded(password) !== undefined;
}

/** The URL of another server, with the user and password of this one; without a name, on the same host. */
export function besideUrl(url: string, host: string, port: number): string {
  const other = new URL(url);
  other.port = String(port);
  if (host !== '' && host !== '?') other.hostname = host.includes(':') ? `[${host}]` : host;
  return other.href;
}
