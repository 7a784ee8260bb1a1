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
  return async () => (toolkit ?? currentToolkit()).authHeaders(service);
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
  return async (request) => (toolkit ?? currentToolkit()).sessionHeaders(session, request);
}

/**
 * Ends the session of a request whose user signs out, for sessions that are stored in a cookie: no response that is
 * still waiting for the agent brings the cookie back, and no token is kept for it. Call it where the site signs out,
 * before the cookie is deleted; `auth` is that of the routes.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown or missing.
 *
 * @example
 * ```ts
 * import { endSession, expressOpenidConnectSession } from 'agent-bff';
 * import express from 'express';
 *
 * const auth = expressOpenidConnectSession();
 * const app = express();
 * app.get('/sign-out', async (request, response) => {
 *   await endSession({ auth }, request);
 *   response.redirect('/logout');
 * });
 * ```
 *
 * @public
 */
export async function endSession(options: SessionHeadersOptions & ToolkitOption, request: unknown): Promise<void> {
  const { toolkit, ...session } = readRouteOptions<typeof options>('endSession', SESSION_HEADERS, options);
  await (toolkit ?? currentToolkit()).endSession(session, request);
}
