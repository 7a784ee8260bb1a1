import { RequestError } from '../../domain/shared/errors.js';
import type { HeaderFields, HttpRequest } from '../../ports/http.js';
import { readOrigin } from './host-name.js';

/** Which pages may use the routes. */
export interface OriginPolicy {
  /** Origin of the configured public address, such as `https://site.example`; empty when none is configured. */
  readonly publicOrigin: string;
  /** Further origins, such as `https://shop.example`. */
  readonly allowedOrigins: ReadonlySet<string>;
}

const CALL_OR_ALLOW =
  'Call the route from the site itself, or add the page\'s origin to "allowedOrigins" in configureServer.';
const EXACT_ADDRESS =
  'Set "publicUrl" to the address visitors use, and add other origins of the site to "allowedOrigins" in configureServer: www. beside the bare name, another scheme and another port each count as one.';

/**
 * Refuses requests that another site's page caused (decision 80).
 * Reading is safe with a service credential, so GET, HEAD and OPTIONS are looked at on session routes only.
 *
 * @throws RequestError `origin_refused`.
 */
export function checkOrigin(
  request: Pick<HttpRequest, 'method' | 'headers'>,
  policy: OriginPolicy,
  session: boolean,
): void {
  const { method, headers } = request;
  const site = single(headers, 'sec-fetch-site');
  const safe = method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
  if (safe && !(session && site === 'cross-site')) return;
  const origin = single(headers, 'origin');
  if (origin === undefined && site === undefined) return; // Not a browser: every browser sends one of the two.
  if (origin !== undefined && isListed(origin, policy.allowedOrigins)) return;
  // With any other value the browser itself says that the page is of another site.
  const isOwn = site === undefined || site === 'same-origin' || site === 'none';
  if (isOwn && isOwnPage(origin, site, single(headers, 'host') ?? '', policy.publicOrigin)) return;
  throw policy.publicOrigin === ''
    ? foreignPage(CALL_OR_ALLOW, ['allowedOrigins'])
    : foreignPage(EXACT_ADDRESS, ['publicUrl', 'allowedOrigins']);
}

function isOwnPage(origin: string | undefined, site: string | undefined, host: string, publicOrigin: string): boolean {
  if (publicOrigin !== '') {
    // A name that leads here without being ours (DNS rebinding) is the same origin to the browser: its word and the Host field prove nothing.
    if (origin !== undefined) return origin === publicOrigin || readOrigin(origin) === publicOrigin;
    return readOrigin(`${schemeOf(publicOrigin)}://${host}`) === publicOrigin;
  }
  if (site !== undefined || origin === undefined) return site !== undefined;
  const page = readOrigin(origin);
  // The scheme is the page's: behind a TLS terminator the server does not know its own.
  return page !== undefined && readOrigin(`${schemeOf(page)}://${host}`) === page;
}

function isListed(origin: string, allowedOrigins: ReadonlySet<string>): boolean {
  if (allowedOrigins.size === 0) return false;
  return allowedOrigins.has(origin) || allowedOrigins.has(readOrigin(origin) ?? '');
}

function schemeOf(origin: string): string {
  return origin.slice(0, origin.indexOf(':'));
}

function foreignPage(hint: string, fields: readonly string[]): RequestError {
  return new RequestError('origin_refused', { detail: 'The request comes from a page of another site.', hint, fields });
}

/** A field that must come once; two of them count as none. */
function single(headers: HeaderFields, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' || value === undefined ? value : value.join(',');
}
