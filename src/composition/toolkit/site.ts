import type { RedisStorage } from '../../adapters/keyv/redis-storage.js';
import type { RequestGate } from '../../adapters/web/request-gate.js';
import type { CredentialBroker } from '../../domain/credentials/credential-broker.js';
import type { TokenCache } from '../../domain/credentials/token-cache.js';
import type { PlatformDirectory } from '../../domain/upstream/platform-directory.js';
import type { CacheStore } from '../../ports/cache-store.js';
import type { HttpUpstream } from '../../ports/http.js';
import type { IdentityProvider } from '../../ports/identity-provider.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { RouteAuths } from '../routes/route-auths.js';
import type { SiteHandlers } from './site-handlers.js';

/** What a toolkit is made of: the one thing the container is asked for. */
export interface Site {
  readonly handlers: SiteHandlers;
  readonly gate: RequestGate;
  readonly auths: RouteAuths;
  readonly broker: CredentialBroker;
  readonly directory: PlatformDirectory;
  /** What the toolkit of the next configuration may keep. */
  readonly lasting: LastingParts;
}

/** What outlives a change of configuration that does not touch it. */
export interface LastingParts {
  readonly faults: OperatorFaults;
  readonly connections: Connections;
  readonly stores: CacheStores;
}

/** Who is told, without secrets. */
export interface OperatorFaults {
  /** Undefined where faults go to the terminal. */
  readonly listeners: readonly Telemetry[] | undefined;
  readonly telemetry: Telemetry;
}

/** The connections to the platform. */
export interface Connections {
  readonly connectMs: number;
  readonly upstream: HttpUpstream;
  /** Upstreams of earlier configurations whose last responses still run. */
  readonly retired: Set<HttpUpstream>;
}

/** Tokens and renders, and the connection to the store they share. */
export interface CacheStores {
  /** The settings behind these stores; first those of the memory of this process. */
  readonly settings: readonly unknown[];
  /** The connection to the store of `cacheStore`, where that is an address. */
  readonly redis: RedisStorage | undefined;
  readonly renders: CacheStore;
  readonly tokens: TokenCache;
  /** Those of them that are in this process alone. */
  readonly own: { readonly renders?: CacheStore; readonly tokens?: TokenCache };
  /** Keys the digests that tell two proofs apart without revealing either. */
  readonly proofKey: Uint8Array;
}

/** Gives the identity provider of a flow; its library is loaded when it is first asked for. */
export type ProviderLoader = (name: string) => Promise<IdentityProvider> | undefined;
