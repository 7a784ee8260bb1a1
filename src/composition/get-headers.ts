import { readOptions } from '../domain/shared/options.js';
import { currentToolkit } from './auth-headers.js';
import type { ServiceAuthStrategy } from './config/server-config.js';
import { SERVICE_HEADERS, SESSION_HEADERS, withToolkit } from './routes/route-options.js';
import type { SessionHeadersOptions, Toolkit } from './toolkit/toolkit-type.js';

export type { SessionHeadersOptions } from './toolkit/toolkit-type.js';

/**
 * Makes the headers of one call to the platform; give it to `getHeaders` or `configGetHeaders`.
 *
 * @public
 */
export type HeadersFunction = (request?: unknown) => Promise<Record<string, string>>;

/**
 * Options of `createGetHeadersWithServiceAuth` (spec §4.2).
 *
 * @public
 */
export interface ServiceHeadersOptions {
  /** API key to send. Default: the configured `serviceApiKey`. */
  readonly apiKey?: string | undefined;
  /** Service strategy. Default: the configured one. */
  readonly strategy?: ServiceAuthStrategy | (string & {}) | undefined;
  /** Use this toolkit. Default: the one `configureServer` made last. */
  readonly toolkit?: Toolkit | undefined;
}

/**
 * A function that gives the service credential as headers, whoever asks (spec §4.2).
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
export function createGetHeadersWithServiceAuth(options?: ServiceHeadersOptions): HeadersFunction {
  const { toolkit, ...service } = readOptions('createGetHeadersWithServiceAuth', withToolkit(SERVICE_HEADERS), options);
  return () => (toolkit ?? currentToolkit()).authHeaders(service);
}

/**
 * A function that gives the signed-in user's token as headers, from the framework's own request (spec §4.2).
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown, missing, invalid or in conflict with another.
 * The function made throws SessionError (`session_required`, `session_expired`, `interaction_required`).
 *
 * @example
 * ```ts
 * import { createGetHeadersForSession, expressOpenidConnectSession } from 'agent-bff';
 *
 * const getHeaders = createGetHeadersForSession({ authClient: expressOpenidConnectSession() });
 * ```
 *
 * @public
 */
export function createGetHeadersForSession(options: SessionHeadersOptions): HeadersFunction {
  const { toolkit, ...session } = readOptions('createGetHeadersForSession', withToolkit(SESSION_HEADERS), options);
  return (request) => (toolkit ?? currentToolkit()).sessionHeaders(session, request);
}
