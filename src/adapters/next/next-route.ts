import { isBelow } from '../../domain/shared/paths.js';
import type { HttpBody, HttpHandler, HttpResponse, MountedHandler } from '../../ports/http.js';
import { FetchRequest, headerFields, requestAddress, type Target } from '../fetch/request.js';
import { toResponse } from '../fetch/response.js';

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

/** The field in which Next passes a route the cookies that the site's `proxy.ts` set for the same request. Next drops it when a browser sends it. */
const PROXY_COOKIES = 'x-middleware-set-cookie';

/** The rule by which a route finds its mount point in a path. */
export interface MountRule {
  /** Where the route usually lies, such as `/api/a2a`; a base path may stand before it. */
  readonly usual: string;
  /** The path the route always has below its mount point, for routes that serve nothing else. */
  readonly fixed?: string;
}

/** Wraps one of our handlers as a Next route; `rule` says where it is mounted. */
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
    const { [PROXY_COOKIES]: written, ...sent } = headerFields(request);
    const headers = withDecodable(
      written === undefined ? sent : (await import('./proxy-cookies.js')).withProxyCookies(sent, written),
    );
    const { mount, path: below } = targetOf(path, found, rule);
    const route = routes.find((one) => isBelow(below, one.mount)) ?? { mount: '', handler: otherwise };
    const base = (isBelow(mount, basePath()) ? mount : basePath() + mount) + route.mount;
    const read = new FetchRequest(request, address, { mount: base, path: below.slice(route.mount.length) }, headers);
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

/**
 * Finds the mount point in a raw path. The segments that a catch-all parameter took (`[...path]`) lie below it; without one,
 * the usual mount point is looked for, and else the whole path is the mount point.
 */
function targetOf(path: string, params: unknown, { usual, fixed }: MountRule): Target {
  if (fixed !== undefined) {
    const whole = withoutSlash(path);
    return { mount: whole.endsWith(fixed) ? whole.slice(0, whole.length - fixed.length) : whole, path: fixed };
  }
  const mount = path.slice(0, mountLength(path, params, usual));
  return { mount, path: path.slice(mount.length) };
}

/** A path without the slash at its end, which Next itself adds on sites with `trailingSlash`. */
function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

function mountLength(path: string, params: unknown, usual: string): number {
  const caught = Object.values(Object(params) as object).find((value) => Array.isArray(value));
  // An encoded slash divides no segments.
  const segments = withoutSlash(path).split('/');
  if (caught !== undefined) return segments.slice(0, segments.length - caught.length).join('/').length;
  // The first one: what a visitor chooses stands behind it.
  const at = `${path}/`.indexOf(`${usual}/`);
  return at < 0 ? path.length : at + usual.length;
}

// Next writes these settings into the code it compiles, in place of exactly these expressions.

interface Compiled {
  readonly __NEXT_TRAILING_SLASH?: unknown;
  readonly __NEXT_ROUTER_BASEPATH?: unknown;
}

/** True where the site's `trailingSlash` is on: Next then redirects every address without a slash at its end, so the slash means nothing. */
function addsSlashes(): boolean {
  const setting = (process.env as Compiled).__NEXT_TRAILING_SLASH;
  return setting === true || setting === 'true';
}

/** The site's `basePath`, such as `/shop`, which is in no address a route is given; else empty. */
function basePath(): string {
  const setting = (process.env as Compiled).__NEXT_ROUTER_BASEPATH;
  return typeof setting === 'string' ? setting : '';
}

/**
 * The response without its content coding. Next drops `content-encoding` from what a route gives it, whatever the bytes are.
 * A coding nobody knows breaks it off: the browser would take compressed bytes for the text.
 */
function plainResponse(response: HttpResponse): HttpResponse {
  const { 'content-encoding': coding, 'content-length': _length, ...headers } = response.headers;
  if (coding === undefined || coding === 'identity') return response;
  return { ...response, headers, body: response.body && decoded(response.body, String(coding)) };
}

/** Few platforms compress for a server that does not ask for it, so what decodes is loaded when one does. */
async function* decoded(body: Exclude<HttpBody, null>, coding: string): AsyncGenerator<Uint8Array> {
  const { decodedBody } = await import('../node/decoded-body.js');
  yield* decodedBody(body, coding);
}

/** The fields of a request that asks the platform for no coding but those that can be taken off again. */
function withDecodable<Fields extends Readonly<Record<string, string>>>(headers: Fields): Fields {
  const accepted = headers['accept-encoding'];
  if (accepted === undefined) return headers;
  const kept = accepted.split(',').filter((one) => /^\s*(?:br|deflate|gzip)\s*(?:;|$)/i.test(one));
  return { ...headers, 'accept-encoding': kept.join(',') || 'identity' };
}
