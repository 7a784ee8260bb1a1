import { RequestError } from '../../domain/errors.js';
import type { HeaderFields, HttpRequest } from '../../ports/http.js';

/** Which pages may use the routes. */
export interface OriginPolicy {
  /** Host (and port) of the configured public address; empty when none is configured. */
  readonly publicHost: string;
  /** Further origins, such as `https://shop.example`. */
  readonly allowedOrigins: ReadonlySet<string>;
}

/**
 * Refuses requests that another site's page caused (DESIGN §5, "Anti-forgery").
 * Reading is safe with a service credential, so GET, HEAD and OPTIONS are looked at on session routes only.
 *
 * @throws RequestError `origin_refused`.
 */
export function checkOrigin(
  request: Pick<HttpRequest, 'method' | 'headers'>,
  policy: OriginPolicy,
  session: boolean,
): void {
  const safe = request.method === 'GET' || request.method === 'HEAD' || request.method === 'OPTIONS';
  if (safe && !(session && single(request.headers, 'sec-fetch-site') === 'cross-site')) return;
  const site = single(request.headers, 'sec-fetch-site');
  if (site === 'same-origin' || site === 'none') return;
  const origin = single(request.headers, 'origin');
  if (origin === undefined && site === undefined) return; // Not a browser: every browser sends one of the two.
  if (origin !== undefined && policy.allowedOrigins.has(origin)) return;
  if (site === undefined && origin !== undefined) {
    const host = hostOf(origin);
    if (host !== '' && (host === policy.publicHost || host === single(request.headers, 'host')?.toLowerCase())) return;
  }
  throw new RequestError('origin_refused', {
    detail: 'The request comes from a page of another site.',
    hint: 'Call the route from the site itself, or add the page\'s origin to "allowedOrigins" in configureServer.',
    fields: ['allowedOrigins'],
  });
}

/** The host of an origin, without the scheme's default port; empty for `null` and anything that is no single origin. */
function hostOf(origin: string): string {
  const parts = /^(https?):\/\/([^/\s,@]+)$/i.exec(origin);
  if (parts === null) return '';
  const defaultPort = parts[1]?.toLowerCase() === 'https' ? ':443' : ':80';
  const host = (parts[2] ?? '').toLowerCase();
  return host.endsWith(defaultPort) ? host.slice(0, -defaultPort.length) : host;
}

/** A field that must come once; two of them are no answer at all. */
function single(headers: HeaderFields, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' || value === undefined ? value : value.join(',');
}
