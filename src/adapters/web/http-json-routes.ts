import { type HttpJsonBinding, httpJsonCall } from '../../domain/chat/http-json-binding.js';
import type { MethodPolicy } from '../../domain/chat/method-policy.js';
import { type RouteAuth, mayHoldSession } from '../../domain/credentials/route-auth.js';
import type { HttpHandler, HttpRequest } from '../../ports/http.js';
import { methodNotAllowed, notFound, REST_ERRORS } from './error-response.js';
import { checkOrigin } from './origin-check.js';
import { chatAddress } from './public-address.js';
import { type BodyLimits, type JsonBody, readJsonBody } from './read-body.js';
import { errorContext, serveRoute, type SiteSettings } from './serve-route.js';
import { checkVisitor } from './visitor-limit.js';

/** What the routes of the HTTP+JSON binding need. */
export interface HttpJsonRoutes {
  readonly site: SiteSettings;
  readonly binding: HttpJsonBinding;
  readonly auth: RouteAuth;
  readonly policy: MethodPolicy;
  /** Protocol bindings of the chat routes. */
  readonly bindings: readonly string[];
  /** The configured public address; empty when there is none. */
  readonly publicUrl: string;
}

const ROUTE = 'chat';
const JSON_TYPES = ['application/json', 'application/a2a+json'];

/** Routes below the chat mount point for clients of the HTTP+JSON binding, v1.0 and v0.3; everything else there is 404. */
export function httpJsonRoutes(routes: HttpJsonRoutes): HttpHandler {
  const { site, auth, policy, bindings } = routes;
  return async (request) => {
    const call = httpJsonCall(request.path);
    if (call === undefined) return notFound(request, errorContext(site, ROUTE));
    if (!Object.hasOwn(call.methods, request.method)) {
      return methodNotAllowed(Object.keys(call.methods).join(', '), errorContext(site, ROUTE));
    }
    return serveRoute({ site, route: ROUTE, errors: REST_ERRORS }, request, async () => {
      checkOrigin(request, site.origins, mayHoldSession(auth));
      if (auth.kind !== 'session') await checkVisitor(request, site);
      const { url } = chatAddress(request.publicUrl, routes.publicUrl);
      const body = await bodyOf(request, site);
      try {
        return await routes.binding.forward({ head: request, call, body }, auth, policy, { url, policy, bindings });
      } finally {
        body?.release();
      }
    });
  };
}

/** Cancelling and subscribing need no body, so its absence is no fault of the request. */
async function bodyOf(request: HttpRequest, limits: BodyLimits): Promise<JsonBody | undefined> {
  if (request.method !== 'POST' || (request.body === null && !request.bodyConsumed)) return undefined;
  return readJsonBody(request, limits, JSON_TYPES);
}
