import type { AuthHeadersOptions, SessionHeadersOptions } from './routes/route-options.js';
import { SERVICE_HEADERS, SESSION_HEADERS } from './routes/route-shapes.js';
import { currentToolkit, readRouteOptions } from './routes/site-routes.js';
import type { ToolkitOption } from './toolkit/toolkit-type.js';

/**
 * Creates a function that returns the service credential as headers; pass it to `getHeaders` or
 * `configGetHeaders`.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown, missing, invalid or in conflict with another.
 * The function made throws ServiceAuthError naming block and fields.
 *
 * @example
 * ```ts
 * import { createGetHeadersWithServiceAuth } from 'agent-bff';
 *
 * const getHeaders = createGetHeadersWithServiceAuth({ strategy: 'service_account' });
 * const response = await fetch('https://platform.example/api/project', { headers: await getHeaders() });
 * ```
 *
 * @public
 */
export function createGetHeadersWithServiceAuth(
  options?: AuthHeadersOptions & ToolkitOption,
): (request?: unknown) => Promise<Record<string, string>> {
  const { toolkit, ...service } = readRouteOptions<AuthHeadersOptions & ToolkitOption>(
    'createGetHeadersWithServiceAuth',
    SERVICE_HEADERS,
    options,
  );
  return async () => (toolkit ?? (await currentToolkit())).authHeaders(service);
}

/**
 * Creates a function that returns the signed-in user's token as headers, from the framework's own request;
 * `auth` finds that token.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown, missing, invalid or in conflict with another.
 * The function made throws SessionError (`session_required`, `session_expired`, `interaction_required`).
 *
 * @example
 * ```ts
 * import { createGetHeadersForSession, expressOpenidConnectSession } from 'agent-bff';
 *
 * const getHeaders = createGetHeadersForSession({ auth: expressOpenidConnectSession() });
 * ```
 *
 * @public
 */
export function createGetHeadersForSession(
  options: SessionHeadersOptions & ToolkitOption,
): (request?: unknown) => Promise<Record<string, string>> {
  const { toolkit, ...session } = readRouteOptions<typeof options>(
    'createGetHeadersForSession',
    SESSION_HEADERS,
    options,
  );
  return async (request) => (toolkit ?? (await currentToolkit())).sessionHeaders(session, request);
}
