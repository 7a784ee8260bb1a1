import { fetchHandler } from '../adapters/fetch/fetch-handler.js';
import { siteRoutes, type SiteRoutesOptions } from './routes/site-routes.js';
import { noRoute } from './routes/unconfigured-responses.js';

/**
 * All routes of the package as one function from `Request` to `Response`, for Hono, h3, SvelteKit, Astro, React Router,
 * Bun and Deno; requests outside its routes get 404.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown, missing, invalid or in conflict with another.
 *
 * @example
 * ```ts
 * import { createWebHandler } from 'agent-bff/web';
 *
 * const handler = createWebHandler({ a2a: { strategy: 'service_account' } });
 * const response = await handler(new Request('https://site.example/api/a2a/config'));
 * ```
 *
 * @public
 */
export function createWebHandler(options?: SiteRoutesOptions<Request>): (request: Request) => Promise<Response> {
  return fetchHandler(siteRoutes('createWebHandler', options), noRoute);
}

/** `createWebHandler` under the name that every entry has. */
export { createWebHandler as createHandlers };
