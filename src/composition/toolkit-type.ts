import type { HttpHandler } from '../ports/http.js';
import type { ChatHandlerOptions } from './chat-options.js';
import type { ServiceAuthStrategy } from './config.js';
import type { SessionHeadersOptions } from './get-headers.js';
import type { ServiceProxyOptions, ServiceSurfaceHandlerOptions, SurfaceHandlerOptions } from './surface-options.js';
import type { SurfaceRouterOptions } from './surface-router-options.js';

/**
 * Which credential the site's own call to the platform carries (spec §4.4).
 *
 * @public
 */
export interface AuthHeadersOptions {
  /** Default: the configured strategy. */
  readonly strategy?: ServiceAuthStrategy | (string & {}) | undefined;
  /** Default: the configured `serviceApiKey`. */
  readonly apiKey?: string | undefined;
}

/**
 * One configured set of routes and credentials.
 *
 * @public
 */
export interface Toolkit {
  /** The chat routes, for a framework adapter to mount (spec §4.1). */
  chatHandler(options?: ChatHandlerOptions): HttpHandler;
  /** The widget routes, as `createServiceSurfaceRouter` mounts them (spec §4.3). */
  surfaceRouter(options?: SurfaceRouterOptions): HttpHandler;
  /** The widget routes with the API key, or the signed-in user's token (spec §4.2). */
  surfaceHandler(options?: SurfaceHandlerOptions): HttpHandler;
  /** The widget routes with the service credential (spec §4.2). */
  serviceSurfaceHandler(options?: ServiceSurfaceHandlerOptions): HttpHandler;
  /** The proxy for conversation records, for signed-in users only (spec §4.1). */
  conversationHandler(options: ServiceProxyOptions): HttpHandler;
  /** The project: the configured one, else the one the platform knows; `null` when there is none or it cannot be asked. */
  projectId(): Promise<string | null>;
  /** The brand's style sheet; empty when there is none or the platform cannot be asked. */
  brandCss(): Promise<string>;
  /**
   * Headers for the site's own calls to the platform (spec §4.4).
   *
   * @throws ServiceAuthError (codes `service_auth_failed`, `identity_provider_unavailable`) naming block and fields.
   */
  authHeaders(options?: AuthHeadersOptions): Promise<Record<string, string>>;
  /**
   * Headers that carry the signed-in user's token, from the framework's own request.
   *
   * @throws SessionError (codes `session_required`, `session_expired`, `interaction_required`).
   */
  sessionHeaders(options: SessionHeadersOptions, request?: unknown): Promise<Record<string, string>>;
  /** The cached service token, or `undefined` when there is none that is still valid; asks nobody. */
  cachedServiceToken(): string | undefined;
  /** Names of the identity providers the site registered, which are strategies here. */
  readonly customProviders: ReadonlySet<string>;
  /** Ends idle connections to the platform, and lets running requests finish. */
  close(): Promise<void>;
}
