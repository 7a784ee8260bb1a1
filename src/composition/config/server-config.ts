import type { IdpAConfig, IdpAServiceUserConfig } from '../../adapters/idp-a/descriptor.js';
import type { IdpBServiceConfig } from '../../adapters/idp-b/descriptor.js';
import type { KeyvLike } from '../../adapters/keyv/keyv-cache-store.js';
import type { ServiceAccountConfig } from '../../adapters/service-account/descriptor.js';
import type { CacheStore } from '../../ports/cache-store.js';
import type { IdentityProvider } from '../../ports/identity-provider.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { VisitorLimit } from '../../ports/visitor-limit.js';
import type { UpstreamConfig } from './upstream-config.js';

export type { IdpAConfig, IdpAServiceUserConfig, IdpBServiceConfig, ServiceAccountConfig };

/**
 * How the server proves itself to the platform when nobody is signed in (spec §2.1, §5).
 * `client_credentials` stands for the application itself, without a user.
 *
 * @public
 */
export type ServiceAuthStrategy = 'service_account' | 'resource_owner_password' | 'client_credentials';

/** The service strategies of this package (spec §5). */
export const STRATEGIES: readonly ServiceAuthStrategy[] = [
  'service_account',
  'resource_owner_password',
  'client_credentials',
];

/**
 * Which identity provider a service strategy asks: `idp_a` is Auth0-like, `idp_b` is Entra-like.
 *
 * @public
 */
export type AuthProvider = 'idp_a' | 'idp_b';

/**
 * What the signed-in user's token is exchanged for before it goes to the platform (On-Behalf-Of at `idp_b`, RFC 8693 at `idp_a`).
 * An empty block switches the exchange on with the defaults.
 *
 * @public
 */
export interface OnBehalfOfConfig {
  /** Which provider exchanges. Default: `authProvider`, else `idp_b`. */
  readonly provider?: AuthProvider | (string & {}) | undefined;
  /** Scope of the exchanged token. Default: that of `idpBService`, or of `idpA`. */
  readonly scope?: string | undefined;
  /** Audience of the exchanged token, at `idp_a`. Default: `idpA.audience`. */
  readonly audience?: string | undefined;
  /** Type of the user's token as registered at `idp_a`. Default: `urn:ietf:params:oauth:token-type:access_token`. */
  readonly subjectTokenType?: string | undefined;
  /** Application that exchanges, at `idp_b`. Default: that of `idpBService`; the same for the fields below. */
  readonly clientId?: string | undefined;
  /** Directory of that application. */
  readonly tenantId?: string | undefined;
  /** Its client secret; not used when a certificate is configured. */
  readonly clientSecret?: string | undefined;
  /** Path of its certificate in PEM form. */
  readonly certificatePath?: string | undefined;
  /** Path of the certificate's private key in PEM form. */
  readonly privateKeyPath?: string | undefined;
}

/**
 * How long to wait for whom, in milliseconds: whole numbers up to 2 147 483 647, which is 24 days.
 *
 * @public
 */
export interface TimeoutsConfig {
  /** For a connection to the platform, name look-up and TLS included. Default 5 000; 0 waits for ever. */
  readonly connectMs?: number | undefined;
  /** For the head of the platform's response, from when the platform has the request. Default 60 000, for chat messages 300 000: an agent may work before it speaks. 0 waits for ever. */
  readonly headersMs?: number | undefined;
  /** Silence inside a response that is no event stream. Default 60 000, for chat messages 300 000; 0 allows any. */
  readonly bodyIdleMs?: number | undefined;
  /** For a whole response that is no event stream, without the time the browser takes; conversation records and chat messages may take any unless this is set. Default 60 000; 0 allows any. */
  readonly bodyMs?: number | undefined;
  /** Silence inside an event stream. Default 0: an agent may think for as long as it likes, and TCP finds out when its machine is gone. */
  readonly streamIdleMs?: number | undefined;
  /** For a whole JSON request body that the package itself reads. Default 60 000; 0 waits for ever. */
  readonly requestBodyMs?: number | undefined;
  /** Silence inside a request body, also one that streams through. Default 30 000; 0 allows any. */
  readonly requestIdleMs?: number | undefined;
  /** For a browser that takes nothing while bytes of its response wait; counted anew whenever it takes some. Its connection is then cut, and the call to the platform ends. Default 60 000; 0 waits for ever. */
  readonly sendIdleMs?: number | undefined;
  /** For one look-up of the config route, all its calls included: the agent's card, the project, the brand. At least 1. Default 10 000. */
  readonly lookupMs?: number | undefined;
  /** For one call to an identity provider, discovery included. At least 1. Default 5 000. */
  readonly identityProviderMs?: number | undefined;
  /** For one call of the site's session library, and of its own `getHeaders`. Default 15 000; 0 waits for ever. */
  readonly sessionMs?: number | undefined;
  /** For one call to the shared cache. At least 1. Default 50. */
  readonly cacheMs?: number | undefined;
}

/**
 * Runtime configuration (spec §2.1) and its optional additions.
 * Repeated `configureServer` calls merge field by field; `undefined` leaves a value, an empty string clears it.
 *
 * @public
 */
