import type { ErrorCode } from '../../domain/shared/errors.js';
import type { SessionTokenLike } from '../../adapters/sessions/session-like.js';
import type { HttpHandler } from '../../ports/http.js';
import type {
  AuthHeadersOptions,
  ChatHandlerOptions,
  ServiceProxyOptions,
  ServiceSurfaceHandlerOptions,
  SessionOptions,
  SurfaceHandlerOptions,
  SurfaceRouterOptions,
} from '../routes/route-options.js';

/**
 * Whether a toolkit can serve; may be shown to anybody.
 *
 * @public
 */
export interface ToolkitHealth {
  /** `ready`: every check passes. `degraded`: some requests will fail. `closing`: all new ones are refused. */
  readonly status: 'ready' | 'degraded' | 'closing';
  /** What was looked at. */
  readonly checks: Readonly<
    Record<
      /** `configuration`: there is an address to forward to. `credential`: the service credential is cached, or could be had just now. */
      'configuration' | 'credential',
      {
        /** `skipped`: there is nothing to check. */
        readonly status: 'pass' | 'fail' | 'skipped';
        /** What a visitor's error response would say. */
        readonly code?: ErrorCode;
        /** The configuration block to look at. */
        readonly block?: string;
        /** The fields of that block to look at. */
        readonly fields?: readonly string[];
      }
    >
  >;
  /** Requests under way, without open event streams. */
  readonly inFlight: number;
  /** Event streams that are open. */
  readonly openStreams: number;
}

/**
 * One configured set of routes and credentials.
 * Methods read their options strictly: ConfigurationError (code `configuration_invalid`) names method and option.
 *
 * @public
 */
export interface Toolkit {
  /** @internal The chat routes, for a framework adapter to mount (spec §4.1). */
  chatHandler(options?: ChatHandlerOptions): HttpHandler;
  /** @internal The widget routes, as `createServiceSurfaceRouter` mounts them (spec §4.3). */
  surfaceRouter(options?: SurfaceRouterOptions): HttpHandler;
  /** @internal The widget routes with the API key, or the signed-in user's token (spec §4.2). */
  surfaceHandler(options?: SurfaceHandlerOptions): HttpHandler;
  /** @internal The widget routes with the service credential (spec §4.2). */
  serviceSurfaceHandler(options?: ServiceSurfaceHandlerOptions): HttpHandler;
  /** @internal The proxy for conversation records, for signed-in users only (spec §4.1). */
  conversationHandler(options: ServiceProxyOptions): HttpHandler;
  /** The project: the configured one, else the one the platform knows for this credential; `null` when there is none or it cannot be asked. */
  projectId(options?: AuthHeadersOptions): Promise<string | null>;
  /** The brand's style sheet, as the platform gives it to this credential; empty when there is none or it cannot be asked. */
  brandCss(options?: AuthHeadersOptions): Promise<string>;
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
  sessionHeaders(
    options: SessionOptions & { readonly authClient: SessionTokenLike },
    request?: unknown,
  ): Promise<Record<string, string>>;
  /** The cached service token, or `undefined` when there is none that is still valid; asks nobody. */
  cachedServiceToken(options?: AuthHeadersOptions): string | undefined;
  /** @internal Names of the identity providers the site registered, which are strategies here. */
  readonly customProviders: ReadonlySet<string>;
  /** @internal What is wrong with header fields that a route's `forward` names, such as the one that carries the API key; `undefined` when they may cross. */
  forwardHint(names: readonly string[]): string | undefined;
  /**
   * Whether the toolkit can serve. Asks the identity provider only for a token that a request would ask for too, and after a failure no sooner than a request would; never the platform.
   * Waits for the provider half a second at most.
   *
   * @example
   * ```ts
   * import { createServer } from 'node:http';
   * import { createToolkit } from 'agent-bff';
   *
   * const toolkit = createToolkit({ a2aUrl: 'https://agent.example/a2a', serviceApiKey: 'key' });
   * createServer(async (_request, response) => {
   *   const health = await toolkit.health();
   *   response.writeHead(health.status === 'closing' ? 503 : 200, { 'content-type': 'application/json' });
   *   response.end(JSON.stringify(health));
   * }).listen(8081);
   * ```
   */
  health(): Promise<ToolkitHealth>;
  /**
   * Refuses new requests with 503, lets running ones finish within `graceMs`, breaks off what still runs and ends all connections to the platform.
   * Calling it again gives the first call's promise. A toolkit that `configureServer` has replaced only stops taking requests: its connections belong to its successor.
   *
   * @example
   * ```ts
   * import { createServer } from 'node:http';
   * import { configureServer } from 'agent-bff';
   * import { createNodeHandler } from 'agent-bff/node';
   *
   * const toolkit = configureServer({ a2aUrl: 'https://agent.example/a2a', serviceApiKey: 'key' });
   * const server = createServer(createNodeHandler()).listen(3000);
   * process.once('SIGTERM', async () => {
   *   server.close();
   *   await toolkit.close({ graceMs: 10_000 });
   *   server.closeAllConnections();
   * });
   * ```
   */
  close(options?: {
    /** Milliseconds running requests and open streams have to finish. Default 10 000; 0 breaks them off immediately. */
    readonly graceMs?: number | undefined;
  }): Promise<void>;
}

/**
 * Which toolkit a route uses.
 *
 * @public
 */
export interface ToolkitOption {
  /** Use this toolkit. Default: the one `configureServer` made last. */
  readonly toolkit?: Toolkit | undefined;
}

export type HealthCheck = ToolkitHealth['checks']['credential'];
