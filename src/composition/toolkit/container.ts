import type { Container, ContainerModuleLoadOptions } from 'inversify';
import type { KeyvCacheStore } from '../../adapters/keyv/keyv-cache-store.js';
import type { RedisStorage } from '../../adapters/keyv/redis-storage.js';
import type { CredentialBroker } from '../../domain/credentials/credential-broker.js';
import type { TokenCache } from '../../domain/credentials/token-cache.js';
import type { StoreBudget } from '../../domain/surfaces/store-budget.js';
import type { PlatformErrors } from '../../domain/upstream/platform-error.js';
import type { PlatformCall } from '../../domain/upstream/platform-call.js';
import type { PlatformDirectory } from '../../domain/upstream/platform-directory.js';
import type { PlatformStyles } from '../../domain/upstream/platform-styles.js';
import type { CacheStore } from '../../ports/cache-store.js';
import type { HttpUpstream } from '../../ports/http.js';
import type { IdentityProvider, TokenExchange } from '../../ports/identity-provider.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { RouteCredentials } from '../routes/route-credentials.js';
import type { SiteHandlers, SiteParts } from './site-handlers.js';

/** The parts that survive a change of the configuration that does not affect them. */
export type LastingParts = Pick<Parts, 'listeners' | 'telemetry' | 'connections' | 'stores'>;

/** Creates the connections to the platform. */
export interface UpstreamSource {
  /** The setting they depend on: connections stay while it is unchanged. */
  readonly key: unknown;
  readonly connect: () => HttpUpstream;
}

/** The connections to the platform. */
export interface Connections {
  readonly key: unknown;
  readonly upstream: HttpUpstream;
  /** Upstreams of earlier configurations whose last responses are still running. */
  readonly retired: Set<HttpUpstream>;
}

/** Tokens and renders, and the connection to their shared store. */
export interface CacheStores {
  /** The settings these stores depend on, those of the in-memory stores first. */
  readonly settings: readonly unknown[];
  /** The connection to the store in `cacheStore`, if that is an address. */
  readonly redis: RedisStorage | undefined;
  /** The shared store, if one is configured. */
  readonly store: KeyvCacheStore | undefined;
  readonly renders: CacheStore;
  /** Bounds the bytes of this process's renders in a shared store. */
  readonly budget: StoreBudget | undefined;
  readonly tokens: TokenCache;
  /** The in-memory stores among them. */
  readonly own: { readonly renders?: CacheStore; readonly tokens?: TokenCache };
  /** Keys the digests that distinguish proofs without revealing them. */
  readonly proofKey: Uint8Array;
}

/** Returns the identity provider of a flow; its library is loaded on first use. */
export type ProviderLoader = (name: string) => Promise<IdentityProvider> | undefined;

/** Everything a toolkit consists of, by the name it is bound to. */
export interface Parts extends SiteParts {
  readonly random: () => number;
  /** The receivers of events; undefined if faults are written to the terminal. */
  readonly listeners: readonly Telemetry[] | undefined;
  /** Passes events to the listeners, without secrets. */
  readonly telemetry: Telemetry;
  readonly upstreamSource: UpstreamSource;
  readonly connections: Connections;
  readonly upstream: HttpUpstream;
  readonly errors: PlatformErrors;
  readonly stores: CacheStores;
  readonly fetch: typeof fetch | undefined;
  readonly provider: ProviderLoader;
  readonly exchange: TokenExchange;
  readonly credentials: CredentialBroker;
  readonly routeCredentials: RouteCredentials;
  readonly call: PlatformCall;
  readonly styles: PlatformStyles;
  readonly directory: PlatformDirectory;
  readonly handlers: SiteHandlers;
}

/** Binds a part to a function of other parts. Unlike inversify's own types, a missing part, or one of the wrong type, does not compile. */
export function provide<Name extends keyof Parts, const Need extends keyof Parts>(
  bind: ContainerModuleLoadOptions['bind'],
  name: Name,
  needs: readonly Need[],
  make: (parts: Pick<Parts, Need>) => NoInfer<Parts[Name]>,
): void {
  const part = (...values: unknown[]): Parts[Name] =>
    make(Object.fromEntries(needs.map((need, index) => [need, values[index]])) as Pick<Parts, Need>);
  bind<Parts[Name]>(name)
    .toResolvedValue(part, [...needs])
    .inSingletonScope();
}

/** Replaces a bound part before it is used. */
export function rebind<Name extends keyof Parts>(container: Container, name: Name, part: Parts[Name]): void {
  container.rebind<Parts[Name]>(name).toConstantValue(part);
}

export function resolve<Name extends keyof Parts>(container: Container, name: Name): Parts[Name] {
  return container.get<Parts[Name]>(name);
}
