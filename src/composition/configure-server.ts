import type { ServerConfig } from './config/server-config.js';
import { mergeConfig } from './config/merge.js';
import { serverState } from './server-state.js';
import { buildToolkit } from './toolkit/toolkit.js';
import type { Toolkit } from './toolkit/toolkit-type.js';

/**
 * Sets the runtime configuration of this process; repeated calls merge field by field, and routes use the new one from their next request on (spec §2.1).
 * `undefined` leaves a value, an empty string clears it. A configuration that is refused changes nothing.
 *
 * @throws ConfigurationError (code `configuration_invalid`) when a value is wrong whatever happens later, naming block and field.
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
  // A configuration that is refused changes nothing.
  const toolkit = buildToolkit(merged, {}, state.toolkit);
  return Object.assign(state, { toolkit, config: () => merged }).toolkit;
}
