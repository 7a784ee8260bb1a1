import { ServiceAuthError } from '../domain/errors.js';
import { readOptions } from '../domain/shared/options.js';
import { SERVICE_HEADERS } from './routes/route-options.js';
import { serverState } from './server-state.js';
import type { AuthHeadersOptions, Toolkit } from './toolkit/toolkit-type.js';

/**
 * Headers for the site's own calls to the platform: the bearer token of a strategy, and the API key (spec §4.4).
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown, missing, invalid or in conflict with another.
 * @throws ServiceAuthError (codes `service_auth_failed`, `identity_provider_unavailable`) naming block and fields.
 *
 * @example
 * ```ts
 * import { getAuthHeaders } from 'agent-bff';
 *
 * const headers = await getAuthHeaders({ strategy: 'service_account' });
 * const response = await fetch('https://platform.example/api/project', { headers });
 * ```
 *
 * @public
 */
export async function getAuthHeaders(options?: AuthHeadersOptions): Promise<Record<string, string>> {
  const toolkit = currentToolkit();
  return toolkit.authHeaders(readOptions('getAuthHeaders', SERVICE_HEADERS, options, { toolkit }));
}

/**
 * The cached service token, or `undefined` when there is none that is still valid (spec §4.4). Asks nobody and never waits;
 * `getAuthHeaders` obtains one.
 *
 * @public
 */
export function getCachedServiceToken(): string | undefined {
  return serverState().toolkit?.cachedServiceToken();
}

/**
 * The project of this site, as the config route resolves it (spec §4.4): the configured one, else the one the platform knows.
 * `null` when there is none, or the platform cannot be asked; kept for a minute.
 *
 * @throws ServiceAuthError when nobody has configured the server.
 *
 * @public
 */
export async function resolveServiceProjectId(): Promise<string | null> {
  return currentToolkit().projectId();
}

/**
 * The brand's style sheet, as the config route resolves it (spec §4.4).
 * Empty when there is none, or the platform cannot be asked; kept for a minute.
 *
 * @throws ServiceAuthError when nobody has configured the server.
 *
 * @public
 */
export async function resolveServiceBrand(): Promise<string> {
  return currentToolkit().brandCss();
}

/** @throws ServiceAuthError when nobody has configured the server. */
export function currentToolkit(): Toolkit {
  const { toolkit } = serverState();
  if (toolkit !== undefined) return toolkit;
  throw new ServiceAuthError('service_auth_failed', {
    detail: 'The server is not configured.',
    hint: 'Call configureServer when the server starts.',
    block: 'configureServer',
  });
}
