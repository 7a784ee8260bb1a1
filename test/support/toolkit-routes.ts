import type { Toolkit } from '../../src/composition/index.js';
import type {
  ChatHandlerOptions,
  ServiceProxyOptions,
  ServiceSurfaceHandlerOptions,
  SurfaceHandlerOptions,
  SurfaceRouterOptions,
} from '../../src/composition/routes/route-options.js';
import {
  routeHandler,
  ROUTES,
  SERVICE_SURFACES_ROUTE,
  SESSION_SURFACES_ROUTE,
} from '../../src/composition/routes/site-routes.js';
import type { HttpHandler } from '../../src/ports/http.js';

// The routes of a toolkit without a framework.

export function chatRoute(toolkit: Toolkit, options?: ChatHandlerOptions): HttpHandler {
  return routeHandler(ROUTES.a2a, 'createA2ARouter', { ...options, toolkit });
}

export function surfaceRoute(toolkit: Toolkit, options?: SurfaceRouterOptions): HttpHandler {
  return routeHandler(ROUTES.surfaces, 'createServiceSurfaceRouter', { ...options, toolkit });
}

export function sessionSurfaceRoute(toolkit: Toolkit, options?: SurfaceHandlerOptions): HttpHandler {
  return routeHandler(SESSION_SURFACES_ROUTE, 'createSurfaceHandler', { ...options, toolkit });
}

export function serviceSurfaceRoute(toolkit: Toolkit, options?: ServiceSurfaceHandlerOptions): HttpHandler {
  return routeHandler(SERVICE_SURFACES_ROUTE, 'createSurfaceHandlerWithServiceAuth', { ...options, toolkit });
}

export function recordRoute(toolkit: Toolkit, options: ServiceProxyOptions): HttpHandler {
  return routeHandler(ROUTES.service, 'createServiceProxyRouter', { ...options, toolkit });
}