export interface ServerConfig {
  /** Address of the agent endpoint. */
  readonly a2aUrl?: string | undefined;
  /** Address of the platform API. */
  readonly serviceApiUrl?: string | undefined;
  /** API key of the platform; sent as `x-api-key`. */
  readonly serviceApiKey?: string | undefined;
  /** Project identifier; sent as `x-project-id`. */
  readonly serviceProjectId?: string | undefined;
  /** Service authentication strategy. Default: the one that fits the other fields. */
  readonly serviceAuthStrategy?: ServiceAuthStrategy | (string & {}) | undefined;
  /** Identity provider used by service strategies: one of the package, or of `identityProviders`. */
  readonly authProvider?: AuthProvider | (string & {}) | undefined;
  /** Identity providers of the site's own, by the name to give as `authProvider`, as `serviceAuthStrategy` or as a route's `strategy`; merged by name. Default: none. */
  readonly identityProviders?: Readonly<Record<string, IdentityProvider>> | undefined;
  /** Used by the strategy `service_account`. */
  readonly serviceAccount?: ServiceAccountConfig | undefined;
  /** Used with `authProvider: 'idp_a'`. */
  readonly idpA?: IdpAConfig | undefined;
  /** Used by the strategy `resource_owner_password`. */
  readonly idpAServiceUser?: IdpAServiceUserConfig | undefined;
  /** Used with `authProvider: 'idp_b'`. */
  readonly idpBService?: IdpBServiceConfig | undefined;
  /** The site's public address. Where it is set, only its pages and those of `allowedOrigins` may call the routes. Default: taken from each request through the framework's own trust setting. */
  readonly publicUrl?: string | undefined;
  /** Where the agent's card is. Default: the well-known addresses below and beside `a2aUrl`. */
  readonly agentCardUrl?: string | undefined;
  /** Paths and header names of the platform's API, where they differ from the usual. */
  readonly upstream?: UpstreamConfig | undefined;
  /** Protocol bindings the chat routes serve. Default: `['JSONRPC']`; `HTTP+JSON` adds `/message:send` and the other REST paths below the chat route. */
  readonly bindings?: readonly ('JSONRPC' | 'HTTP+JSON')[] | undefined;
  /** Which A2A methods cross. Default: `chat` with a service credential, `all` with a session. */
  readonly a2aMethods?: 'chat' | 'all' | readonly string[] | undefined;
  /** How long to wait for whom. */
  readonly timeouts?: TimeoutsConfig | undefined;
  /** Largest JSON request body the package itself reads, in bytes. Default 2 097 152. */
  readonly bodyLimitBytes?: number | undefined;
  /** Most requests under way at the same time; more are refused with 503. Open event streams are not counted. Default 0: no limit. */
  readonly maxInFlight?: number | undefined;
  /** Silence after which an event stream gets a comment, in milliseconds. Default 15 000; 0 sends none. */
  readonly keepAliveMs?: number | undefined;
  /** Further origins whose pages may call the routes, such as `https://shop.example`, or `https://www.site.example` beside a `publicUrl` without `www.`. Default: only the site's own. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Origins that widgets may load images and fonts from besides the site's own, such as `https://cdn.example`; also those of files the chat shows by address. Default: none. */
  readonly mediaOrigins?: readonly string[] | undefined;
  /** True to give pages the platform's brand CSS as it is: it may then restyle all of the page and load from anywhere. Default false: custom properties of `:root` only. */
  readonly trustBrandCss?: boolean | undefined;
  /**
   * Host names by which the routes may be called besides that of `publicUrl`, such as `site.example` on any port or `10.0.0.7:3000` on that one; any other name gets 421 (`host_refused`).
   * Default: any name; an empty list allows any too.
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Status when the identity provider is out of order. Default 401. */
  readonly authUnavailableStatus?: 401 | 503 | undefined;
  /** Exchanges the signed-in user's token before it goes to the platform. Default: the token goes as it is. */
  readonly onBehalfOf?: OnBehalfOfConfig | undefined;
  /**
   * Cache shared by several processes: the address of a Redis or Valkey (`redis:`, `rediss:`, `valkey:`, `valkeys:`; needs the package `@keyv/redis`),
   * a Keyv 5 or 6, or a store of the site's own. Default: in memory.
   */
  readonly cacheStore?: string | CacheStore | KeyvLike | undefined;
  /**
   * Keys that seal what is in `cacheStore`: 32 random bytes each, in hex or base64. Each of them opens what was sealed with all.
   * Default: none, and tokens stay in this process.
   */
  readonly cacheKeys?: readonly string[] | undefined;
  /** Limits what one anonymous visitor may send to the chat, and have looked up for the config route, see `rateLimiter`. Default: no limit. */
  readonly chatLimit?: VisitorLimit | undefined;
  /**
   * Takes one structured event at a time, or several that each take all of them: see `loggerTelemetry` and `openTelemetry`; `'silent'`: nobody is told anything.
   * Default: faults that somebody has to mend go to standard error, each at most once a minute.
   */
  readonly telemetry?: Telemetry | readonly Telemetry[] | 'silent' | undefined;
}
