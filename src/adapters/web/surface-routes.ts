import { mayHoldSession, type RouteAuth } from '../../domain/credentials/route-auth.js';
import { RequestError } from '../../domain/shared/errors.js';
import type { RenderCache } from '../../domain/surfaces/render-cache.js';
import { methodsOf, type SurfaceRoute, surfaceRoute } from '../../domain/surfaces/surface-ref.js';
import type { SurfaceRequest, SurfaceService } from '../../domain/surfaces/surface-service.js';
import { JsonCursor, JsonTextError } from '../../domain/shared/json-cursor.js';
import { isSafeQuery } from '../../domain/upstream/safe-path.js';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../ports/http.js';
import { errorContext, methodNotAllowed, notFound } from './error-response.js';
import { checkOrigin } from './admission.js';
import { readJsonBody } from './request-body.js';
import { serveRoute } from './serve-route.js';
import type { SiteSettings } from './site-settings.js';

export interface SurfaceRoutes {
  readonly site: SiteSettings;
  readonly service: SurfaceService;
  readonly auth: RouteAuth;
  /** Absent if renders are not cached. */
  readonly cache: RenderCache | undefined;
}

const ROUTE = 'surface';

/** Routes below the surfaces' mount point: render, actions and theme, by id and by name, and no others. */
export function surfaceRoutes(routes: SurfaceRoutes): HttpHandler {
  return (request) => {
    const route = isSafeQuery(request.query) ? surfaceRoute(request.path) : undefined;
    if (route === undefined) return Promise.resolve(notFound(request, errorContext(routes.site, ROUTE)));
    const methods = methodsOf(route);
    return methods.includes(request.method)
      ? serveRoute({ site: routes.site, route: ROUTE }, request, () => serve(routes, route, request))
      : Promise.resolve(methodNotAllowed(methods.join(', '), errorContext(routes.site, ROUTE)));
  };
}

async function serve(
  { site, service, auth, cache }: SurfaceRoutes,
  route: SurfaceRoute,
  request: HttpRequest,
): Promise<HttpResponse> {
  // The site's own headers may come from a session too.
  checkOrigin(request, site.origins, mayHoldSession(auth));
  switch (route.operation) {
    case 'render':
      return withBody(request, site, async (read) => {
        return recordCacheOutcome(site, cache, await service.render(route.ref, read, auth, cache));
      });
    case 'action':
      return withBody(request, site, (read) => service.action(route.ref, route.action, read, auth, cache));
    case 'theme':
      return service.theme(route.ref, { head: request, body: null }, auth);
  }
}

const OUTCOMES = { HIT: 'hit', REVALIDATED: 'revalidated', MISS: 'miss', BYPASS: 'bypass' } as const;

/** Reports the source of a render to operators, if renders are cached. */
function recordCacheOutcome(
  { telemetry }: SiteSettings,
  cache: RenderCache | undefined,
  response: HttpResponse,
): HttpResponse {
  const status = response.headers['x-cache'] as keyof typeof OUTCOMES | undefined;
  if (cache !== undefined && status !== undefined) {
    telemetry.emit({ type: 'cache', route: ROUTE, outcome: OUTCOMES[status] });
  }
  return response;
}

/** Serves a request with its JSON body, which is optional: a widget may be rendered without input. */
async function withBody(
  request: HttpRequest,
  site: SiteSettings,
  serve: (request: SurfaceRequest) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  if (request.body === null && !request.bodyConsumed) return serve({ head: request, body: null });
  const body = await readJsonBody(request, site);
  try {
    // Only valid JSON is forwarded, whether or not renders are cached.
    checkJson(body.bytes);
    return await serve({ head: request, body: body.bytes, contentType: body.type });
  } finally {
    body.share.release();
  }
}

function checkJson(bytes: Uint8Array): void {
  try {
    const cursor = new JsonCursor(bytes);
    cursor.skipValue();
    cursor.end();
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw new RequestError('body_invalid', {
      detail:
        error.reason === 'depth' ? 'The request body is nested too deeply.' : 'The request body is not JSON in UTF-8.',
      hint: 'Send one JSON value.',
    });
  }
}
