import type { IdpAConfig, IdpAServiceUserConfig } from '../../adapters/idp-a/descriptor.js';
import type { IdpBServiceConfig } from '../../adapters/idp-b/descriptor.js';
import type { KeyvLike } from '../../adapters/keyv/keyv-store.js';
import type { ServiceAccountConfig } from '../../adapters/service-account/descriptor.js';
import type { DispatcherLike } from '../../adapters/undici/dispatcher-upstream.js';
import type { CacheStore } from '../../ports/cache-store.js';
import type { IdentityProvider } from '../../ports/identity-provider.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { VisitorLimit } from '../../ports/visitor-limit.js';
import type { OwnName } from './own-providers.js';
import type { UpstreamConfig } from './upstream-config.js';

export type { IdpAConfig, IdpAServiceUserConfig, IdpBServiceConfig, ServiceAccountConfig };

/**
 * The server's authentication to the platform when no user is signed in (docs/authentication.md). `client_credentials`
 * authenticates the application itself, without a user; `static_token` sends the `serviceToken`; with `none` calls to
 * the agent carry nothing, and calls to the platform's API the API key, if there is one.
 *
 * @public
 */
export type ServiceAuthStrategy =
  'service_account' | 'resource_owner_password' | 'client_credentials' | 'static_token' | 'none';

/** The service strategies of this package (docs/authentication.md). */
export const STRATEGIES: readonly ServiceAuthStrategy[] = [
  'service_account',
  'resource_owner_password',
  'client_credentials',
  'static_token',
  'none',
];

/**
 * The identity provider of a service strategy: `idp_a` is like Auth0, `idp_b` is like Entra.
 *
 * @public
 */
export type AuthProvider = 'idp_a' | 'idp_b';

/**
 * The exchange of the signed-in user's token before it is sent to the platform (On-Behalf-Of at `idp_b`, RFC 8693 at
 * `idp_a`). An empty block enables the exchange with its defaults.
 *
 * @public
 */
export interface OnBehalfOfConfig {
  /** The provider that exchanges tokens. Default: `authProvider`, else `idp_b`. */
  readonly provider?: AuthProvider | OwnName | undefined;
  /** Scope of the exchanged token. Default: that of `idpBService`, or of `idpA`. */
  readonly scope?: string | undefined;
  /** Audience of the exchanged token, at `idp_a`. Default: `idpA.audience`. */
  readonly audience?: string | undefined;
  /** Type of the user's token as registered at `idp_a`. Default: `urn:ietf:params:oauth:token-type:access_token`. */
  readonly subjectTokenType?: string | undefined;
  /** Application that exchanges tokens, at `idp_b`. Default: that of `idpBService`; the same for the fields below. */
  readonly clientId?: string | undefined;
  /** Directory of that application. */
  readonly tenantId?: string | undefined;
  /** Its client secret; ignored if a certificate is configured. */
  readonly clientSecret?: string | { readonly path: string } | undefined;
  /** Path of its certificate in PEM form. */
  readonly certificatePath?: string | undefined;
  /** Path of the certificate's private key in PEM form. */
  readonly privateKeyPath?: string | undefined;
}

/**
 * Time limits in milliseconds: whole numbers up to 2 147 483 647, which is 24 days.
 *
 * @public
 */
