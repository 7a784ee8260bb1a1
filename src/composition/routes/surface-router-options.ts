import type { SessionTokenLike } from '../../adapters/sessions/session-like.js';
import { Credential } from '../../domain/credentials/credential.js';
import type { HeadersAuth } from '../../domain/credentials/route-auth.js';
import type { Secret } from '../../domain/shared/secret.js';
import type { ServiceAuthStrategy } from '../config/server-config.js';
import { type GetHeaders, headersAuth } from './get-headers-option.js';
import { optionalSecret } from '../../domain/shared/secret.js';
import { type RenderCacheOptions, renderCacheSettings } from './render-cache-options.js';
import type { SiteFieldOptions } from './site-fields.js';
import type { SessionAuths } from './session-auths.js';
import { surfaceHandlerSettings, type SurfaceSettings } from './surfaces.js';

/**
 * Options of `createServiceSurfaceRouter` (spec §4.3). At most one of `getHeaders`, `strategy` and `auth` says whose credential it is.
 *
 * @public
 */
export interface SurfaceRouterOptions extends SiteFieldOptions {
  /** API key of this route. Default: the configured `serviceApiKey`. */
  readonly apiKey?: string | undefined;
  /** Makes further headers for the platform from the framework's request. Default: the API key alone, or the configured strategy where there is none. */
  readonly getHeaders?: GetHeaders | undefined;
  /** Service strategy of this route. Default: none, the API key goes alone. */
  readonly strategy?: ServiceAuthStrategy | (string & {}) | undefined;
  /** Gives the signed-in user's token; visitors who are not signed in get the API key alone. Default: nobody can sign in. */
  readonly auth?: SessionTokenLike | undefined;
  /** Audience of the user's token. Default: whatever the session holds. */
  readonly audience?: string | undefined;
  /** Refuses visitors who are not signed in: all of them without `auth`. Default false. */
  readonly requireSession?: boolean | undefined;
  /** Exchanges the user's token even when `onBehalfOf` is not configured. Default: only with that block. */
  readonly exchange?: 'on_behalf_of' | undefined;
  /** How renders are kept. Default: not at all. */
  readonly cache?: RenderCacheOptions | undefined;
}

/** The configured key and the name of its field, for routes whose headers the site makes itself. */
export interface ConfiguredKey {
  readonly apiKey: Secret | undefined;
  readonly apiKeyHeader: string;
}

/** Completes the options of a surface router, as `readOptions` has read them. */
export function surfaceRouterSettings(
  options: SurfaceRouterOptions,
  configured: ConfiguredKey,
  sessions: SessionAuths,
): SurfaceSettings {
  const { getHeaders, strategy = '', ...rest } = options;
  if (rest.auth !== undefined || rest.requireSession === true) return surfaceHandlerSettings(rest, sessions);
  const cache = renderCacheSettings(rest.cache);
  const apiKey = optionalSecret(rest.apiKey);
  if (getHeaders !== undefined) {
    return { cache, auth: withKey(headersAuth(getHeaders), apiKey ?? configured.apiKey, configured.apiKeyHeader) };
  }
  // Without any key, a router that could only fail goes by the configured strategy.
  const keyAlone = strategy === '' && (apiKey !== undefined || configured.apiKey !== undefined);
  return { cache, auth: keyAlone ? { kind: 'api-key', apiKey } : { kind: 'service', strategy, apiKey } };
}

/** The site's own headers, and the API key unless they bring one. */
function withKey(auth: HeadersAuth, apiKey: Secret | undefined, apiKeyHeader: string): HeadersAuth {
  if (apiKey === undefined) return auth;
  return {
    kind: 'headers',
    obtain: async (request) => {
      const { kind, headers, identity, block, cacheKey, token } = await auth.obtain(request);
      const fields = { [apiKeyHeader]: apiKey.reveal(), ...headers };
      return new Credential({ kind, headers: fields, identity, block, cacheKey, token });
    },
  };
}
