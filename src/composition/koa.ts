import { type KoaContextOf, type KoaLike, type KoaLikeRouter, koaRouter } from '../adapters/koa/koa-router.js';
import type { ChatHandlerOptions, ServiceProxyOptions, SurfaceRouterOptions } from './routes/route-options.js';
import { handlerRoutes, type HandlersOptions, ROUTES, soleRoute } from './routes/site-routes.js';
import type { ToolkitOption } from './toolkit/toolkit-type.js';

export type { KoaContextOf, KoaLike, KoaLikeRouter } from '../adapters/koa/koa-router.js';

/**
 * The chat routes as a router of `@koa/router`; mount it at `/api/a2a`, by `prefix`, in another router or with
 * `koa-mount`. Works before or after a body parser. Session sources receive Koa's context.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown, missing, invalid or in conflict with another.
 *
 * @example
 * ```ts
 * import Router from '@koa/router';
 * import Koa from 'koa';
 * import { createA2ARouter } from 'agent-bff/koa';
 *
 * const app = new Koa();
 * app.use(createA2ARouter(Router, { strategy: 'service_account' }).prefix('/api/a2a').routes());
 * app.listen(3000);
 * ```
 *
 * @public
 */
export function createA2ARouter<AnyRouter extends KoaLikeRouter>(
  framework: KoaLike<AnyRouter>,
  options?: ChatHandlerOptions<KoaContextOf<AnyRouter>> & ToolkitOption,
): AnyRouter {
  return koaRouter(framework, () => soleRoute(ROUTES.a2a, 'createA2ARouter', options));
}

/**
 * The widget routes as a router of `@koa/router`; mount it at `/api/service-surfaces`. Only render, actions and
 * theme.css are served; other paths are 404 and are not forwarded.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown, missing, invalid or in conflict with another.
 *
 * @example
 * ```ts
 * import Router from '@koa/router';
 * import Koa from 'koa';
 * import { createServiceSurfaceRouter } from 'agent-bff/koa';
 *
 * const widgets = createServiceSurfaceRouter(Router, { cache: { enabled: true } });
 * new Koa().use(widgets.prefix('/api/service-surfaces').routes());
 * ```
 *
 * @public
 */
export function createServiceSurfaceRouter<AnyRouter extends KoaLikeRouter>(
  framework: KoaLike<AnyRouter>,
  options?: SurfaceRouterOptions<KoaContextOf<AnyRouter>> & ToolkitOption,
): AnyRouter {
  return koaRouter(framework, () => soleRoute(ROUTES.surfaces, 'createServiceSurfaceRouter', options));
}

/**
 * The proxy for conversation records as a router of `@koa/router`, for signed-in users only; mount it at
 * `/api/service`. Mount it before a body parser: bodies are streamed through it. `auth` receives Koa's context.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown, missing, invalid or in conflict with another.
 *
 * @example
 * ```ts
 * import Router from '@koa/router';
 * import Koa from 'koa';
 * import { createServiceProxyRouter } from 'agent-bff/koa';
 *
 * const auth = (context: Koa.Context) => context.cookies.get('access-token') ?? null;
 * new Koa().use(createServiceProxyRouter(Router, { auth }).prefix('/api/service').routes());
 * ```
 *
 * @public
 */
export function createServiceProxyRouter<AnyRouter extends KoaLikeRouter>(
  framework: KoaLike<AnyRouter>,
  options: ServiceProxyOptions<KoaContextOf<AnyRouter>> & ToolkitOption,
): AnyRouter {
  return koaRouter(framework, () => soleRoute(ROUTES.service, 'createServiceProxyRouter', options));
}

/**
 * All routes of the package as a router of `@koa/router`: chat at `/a2a`, widgets at `/service-surfaces`, and
 * conversation records at `/service` if `service` is set. Mount it at `/api`, and before a body parser: bodies are
 * streamed through it.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown, missing, invalid or in conflict with another.
 *
 * @example
 * ```ts
 * import Router from '@koa/router';
 * import Koa from 'koa';
 * import { createHandlers } from 'agent-bff/koa';
 *
 * const app = new Koa();
 * app.use(createHandlers(Router, { a2a: { strategy: 'service_account' } }).prefix('/api').routes());
 * app.listen(3000);
 * ```
 *
 * @public
 */
export function createHandlers<AnyRouter extends KoaLikeRouter>(
  framework: KoaLike<AnyRouter>,
  options?: HandlersOptions<KoaContextOf<AnyRouter>>,
): AnyRouter {
  return koaRouter(framework, () => handlerRoutes(options));
}