export interface TimeoutsConfig {
  /** For a connection to the platform, including DNS and TLS. Default 5 000; 0 for none. */
  readonly connectMs?: number | undefined;
  /**
   * For the head of the platform's response, counted from the end of the request. Default 60 000, for chat messages 300
   * 000: an agent may work before it responds. 0 for none.
   */
  readonly headersMs?: number | undefined;
  /** Silence in a response that is not an event stream. Default 60 000, for chat messages 300 000; 0 for none. */
  readonly bodyIdleMs?: number | undefined;
  /**
   * For a whole response that is not an event stream, excluding the time the browser takes. Conversation records and
   * chat messages have no limit unless this is set. Default 60 000; 0 for none.
   */
  readonly bodyMs?: number | undefined;
  /** Silence in an event stream. Default 0: an agent may think as long as it likes, and TCP detects a dead machine. */
  readonly streamIdleMs?: number | undefined;
  /** For a whole JSON request body that the package itself reads. Default 60 000; 0 for none. */
  readonly requestBodyMs?: number | undefined;
  /** Silence in a request body, including one that is streamed. Default 30 000; 0 for none. */
  readonly requestIdleMs?: number | undefined;
  /**
   * For a browser that accepts no bytes while some are waiting; starts again whenever it accepts some. Then its
   * connection is closed, and the call to the platform ends. Default 60 000; 0 for none.
   */
  readonly sendIdleMs?: number | undefined;
  /** For one look-up of the config route, including all its calls: the agent's card, the project, the brand. At least 1. Default 10 000. */
  readonly lookupMs?: number | undefined;
  /** For one call to an identity provider, including discovery. At least 1. Default 5 000. */
  readonly identityProviderMs?: number | undefined;
  /** For one call to the site's session library, or to a function of its own, such as `getHeaders`. Default 15 000; 0 for none. */
  readonly sessionMs?: number | undefined;
  /** For one call to the shared cache. At least 1. Default 50. */
  readonly cacheMs?: number | undefined;
}

/**
 * Runtime configuration (docs/configuration.md) and its optional additions. Repeated `configureServer` calls merge
 * field by field; `undefined` leaves a value, an empty string clears it.
 *
 * @public
 */
