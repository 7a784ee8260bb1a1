import type { ErrorCode } from '../../domain/shared/errors.js';
import type { SessionTokenLike } from '../../adapters/sessions/session-like.js';
import type { Clock } from '../../ports/clock.js';
import type { HttpUpstream } from '../../ports/http.js';
import type { IdentityProvider, TokenExchange } from '../../ports/identity-provider.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { AuthHeadersOptions, SessionOptions } from '../routes/route-options.js';
import type { RouteHandlers } from './site-handlers.js';

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
  /** @internal Makes the handlers of its routes, for the table of routes. */
  readonly handlers: RouteHandlers;
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
 * Parts of the outside world a site may replace: its own providers, or the fakes of `agent-bff/testing`.
 *
 * @public
 */
export interface ToolkitPorts {
  /** Default: the system's clock. */
  readonly clock?: Clock | undefined;
  /** Default: undici. */
  readonly upstream?: HttpUpstream | undefined;
  /** Default: the configuration's `telemetry`. */
  readonly telemetry?: Telemetry | undefined;
  /** Further identity providers, beside those of the configuration. */
  readonly identityProviders?: Readonly<Record<string, IdentityProvider>> | undefined;
  /** Exchanges users' tokens. Default: the provider the `onBehalfOf` block names. */
  readonly tokenExchange?: TokenExchange | undefined;
  /** Calls identity providers, for a proxy or a private certificate authority. Default: the global `fetch`. */
  readonly identityFetch?: typeof fetch | undefined;
  /** A number from 0 up to 1, for jitter. Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
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
