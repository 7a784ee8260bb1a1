import type { SessionTokenLike } from '../../adapters/sessions/session-like.js';
import type { SessionRequired } from '../../domain/conversations/conversation-proxy.js';
import type { RouteAuth } from '../../domain/credentials/route-auth.js';
import type { RenderCacheSettings } from '../../domain/surfaces/render-cache.js';
import type { SessionTokenSource } from '../../ports/session-token-source.js';
import type { ServiceAuthStrategy } from '../config/server-config.js';
import { optionalSecret } from '../../domain/shared/secret.js';
import { type RenderCacheOptions, renderCacheSettings } from './render-cache-options.js';
import type { SiteFieldOptions } from './site-fields.js';
import type { SessionAuths } from './session-auths.js';

/**
 * Options of `createSurfaceHandler` (spec §4.2).
 *
 * @public
 */
export interface SurfaceHandlerOptions extends SiteFieldOptions {
  /** Gives the signed-in user's token. Default: the API key alone. */
  readonly auth?: SessionTokenLike | undefined;
  /** Audience of the user's token. Default: whatever the session holds. */
  readonly audience?: string | undefined;
  /** API key of this route. Default: the configured `serviceApiKey`. */
  readonly apiKey?: string | undefined;
  /** Refuses visitors who are not signed in: all of them without `auth`. Default false: they get the API key alone. */
  readonly requireSession?: boolean | undefined;
  /** Exchanges the user's token even when `onBehalfOf` is not configured. Default: only with that block. */
  readonly exchange?: 'on_behalf_of' | undefined;
  /** How renders are kept. Default: not at all. */
  readonly cache?: RenderCacheOptions | undefined;
}

/**
 * Options of `createSurfaceHandlerWithServiceAuth` (spec §4.2).
 *
 * @public
 */
export interface ServiceSurfaceHandlerOptions extends SiteFieldOptions {
  /** API key of this route. Default: the configured `serviceApiKey`. */
  readonly apiKey?: string | undefined;
  /** How renders are kept. Default: not at all. */
  readonly cache?: RenderCacheOptions | undefined;
  /** Service strategy of this route. Default: the configured one. */
  readonly strategy?: ServiceAuthStrategy | (string & {}) | undefined;
}

/**
 * Options of `createServiceProxyHandler` and `createServiceProxyRouter` (spec §4.2).
 *
 * @public
 */
export interface ServiceProxyOptions extends SiteFieldOptions {
  /** Gives the signed-in user's token; without one, nothing is passed on. */
  readonly auth: SessionTokenLike;
  /** Audience of the user's token. Default: whatever the session holds. */
  readonly audience?: string | undefined;
  /** API key of this route. Default: the configured `serviceApiKey`. */
  readonly apiKey?: string | undefined;
  /** Exchanges the user's token even when `onBehalfOf` is not configured. Default: only with that block. */
  readonly exchange?: 'on_behalf_of' | undefined;
}

/** A surface route's options, complete. */
export interface SurfaceSettings {
  readonly auth: RouteAuth;
  /** Absent when renders are not kept. */
  readonly cache: RenderCacheSettings | undefined;
}

/** A site that has no way to sign in: nobody is. */
const NOBODY: SessionTokenSource = { getToken: () => Promise.resolve({ kind: 'no-session' }) };

/** Completes the options of a surface handler, as `readOptions` has read them. */
export function surfaceHandlerSettings(options: SurfaceHandlerOptions, sessions: SessionAuths): SurfaceSettings {
  const { auth, requireSession: required = false, cache: kept, ...user } = options;
  const cache = renderCacheSettings(kept);
  if (auth === undefined && !required) return { cache, auth: { kind: 'api-key', apiKey: optionalSecret(user.apiKey) } };
  return { cache, auth: sessions.authFor(auth ?? NOBODY, { ...user, required }) };
}

/** Completes the options of a surface handler with a service credential, as `readOptions` has read them. */
export function serviceSurfaceHandlerSettings(options: ServiceSurfaceHandlerOptions): SurfaceSettings {
  const { strategy = '', apiKey, cache } = options;
  return { cache: renderCacheSettings(cache), auth: { kind: 'service', strategy, apiKey: optionalSecret(apiKey) } };
}

/** Completes the options of the conversation proxy, which has no way to do without a session. */
export function serviceProxyAuth({ auth, ...user }: ServiceProxyOptions, sessions: SessionAuths): SessionRequired {
  return sessions.authFor(auth, { ...user, required: true });
}
