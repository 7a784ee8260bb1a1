import { isBelow } from '../../domain/shared/paths.js';
import type { HttpHandler } from '../../ports/http.js';
import { requestAddress } from '../fetch/request-address.js';
import { headerFields, toHttpRequest } from '../fetch/to-http-request.js';
import { toResponse } from '../fetch/to-response.js';
import { addsSlashes, basePath, type MountRule, targetOf, withoutSlash } from './mount.js';
import { plainAnswer, withDecodable } from './plain-answer.js';
import { withProxyCookies } from './proxy-cookies.js';

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

/** A route handler for a handler of ours, which lies where the rule says. */
export function nextRoute(handler: HttpHandler, rule: MountRule): NextRoute {
  const route: NextRoute['GET'] = async (request, context) => {
    const { params } = Object(context) as { params?: unknown };
    // A promise since Next 15, the object itself before.
    const found = await params;
    const address = requestAddress(request.url);
    const path = addsSlashes() ? withoutSlash(address.path) : address.path;
    const headers = withDecodable(withProxyCookies(headerFields(request)));
    const { mount, path: below } = targetOf(path, found, rule);
    const target = { mount: isBelow(mount, basePath()) ? mount : basePath() + mount, path: below };
    const read = toHttpRequest(request, address, target, headers);
    return toResponse(plainAnswer(await handler(read)), read);
  };
  return Object.assign(route, {
    GET: route,
    HEAD: route,
    OPTIONS: route,
    POST: route,
    PUT: route,
    PATCH: route,
    DELETE: route,
  });
}
