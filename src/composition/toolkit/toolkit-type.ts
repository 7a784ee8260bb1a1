import type { ErrorCode } from '../../domain/shared/errors.js';
import type { Clock } from '../../ports/clock.js';
import type { HttpUpstream } from '../../ports/http.js';
import type { IdentityProvider, TokenExchange } from '../../ports/identity-provider.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { AuthHeadersOptions, SessionHeadersOptions } from '../routes/route-options.js';
import type { Shared } from './shared.js';
import type { RouteHandlers } from './site-handlers.js';

/**
 * The health of a toolkit; contains no secrets.
 *
 * @public
 */
export interface ToolkitHealth {
  /** `ready`: every check passes. `degraded`: some requests will fail. `closing`: new requests are rejected. */
  readonly status: 'ready' | 'degraded' | 'closing';
  /** The results of the checks. */
  readonly checks: Readonly<
    Record<
      /**
       * `configuration`: there is an address to forward to. `credential`: the service credential is cached, or can be
       * obtained now. `store`: the shared `cacheStore` responds; without it the toolkit is still `ready`.
       */
      'configuration' | 'credential' | 'store',
      {
        /** `skipped`: not applicable. */
        readonly status: 'pass' | 'fail' | 'skipped';
        /** The code of a visitor's error response. */
        readonly code?: ErrorCode;
        /** The configuration block to check. */
        readonly block?: string;
        /** The fields of that block to check. */
        readonly fields?: readonly string[];
      }
    >
  >;
  /** Running requests, without open event streams. */
  readonly inFlight: number;
  /** Number of open event streams. */
  readonly openStreams: number;
}

/**
 * One configured set of routes and credentials. Methods read their options strictly: ConfigurationError (code
 * `configuration_invalid`) names method and option.
 *
 * @public
 */
export interface Toolkit {
  /** @internal The version of the package that made it. */
  readonly version: string;
  /** @internal Makes the handlers of its routes, for the table of routes. */
  readonly handlers: RouteHandlers;
  /**
   * The project: the configured one, otherwise the one the platform returns for this credential; `null` if there is
   * none, or if the platform cannot be reached.
   */
  projectId(options?: AuthHeadersOptions): Promise<string | null>;
  /** The brand's style sheet for this credential; empty if there is none, or if the platform cannot be reached. */
  brandCss(options?: AuthHeadersOptions): Promise<string>;
  /**
   * Headers for the site's own calls to the platform (docs/authentication.md).
   *
   * @throws ServiceAuthError (codes `service_auth_failed`, `identity_provider_unavailable`) naming block and fields.
   */
  authHeaders(options?: AuthHeadersOptions): Promise<Record<string, string>>;
  /**
   * Headers with the signed-in user's token, from the framework's own request.
   *
   * @throws SessionError (codes `session_required`, `session_expired`, `interaction_required`).
   */
  sessionHeaders(options: SessionHeadersOptions, request?: unknown): Promise<Record<string, string>>;
  /** Ends a session: see `endSession`. */
  endSession(options: SessionHeadersOptions, request: unknown): Promise<void>;
  /** The cached service token, or `undefined` if there is no valid one; sends no request. */
  cachedServiceToken(options?: AuthHeadersOptions): string | undefined;
  /**
   * Checks if the toolkit can serve. Calls the identity provider only if a request would call it too, and respects its
   * back-off after a failure; never calls the platform. Waits for the provider for at most half a second.
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
   * Rejects new requests with 503, lets running ones finish within `graceMs`, then aborts the rest and closes all
   * connections to the platform. Calling it again returns the first call's promise.
   */
  close(options?: {
    /** Milliseconds for running requests and open streams to finish. Default 10 000; 0 aborts them immediately. */
    readonly graceMs?: number | undefined;
  }): Promise<void>;
  /**
   * Shuts the site down: the server stops accepting connections, then `close`, then the connections that are left are
   * closed. Leave out the server where the framework owns it.
   *
   * @example
   * ```ts
   * import { createServer } from 'node:http';
   * import { configureServer } from 'agent-bff';
   * import { createNodeHandler } from 'agent-bff/node';
   *
   * const toolkit = configureServer({ a2aUrl: 'https://agent.example/a2a', serviceApiKey: 'key' });
   * const server = createServer(createNodeHandler()).listen(3000);
   * for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => toolkit.shutDown(server));
   * ```
   */
  shutDown(
    server?: {
      /** Stops accepting connections. */
      close(): unknown;
      /** False once it has stopped. Default: it is stopped with each call. */
      readonly listening?: boolean;
      /** Closes the connections that are left. Default: they stay until they end. */
      closeAllConnections?(): void;
    },
    options?: Parameters<Toolkit['close']>[0],
  ): Promise<void>;
  /** @internal `closing` from the call of `close` until its promise settles, then `closed`. */
  phase(): 'open' | 'closing' | 'closed';
}

/**
 * External dependencies that a site may replace: with its own providers, or with the fakes of `agent-bff/testing`.
 *
 * @public
 */
export interface ToolkitPorts {
  /** Default: the system's clock. */
  readonly clock?: Clock | undefined;
  /**
   * Takes the place of the network in tests, as the fakes of `agent-bff/testing` do. For a proxy or certificates, set
   * `dispatcher` in the configuration instead. Default: undici.
   */
  readonly upstream?: HttpUpstream | undefined;
  /** Default: the configuration's `telemetry`. */
  readonly telemetry?: Telemetry | undefined;
  /** Additional identity providers, besides those of the configuration. */
  readonly identityProviders?: Readonly<Record<string, IdentityProvider>> | undefined;
  /** Exchanges users' tokens. Default: the provider in the `onBehalfOf` block. */
  readonly tokenExchange?: TokenExchange | undefined;
  /** Sends requests to identity providers. Default: the configuration's `dispatcher`, otherwise the global `fetch`. */
  readonly identityFetch?: typeof fetch | undefined;
  /** A number from 0 up to 1, for jitter. Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Connections, store and memory that toolkits share, from `createShared`. Default: the toolkit's own connections. */
  readonly shared?: Shared | undefined;
}

/**
 * Selects the toolkit of a route.
 *
 * @public
 */
export interface ToolkitOption {
  /** The toolkit to use. Default: the one `configureServer` created last. */
  readonly toolkit?: Toolkit | undefined;
}

export type HealthCheck = ToolkitHealth['checks']['credential'];
