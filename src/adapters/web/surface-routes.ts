import type { RenderCache } from '../../domain/surfaces/render-cache.js';
import { methodsOf, type SurfaceRoute, surfaceRoute } from '../../domain/surfaces/surface-ref.js';
import type { SurfaceRequest, SurfaceService } from '../../domain/surfaces/surface-service.js';
import { isSafeQuery } from '../../domain/upstream/safe-path.js';
import type { HttpHandler } from '../../ports/http.js';
import { type Reader, route, type RouteMount } from './door.js';
import { PROBLEMS } from './error-response.js';
import { checkInput, isAbsent, json } from './readers.js';

export interface SurfaceRoutes extends RouteMount {
  readonly service: SurfaceService;
  /** Absent if renders are not cached. */
  readonly cache: RenderCache | undefined;
}

/** Routes below the surfaces' mount point: render, actions and theme, by id and by name, and no others. */
export function surfaceRoutes(mount: SurfaceRoutes): HttpHandler {
  const { service, auth, cache } = mount;
  const { telemetry } = mount.site;
  return route<SurfaceRequest, SurfaceRoute>(
    {
      name: 'surface',
      target: ({ path, query }) => (isSafeQuery(query) ? surfaceRoute(path) : undefined),
      methods: methodsOf,
      origin: 'own-pages-with-session',
      limit: 'none',
      read,
      errors: PROBLEMS,
    },
    mount,
    async ({ target, value }) => {
      switch (target.operation) {
        case 'render': {
          const response = await service.render(target.ref, value, auth, cache);
          const outcome = OUTCOMES[response.headers['x-cache'] as keyof typeof OUTCOMES];
          if (cache !== undefined) telemetry.emit({ type: 'cache', route: 'surface', outcome });
          return response;
        }
        case 'action':
          return service.action(target.ref, target.action, value, auth, cache);
        case 'theme':
          return service.theme(target.ref, value, auth);
      }
    },
  );
}

const input = json<SurfaceRequest, SurfaceRoute>(({ bytes, type }, head) => {
  // Only valid JSON is forwarded, whether or not renders are cached.
  checkInput(bytes);
  return { value: { head, body: bytes, contentType: type } };
});
/** The input is optional: a widget may be rendered without. */
const read: Reader<SurfaceRequest, SurfaceRoute> = (request, site, target) =>
  target.operation === 'theme' || isAbsent(request)
    ? { value: { head: request, body: null } }
    : input(request, site, target);

const OUTCOMES = { HIT: 'hit', REVALIDATED: 'revalidated', MISS: 'miss', BYPASS: 'bypass' } as const;