export interface ServerConfig {
  /** Address of the agent endpoint. */
  readonly a2aUrl?: string | undefined;
  /** Address of the platform API. */
  readonly serviceApiUrl?: string | undefined;
  /** API key of the platform; sent as `x-api-key`. */
  readonly serviceApiKey?: string | { readonly path: string } | undefined;
  /** Project identifier; sent as `x-project-id`. */
  readonly serviceProjectId?: string | undefined;
  /** Service authentication strategy. Default: the one that fits the other fields. */
  readonly serviceAuthStrategy?: ServiceAuthStrategy | OwnName | undefined;
  /**
   * A fixed token, sent as `Authorization: Bearer …` (RFC 6750), with or without the word `Bearer`. Used by the
   * strategy `static_token` only.
   */
  readonly serviceToken?: string | { readonly path: string } | undefined;
  /** Identity provider of service strategies: one of this package, or of `identityProviders`. */
  readonly authProvider?: AuthProvider | OwnName | undefined;
  /**
   * The site's own identity providers, by the name to use as `authProvider`, as `serviceAuthStrategy` or as a route's
   * `strategy`; merged by name. Default: none.
   */
  readonly identityProviders?: Readonly<Record<string, IdentityProvider>> | undefined;
  /** Used by the strategy `service_account`. */
  readonly serviceAccount?: ServiceAccountConfig | undefined;
  /** Used with `authProvider: 'idp_a'`. */
  readonly idpA?: IdpAConfig | undefined;
  /** Used by the strategy `resource_owner_password`. */
  readonly idpAServiceUser?: IdpAServiceUserConfig | undefined;
  /** Used with `authProvider: 'idp_b'`. */
  readonly idpBService?: IdpBServiceConfig | undefined;
  /**
   * The site's public address. If set, only its pages and those of `allowedOrigins` may call the routes. Default: taken
   * from each request through the framework's own trust setting.
   */
  readonly publicUrl?: string | undefined;
  /** Address of the agent's card. Default: up to eight well-known addresses below `a2aUrl`, in its parent folders and at its root. */
  readonly agentCardUrl?: string | undefined;
  /** Paths and header names of the platform's API, if they differ from the defaults. */
  readonly upstream?: UpstreamConfig | undefined;
  /**
   * A dispatcher of undici 6, 7 or 8 for a proxy, a private certificate authority or client certificates; or one each for
   * agent and platform. Identity providers are called as the platform is. It is the site's to close. Default: none; with
   * `NODE_USE_ENV_PROXY=1` the proxy of `HTTPS_PROXY` and `HTTP_PROXY`.
   */
  readonly dispatcher?: DispatcherLike | Partial<Record<'agent' | 'platform', DispatcherLike | undefined>> | undefined;
  /** Protocol bindings the chat routes serve. Default: `['JSONRPC']`; `HTTP+JSON` adds `/message:send` and the other REST paths below the chat route. */
  readonly bindings?: readonly ('JSONRPC' | 'HTTP+JSON')[] | undefined;
  /** The A2A methods that are forwarded. Default: `chat` with a service credential, `all` with a session. */
  readonly a2aMethods?: 'chat' | 'all' | readonly string[] | undefined;
  /**
   * `visitor` lets each visitor of the chat read, continue and cancel their own conversations only; `open` lets in
   * anyone who knows an id. Default `open`.
   */
  readonly conversations?: 'open' | 'visitor' | undefined;
  /** Time limits. */
  readonly timeouts?: TimeoutsConfig | undefined;
  /** Maximum size of a JSON request body that the package itself reads, in bytes. Default 2 097 152. */
  readonly bodyLimitBytes?: number | undefined;
  /** Maximum number of simultaneous requests; more are rejected with 503. Open event streams are not counted. Default 0: no limit. */
  readonly maxInFlight?: number | undefined;
  /** Silence after which a comment is sent in an event stream, in milliseconds. Default 15 000; 0 disables comments. */
  readonly keepAliveMs?: number | undefined;
  /**
   * Additional origins whose pages may call the routes, such as `https://shop.example`, or `https://www.site.example`
   * beside a `publicUrl` without `www.`; also those of apps and extensions, such as `capacitor://localhost`. Default:
   * only the site's own.
   */
  readonly allowedOrigins?: readonly string[] | undefined;
  /**
   * Origins that widgets may load images and fonts from besides the site's own, such as `https://cdn.example`; also
   * those of files the chat shows by address. Default: none.
   */
  readonly mediaOrigins?: readonly string[] | undefined;
  /**
   * True to pass the platform's brand CSS to pages unchecked: it may then restyle the whole page and load from
   * anywhere. Default false: custom properties of `:root` only.
   */
  readonly trustBrandCss?: boolean | undefined;
  /**
   * False if agent card, project and brand are the same for all signed-in users: then one user's look-up serves all
   * users of a chat route. Default true.
   */
  readonly configPerUser?: boolean | undefined;
  /**
   * Host names of the routes besides that of `publicUrl`, such as `site.example` or `10.0.0.7:3000`; others get 421.
   * Default: any name; an empty list allows any too.
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Status if the identity provider is out of order. Default 401. */
  readonly authUnavailableStatus?: 401 | 503 | undefined;
  /** Exchanges the signed-in user's token before it is sent to the platform. Default: the token is sent as it is. */
  readonly onBehalfOf?: OnBehalfOfConfig | undefined;
  /**
   * Cache shared by several processes: an address (docs/caching.md; needs the package `@keyv/redis`), a Keyv 5 or 6, or
   * a store of the site's own. Default: in memory.
   */
  readonly cacheStore?: string | { readonly path: string } | CacheStore | KeyvLike | undefined;
  /**
   * Keys that encrypt the contents of `cacheStore`: 32 random bytes each, in hex or base64. The first key seals an
   * entry, and any of them opens it. Default: none, and tokens stay in this process.
   */
  readonly cacheKeys?: readonly string[] | { readonly path: string } | undefined;
  /**
   * Limits how much one anonymous visitor may send to the chat, or look up through the config route, see `rateLimiter`.
   * Default: no limit.
   */
  readonly chatLimit?: VisitorLimit | undefined;
  /**
   * Distinguishes this toolkit in the log, in events and in spans, such as the name of a tenant: up to 64 of
   * `A-Za-z0-9._-`. Default: eight digits that depend on the agent and on the platform as configured.
   */
  readonly name?: string | undefined;
  /**
   * Limits how much one signed-in user may send to the chat, by tenant and subject of the session, see `rateLimiter`.
   * Default: no limit.
   */
  readonly userLimit?: VisitorLimit | undefined;
  /**
   * Receives structured events; may be a list of receivers: see `loggerTelemetry` and `openTelemetry`. `'silent'`
   * disables reports. Default: faults that an operator has to fix are written to standard error.
   */
  readonly telemetry?: Telemetry | readonly Telemetry[] | 'silent' | undefined;
}
