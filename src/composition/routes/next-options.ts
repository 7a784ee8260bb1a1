import type { SessionTokenLike } from '../../adapters/sessions/session-like.js';
import type { ServiceAuthStrategy } from '../config/server-config.js';
import type { ConfigHandlerOptions, GetHeaders } from './get-headers-option.js';
import type { SiteFieldOptions } from './site-fields.js';
import type { ServiceProxyOptions, ServiceSurfaceHandlerOptions, SurfaceHandlerOptions } from './surfaces.js';
import type { Toolkit } from '../toolkit/toolkit-type.js';

/**
 * Options of `createA2AProxyHandlerWithServiceAuth` (spec §4.2).
 *
 * @public
 */
export interface A2AServiceHandlerOptions extends SiteFieldOptions {
  /** API key of this route. Default: the configured `serviceApiKey`. */
  readonly apiKey?: string | undefined;
  /** Service strategy of this route. Default: the configured one. */
  readonly strategy?: ServiceAuthStrategy | (string & {}) | undefined;
  /** Makes the headers of the config route's look-ups, from Next's request. Default: the credential of the chat. */
  readonly configGetHeaders?: GetHeaders | undefined;
  /** Use this toolkit. Default: the one `configureServer` made last. */
  readonly toolkit?: Toolkit | undefined;
}

/**
 * Options of `createA2AProxyHandler` (spec §4.2).
 *
 * @public
 */
export interface A2AProxyHandlerOptions extends SiteFieldOptions {
  /** Gives the signed-in user's token, such as the `Auth0Client` of `@auth0/nextjs-auth0` or `auth` of Auth.js 5. */
  readonly idp: SessionTokenLike;
  /** Audience of the user's token. Default: whatever the session holds. */
  readonly audience?: string | undefined;
  /** API key of this route. Default: the configured `serviceApiKey`. */
  readonly apiKey?: string | undefined;
  /** Exchanges the user's token even when `onBehalfOf` is not configured. Default: only with that block. */
  readonly exchange?: 'on_behalf_of' | undefined;
  /** Makes the headers of the config route's look-ups, from Next's request. Default: the credential of the chat. */
  readonly configGetHeaders?: GetHeaders | undefined;
  /** Use this toolkit. Default: the one `configureServer` made last. */
  readonly toolkit?: Toolkit | undefined;
}

/**
 * Options of `handleA2AWebPOST`.
 *
 * @public
 */
export interface A2AWebOptions extends SiteFieldOptions {
  /** Use this toolkit. Default: the one `configureServer` made last. */
  readonly toolkit?: Toolkit | undefined;
  /** What Next gives every route; not looked at. */
  readonly params?: unknown;
}

/**
 * Options of `handleA2AConfigWebGET` (spec §4.2).
 *
 * @public
 */
export interface A2AConfigWebOptions extends ConfigHandlerOptions {
  /** Use this toolkit. Default: the one `configureServer` made last. */
  readonly toolkit?: Toolkit | undefined;
  /** What Next gives every route; not looked at. */
  readonly params?: unknown;
}

/**
 * Options of `createSurfaceHandlerWithServiceAuth` (spec §4.2).
 *
 * @public
 */
export interface NextServiceSurfaceOptions extends ServiceSurfaceHandlerOptions {
  /** Use this toolkit. Default: the one `configureServer` made last. */
  readonly toolkit?: Toolkit | undefined;
}

/**
 * Options of `createSurfaceHandler` (spec §4.2).
 *
 * @public
 */
export interface NextSurfaceOptions extends SurfaceHandlerOptions {
  /** Use this toolkit. Default: the one `configureServer` made last. */
  readonly toolkit?: Toolkit | undefined;
}

/**
 * Options of `createServiceProxyHandler` (spec §4.2).
 *
 * @public
 */
export interface NextServiceProxyOptions extends ServiceProxyOptions {
  /** Use this toolkit. Default: the one `configureServer` made last. */
  readonly toolkit?: Toolkit | undefined;
}
