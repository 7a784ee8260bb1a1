import { failing } from '../adapters/web/chat-routes.js';
import { notFound } from '../adapters/web/error-response.js';
import { errorContext, type SiteSettings } from '../adapters/web/site-settings.js';
import type { HttpHandler } from '../ports/http.js';
import { silentTelemetry } from '../adapters/telemetry/silent-telemetry.js';
import { ServiceAuthError } from '../domain/errors.js';
import { newRequestId } from './request-id.js';
import { serverState } from './server-state.js';
import type { Toolkit } from './toolkit-type.js';

/** A handler of the toolkit that is current when a request comes, so that a later `configureServer` takes effect. */
export function currentHandler(
  toolkit: Toolkit | undefined,
  handlerOf: (toolkit: Toolkit) => HttpHandler,
  unconfigured: HttpHandler = UNCONFIGURED,
): HttpHandler {
  if (toolkit !== undefined) return handlerOf(toolkit);
  let known: Toolkit | undefined;
  let handler = unconfigured;
  return (request) => {
    const current = serverState().toolkit;
    if (current !== known) {
      handler = current === undefined ? unconfigured : handlerOf(current);
      known = current;
    }
    return handler(request);
  };
}

const BARE_SITE: SiteSettings = {
  telemetry: silentTelemetry,
  origins: { publicHost: '', allowedOrigins: new Set() },
  bodyLimitBytes: 0,
  requestBodyMs: 0,
  keepAliveMs: 0,
  authUnavailableStatus: 401,
  newRequestId,
  now: () => 0,
};

const NOT_CONFIGURED = new ServiceAuthError('service_auth_failed', {
  detail: 'The server is not configured.',
  hint: 'Call configureServer when the server starts.',
  block: 'configureServer',
});

/** What the chat route answers before `configureServer` was called. */
export const UNCONFIGURED_CHAT: HttpHandler = failing(BARE_SITE, NOT_CONFIGURED, true);

/** What any other route answers before `configureServer` was called. */
const UNCONFIGURED: HttpHandler = failing(BARE_SITE, NOT_CONFIGURED, false);

/** Answers every request with 404. */
export const noSuchRoute: HttpHandler = () => Promise.resolve(notFound(errorContext(BARE_SITE, 'none')));
