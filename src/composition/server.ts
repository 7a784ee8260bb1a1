import { mergeConfig, resolveConfig } from './config/resolve-config.js';
import type { ServerConfig } from './config/server-config.js';
import { serverState, siteSessions } from './process-state.js';
import type { AuthHeadersOptions } from './routes/route-options.js';
import { readWithFacts } from './routes/route-option-reader.js';
import { SERVICE_HEADERS } from './routes/route-shapes.js';
import { currentToolkit } from './routes/site-routes.js';
import type { Toolkit } from './toolkit/toolkit-type.js';
import { buildToolkit } from './toolkit/toolkit.js';

/**
 * Sets the runtime configuration of this process. Repeated calls merge field by field, and routes use the new
 * configuration from their next request on (docs/configuration.md). `undefined` leaves a value, an empty string clears
 * it. A rejected configuration changes nothing. Every call returns the same toolkit, which shows and closes what is
 * current; after `close`, the next call that sets a field opens it again.
 *
 * @throws ConfigurationError (code `configuration_invalid`) when a value is invalid, naming block and field.
 *
 * @example
 * ```ts
 * import { configureServer } from 'agent-bff';
 *
 * configureServer({
 *   a2aUrl: 'https://agent.example/a2a',
 *   serviceApiUrl: 'https://platform.example/api',
 *   serviceAuthStrategy: 'service_account',
 *   serviceAccount: { serviceAccountId: 'sa-1', keyId: 'key-1', privateKeyPath: '/run/secrets/agent.pem' },
 * });
 * ```
 *
 * @public
 */
export function configureServer(config: ServerConfig): Toolkit {
  const state = serverState();
  const merged = mergeConfig(state.config?.() ?? {}, config);
  const phase = state.toolkit?.phase?.();
  // A module that loads late must not open a site that was shut down.
  const staysClosed =
    phase === 'closing' ||
    (phase === 'closed' && Object.values(Object(config) as object).every((one) => one === undefined));
  if (staysClosed) resolveConfig(merged);
  const toolkit = staysClosed ? state.toolkit : buildToolkit(merged, {}, state.toolkit, siteSessions());
  // A rejected configuration changes nothing.
  Object.assign(state, { toolkit, config: () => merged });
  return (state.handle = Object.assign(state.handle ?? {}, toolkit) as Toolkit);
}

/**
 * Headers for the site's own calls to the platform: the bearer token of a strategy, and the API key
 * (docs/authentication.md).
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
  return toolkit.authHeaders(readWithFacts('getAuthHeaders', SERVICE_HEADERS, options, toolkit.handlers.facts));
}

/**
 * The cached service token of a strategy, by default the configured one, or `undefined` if there is no valid one
 * (docs/authentication.md). Synchronous; sends no request. Use `getAuthHeaders` to obtain a token.
 *
 * @public
 */
export function getCachedServiceToken(options?: AuthHeadersOptions): string | undefined {
  return serverState().toolkit?.cachedServiceToken(options);
}

/**
 * The project of this site, as the config route resolves it: the configured one, otherwise the one the platform
 * returns. Pass the `strategy` and `apiKey` of that route if they differ from the configuration. `null` if there is
 * none, or if the platform cannot be reached, which a warning event explains; cached for a minute.
 *
 * @throws ServiceAuthError before `configureServer`.
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown or invalid.
 *
 * @example
 * ```ts
 * import { resolveServiceProjectId } from 'agent-bff';
 *
 * const projectId = await resolveServiceProjectId({ strategy: 'client_credentials' });
 * ```
 *
 * @public
 */
export async function resolveServiceProjectId(options?: AuthHeadersOptions): Promise<string | null> {
  return currentToolkit().projectId(options);
}

/**
 * The brand's style sheet, as the config route resolves it. Pass the `strategy` and `apiKey` of that route if they
 * differ from the configuration. Empty if there is none, or if the platform cannot be reached, which a warning event
 * explains; cached for a minute.
 *
 * @throws ServiceAuthError before `configureServer`.
 * @throws ConfigurationError (code `configuration_invalid`) naming the option that is unknown or invalid.
 *
 * @public
 */
export async function resolveServiceBrand(options?: AuthHeadersOptions): Promise<string> {
  return currentToolkit().brandCss(options);
}
