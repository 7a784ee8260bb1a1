import { type ExpressLikeRouter, type ExpressRequestOf, expressRouter } from '../adapters/express/express-router.js';
import type { ChatHandlerOptions, ServiceProxyOptions, SurfaceRouterOptions } from './routes/route-options.js';
import { handlerRoutes, type HandlersOptions, ROUTES, soleRoute } from './routes/site-routes.js';
import type { ToolkitOption } from './toolkit/toolkit-type.js';

export type { ExpressLikeRouter, ExpressRequestOf } from '../adapters/express/express-router.js';

/**
 * The chat routes as an Express router, for Express 4 and 5; mount it at `/api/a2a`. Works before or after
 * `express.json()`. Mounted before it, an invalid body gets an error that A2A clients understand instead of Express's
 * error page.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown, missing, invalid or in conflict with another.
 *
 * @example
 * ```ts
 * import express from 'express';
 * import { createA2ARouter } from 'agent-bff/express';
 *
 * const app = express();
 * app.use('/api/a2a', createA2ARouter(express, { strategy: 'service_account' }));
 * app.listen(3000);
 * ```
 *
 * @public
 */
export function createA2ARouter<AnyRouter extends ExpressLikeRouter>(
  framework: { Router(): AnyRouter },
  options?: ChatHandlerOptions<ExpressRequestOf<AnyRouter>> & ToolkitOption,
): AnyRouter {
  return expressRouter(framework, () => soleRoute(ROUTES.a2a, 'createA2ARouter', options));
}

/**
 * The widget routes as an Express router, for Express 4 and 5; mount it at `/api/service-surfaces`. Only render,
 * actions and theme.css are served; other paths are 404 and are not forwarded.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown, missing, invalid or in conflict with another.
 *
 * @example
 * ```ts
 * import express from 'express';
 * import { createServiceSurfaceRouter } from 'agent-bff/express';
 *
 * const app = express();
 * app.use('/api/service-surfaces', createServiceSurfaceRouter(express, { cache: { enabled: true } }));
 * ```
 *
 * @public
 */
export function createServiceSurfaceRouter<AnyRouter extends ExpressLikeRouter>(
  framework: { Router(): AnyRouter },
  options?: SurfaceRouterOptions<ExpressRequestOf<AnyRouter>> & ToolkitOption,
): AnyRouter {
  return expressRouter(framework, () => soleRoute(ROUTES.surfaces, 'createServiceSurfaceRouter', options));
}

/**
 * The proxy for conversation records as an Express router, for signed-in users only; mount it at `/api/service`. Mount
 * it before `express.json()`: bodies are streamed through it.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown, missing, invalid or in conflict with another.
 *
 * @example
 * ```ts
 * import express from 'express';
 * import { expressOpenidConnectSession } from 'agent-bff';
 * import { createServiceProxyRouter } from 'agent-bff/express';
 *
 * const app = express();
 * app.use('/api/service', createServiceProxyRouter(express, { auth: expressOpenidConnectSession() }));
 * ```
 *
 * @public
 */
export function createServiceProxyRouter<AnyRouter extends ExpressLikeRouter>(
  framework: { Router(): AnyRouter },
  options: ServiceProxyOptions<ExpressRequestOf<AnyRouter>> & ToolkitOption,
): AnyRouter {
  return expressRouter(framework, () => soleRoute(ROUTES.service, 'createServiceProxyRouter', options));
}

/**
 * All routes of the package as one Express router, for Express 4 and 5: chat at `/a2a`, widgets at `/service-surfaces`,
 * and conversation records at `/service` if `service` is set. Mount it at `/api`, and before `express.json()`: bodies
 * are streamed through it.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown, missing, invalid or in conflict with another.
 *
 * @example
 * ```ts
 * import express from 'express';
 * import { createHandlers } from 'agent-bff/express';
 *
 * const app = express();
 * app.use('/api', createHandlers(express, { a2a: { strategy: 'service_account' } }));
 * app.listen(3000);
 * ```
 *
 * @public
 */
export function createHandlers<AnyRouter extends ExpressLikeRouter>(
  framework: { Router(): AnyRouter },
  options?: HandlersOptions<ExpressRequestOf<AnyRouter>>,
): AnyRouter {
  return expressRouter(framework, () => handlerRoutes(options));
}
