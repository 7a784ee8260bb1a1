import { isBelow } from '../../domain/shared/paths.js';
import type { HttpBody, HttpHandler, HttpResponse, MountedHandler } from '../../ports/http.js';
import { toResponse } from '../fetch/fetch-handler.js';
import { FetchRequest, headerFields, requestAddress, type Target } from '../fetch/request.js';

/**
 * A route handler, and the same handler under each name that a Next route file exports: `export { handler as POST }`
 * and `export const { GET, POST } = handler` both work. `context` is Next's second argument; it may be missing.
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

/**
 * The field in which Next passes a route the cookies that the site's `proxy.ts` set for the same request. Next removes
 * it from browsers' requests.
 */
const PROXY_COOKIES = 'x-middleware-set-cookie';

/** Rules for finding the mount point of a route in a path. */
export interface MountRule {
  /** The usual path of the route, such as `/api/a2a`; a base path may precede it. */
  readonly usual: string;
  /** The route's fixed path below its mount point, for routes that serve nothing else. */
  readonly fixed?: string;
}

/** Wraps one of our handlers as a Next route; `rule` says where it is mounted. */
export function nextRoute(handler: HttpHandler, rule: MountRule): NextRoute {
  return nextRoutes([], handler, rule);
}

/** Wraps several handlers; `otherwise` handles paths below none of them. */
export function nextRoutes(routes: readonly MountedHandler[], otherwise: HttpHandler, rule: MountRule): NextRoute {
  const serve: NextRoute['GET'] = async (request, context) => {
    const { params } = Object(context) as { params?: unknown };
    // A promise since Next 15, a plain object before.
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
 * Finds the mount point in a raw path. The segments matched by a catch-all parameter (`[...path]`) are below it.
 * Without one, it is the usual mount point if the path contains it, otherwise the whole path.
 */
function targetOf(path: string, params: unknown, { usual, fixed }: MountRule): Target {
  if (fixed !== undefined) {
    const whole = withoutSlash(path);
    return { mount: whole.endsWith(fixed) ? whole.slice(0, whole.length - fixed.length) : whole, path: fixed };
  }
  const mount = path.slice(0, mountLength(path, params, usual));
  return { mount, path: path.slice(mount.length) };
}

/** A path without the trailing slash that Next adds on sites with `trailingSlash`. */
function withoutSlash(path: string): string {
  return path.replace(/(?<=.)\/$/, '');
}

function mountLength(path: string, params: unknown, usual: string): number {
  const caught = Object.values(Object(params) as object).find(Array.isArray);
  // An encoded slash does not separate segments.
  const segments = withoutSlash(path).split('/');
  if (caught !== undefined) return segments.slice(0, segments.length - caught.length).join('/').length;
  // The first one: what follows it is chosen by the visitor.
  const at = `${path}/`.indexOf(`${usual}/`);
  return at < 0 ? path.length : at + usual.length;
}

// Next replaces exactly these expressions with the settings when it compiles.

interface Compiled {
  readonly __NEXT_TRAILING_SLASH?: unknown;
  readonly __NEXT_ROUTER_BASEPATH?: string;
}

/** True if the site sets `trailingSlash`: Next then redirects every address without a trailing slash, so the slash has no meaning. */
function addsSlashes(): boolean {
  return String((process.env as Compiled).__NEXT_TRAILING_SLASH) === 'true';
}

/** The site's `basePath`, such as `/shop`, which Next removes from the addresses it passes to a route; otherwise empty. */
function basePath(): string {
  return (process.env as Compiled).__NEXT_ROUTER_BASEPATH ?? '';
}

/**
 * The response without its content coding. Next drops `content-encoding` from a route's response without decoding the
 * body. A response with an unknown coding is aborted: otherwise the browser would read compressed bytes as text.
 */
function plainResponse(response: HttpResponse): HttpResponse {
  const { 'content-encoding': coding, 'content-length': _length, ...headers } = response.headers;
  if (coding === undefined || coding === 'identity') return response;
  return { ...response, headers, body: response.body && decoded(response.body, String(coding)) };
}

/** Loaded on demand: few platforms compress for a server that does not request it. */
async function* decoded(body: Exclude<HttpBody, null>, coding: string): AsyncGenerator<Uint8Array> {
  const { decodedBody } = await import('../node/decoded-body.js');
  yield* decodedBody(body, coding);
}

/** The fields of a request, with `accept-encoding` limited to codings that can be decoded here. */
function withDecodable<Fields extends Readonly<Record<string, string>>>(headers: Fields): Fields {
  const accepted = headers['accept-encoding'];
  if (accepted === undefined) return headers;
  const codings = accepted.split(',').filter((one) => /^\s*(?:br|deflate|gzip)\s*(?:;|$)/i.test(one));
  return { ...headers, 'accept-encoding': codings.join(',') || 'identity' };
}
