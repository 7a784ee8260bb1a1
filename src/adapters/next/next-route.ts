import { isBelow } from '../../domain/shared/paths.js';
import type { HttpHandler, MountedHandler } from '../../ports/http.js';
import { requestAddress } from '../fetch/request-address.js';
import { headerFields, toHttpRequest } from '../fetch/to-http-request.js';
import { toResponse } from '../fetch/to-response.js';
import { addsSlashes, basePath, type MountRule, targetOf, withoutSlash } from './mount.js';
import { plainResponse, withDecodable } from './plain-response.js';

/**
 * A route handler, and the same under each name a route file of Next exports:
 * `export { handler as POST }` and `export const { GET, POST } = handler` both work.
 * `context` is what Next gives as second argument; it may be missing.
 *
 * @public
 */
export interface NextRoute extends Readonly<
  Record<
    'GET' | 'HEAD' | 'OPTIONS' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    (request: Request, context?: unknown) => Promise<Response>
  >
> {
  /** Serves one request of a route file. */
  (request: Request, context?: unknown): Promise<Response>;
}

/** How Next tells a route which cookies the site's `proxy.ts` set for the same request. Next drops the field when a browser sends it. */
export const PROXY_COOKIES = 'x-middleware-set-cookie';

/** A route handler for a handler of ours, which lies where the rule says. */
export function nextRoute(handler: HttpHandler, rule: MountRule): NextRoute {
  return nextRoutes([], handler, rule);
}

/** The same for several; `otherwise` takes what lies below none of them. */
export function nextRoutes(routes: readonly MountedHandler[], otherwise: HttpHandler, rule: MountRule): NextRoute {
  const serve: NextRoute['GET'] = async (request, context) => {
    const { params } = Object(context) as { params?: unknown };
    // A promise since Next 15, the object itself before.
    const found = await params;
    const address = requestAddress(request.url);
    const path = addsSlashes() ? withoutSlash(address.path) : address.path;
    const sent = headerFields(request);
    const headers = withDecodable(
      sent[PROXY_COOKIES] === undefined ? sent : (await import('./proxy-cookies.js')).withProxyCookies(sent),
    );
    const { mount, path: below } = targetOf(path, found, rule);
    const route = routes.find((one) => isBelow(below, one.mount)) ?? { mount: '', handler: otherwise };
    const base = (isBelow(mount, basePath()) ? mount : basePath() + mount) + route.mount;
    const read = toHttpRequest(request, address, { mount: base, path: below.slice(route.mount.length) }, headers);
    return toResponse(plainResponse(await route.handler(read)), read);
  };
  return Object.assign(serve, {
    GET: serve,
    HEAD: serve,
    OPTIONS: serve,
    POST: serve,
    PUT: serve,
    PATCH: serve,
    DELETE: serve,
  });
}
