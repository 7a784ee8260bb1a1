import { isBelow } from '../../domain/shared/paths.js';
import type { HttpHandler } from '../../ports/http.js';
import { requestAddress } from '../fetch/request-address.js';
import { headerFields, toHttpRequest } from '../fetch/to-http-request.js';
import { toResponse } from '../fetch/to-response.js';
import { addsSlashes, basePath, type MountRule, targetOf, withoutSlash } from './mount.js';
import { plainAnswer, withDecodable } from './plain-answer.js';
import { withProxyCookies } from './proxy-cookies.js';

/**
 * Answers one request of a route file. `context` is what Next gives as second argument; it may be missing.
 *
 * @public
 */
export type NextRouteFunction = (request: Request, context?: unknown) => Promise<Response>;

/**
 * A route handler, and the same under each name a route file of Next exports:
 * `export { handler as POST }` and `export const { GET, POST } = handler` both work.
 *
 * @public
 */
export interface NextRoute extends NextRouteFunction {
  /** The handler itself. */
  readonly GET: NextRouteFunction;
  /** The handler itself. */
  readonly HEAD: NextRouteFunction;
  /** The handler itself. */
  readonly OPTIONS: NextRouteFunction;
  /** The handler itself. */
  readonly POST: NextRouteFunction;
  /** The handler itself. */
  readonly PUT: NextRouteFunction;
  /** The handler itself. */
  readonly PATCH: NextRouteFunction;
  /** The handler itself. */
  readonly DELETE: NextRouteFunction;
}

/** A route handler for a handler of ours, which lies where the rule says. */
export function nextRoute(handler: HttpHandler, rule: MountRule): NextRoute {
  const route: NextRouteFunction = async (request, context) => {
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
