import type { Container, ContainerModuleLoadOptions, ServiceIdentifier } from 'inversify';
import type { RedisStorage } from '../../adapters/keyv/redis-storage.js';
import type { RequestGate } from '../../adapters/web/request-gate.js';
import type { ChatConfig } from '../../domain/chat/chat-config.js';
import type { ChatForwarder } from '../../domain/chat/chat-forwarder.js';
import type { HttpJsonBinding } from '../../domain/chat/http-json-binding.js';
import type { ConversationProxy } from '../../domain/conversations/conversation-proxy.js';
import type { CredentialBroker } from '../../domain/credentials/credential-broker.js';
import type { TokenCache } from '../../domain/credentials/token-cache.js';
import type { SurfaceService } from '../../domain/surfaces/surface-service.js';
import type { PlatformErrors } from '../../domain/upstream/platform-error.js';
import type { PlatformCall } from '../../domain/upstream/platform-call.js';
import type { PlatformDirectory } from '../../domain/upstream/platform-directory.js';
import type { PlatformStyles } from '../../domain/upstream/platform-styles.js';
import type { CacheStore } from '../../ports/cache-store.js';
import type { Clock } from '../../ports/clock.js';
import type { HttpUpstream } from '../../ports/http.js';
import type { IdentityProvider, TokenExchange } from '../../ports/identity-provider.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { RouteCredentials } from '../routes/route-credentials.js';
import type { SiteHandlers } from './site-handlers.js';

/** The parts of a toolkit that the container is asked for. */
export interface Site {
  readonly handlers: SiteHandlers;
  readonly gate: RequestGate;
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

/** The receivers of events, without secrets. */
export interface OperatorFaults {
  /** Undefined where faults go to the terminal. */
  readonly listeners: readonly Telemetry[] | undefined;
  readonly telemetry: Telemetry;
}

/** Makes the connections to the platform. */
export interface UpstreamSource {
  /** The setting behind them: connections stay while it does. */
  readonly key: unknown;
  readonly connect: () => HttpUpstream;
}

/** The connections to the platform. */
export interface Connections {
  readonly key: unknown;
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

declare const service: unique symbol;

/** A symbol that knows the type bound to it. */
export type Token<S> = symbol & { readonly [service]?: S };

/** Everything a toolkit is made of. The container is asked for one of them, the `Site`. */
export const TOKENS = {
  Clock: Symbol('Clock') as Token<Clock>,
  Random: Symbol('Random') as Token<() => number>,
  Listeners: Symbol('Listeners') as Token<readonly Telemetry[] | undefined>,
  OperatorFaults: Symbol('OperatorFaults') as Token<OperatorFaults>,
  Telemetry: Symbol('Telemetry') as Token<Telemetry>,
  UpstreamSource: Symbol('UpstreamSource') as Token<UpstreamSource>,
  Connections: Symbol('Connections') as Token<Connections>,
  Upstream: Symbol('Upstream') as Token<HttpUpstream>,
  PlatformErrors: Symbol('PlatformErrors') as Token<PlatformErrors>,
  PlatformCall: Symbol('PlatformCall') as Token<PlatformCall>,
  CacheStores: Symbol('CacheStores') as Token<CacheStores>,
  IdentityFetch: Symbol('IdentityFetch') as Token<typeof fetch | undefined>,
  Providers: Symbol('Providers') as Token<ProviderLoader>,
  TokenExchange: Symbol('TokenExchange') as Token<TokenExchange>,
  CredentialBroker: Symbol('CredentialBroker') as Token<CredentialBroker>,
  RouteCredentials: Symbol('RouteCredentials') as Token<RouteCredentials>,
  ChatForwarder: Symbol('ChatForwarder') as Token<ChatForwarder>,
  ChatConfig: Symbol('ChatConfig') as Token<ChatConfig>,
  HttpJsonBinding: Symbol('HttpJsonBinding') as Token<HttpJsonBinding>,
  PlatformStyles: Symbol('PlatformStyles') as Token<PlatformStyles>,
  PlatformDirectory: Symbol('PlatformDirectory') as Token<PlatformDirectory>,
  SurfaceService: Symbol('SurfaceService') as Token<SurfaceService>,
  ConversationProxy: Symbol('ConversationProxy') as Token<ConversationProxy>,
  RequestGate: Symbol('RequestGate') as Token<RequestGate>,
  SiteHandlers: Symbol('SiteHandlers') as Token<SiteHandlers>,
  Site: Symbol('Site') as Token<Site>,
};

type Resolved<D extends readonly Token<unknown>[]> = { [K in keyof D]: D[K] extends Token<infer U> ? U : never };

/** Binds a service to a function of its dependencies; swapped dependencies do not compile, which inversify's own types allow. */
export function provide<S, const D extends readonly Token<unknown>[]>(
  bind: ContainerModuleLoadOptions['bind'],
  to: Token<S>,
  dependencies: D,
  make: (...resolved: Resolved<D>) => NoInfer<S>,
): void {
  bind<S>(to as ServiceIdentifier<S>)
    .toResolvedValue(make as unknown as (...resolved: unknown[]) => S, [...dependencies] as ServiceIdentifier[])
    .inSingletonScope();
}

/** Replaces a bound service before anything is made of it. */
export function rebind<S>(container: Container, token: Token<S>, value: NoInfer<S>): void {
  container.rebind<S>(token as ServiceIdentifier<S>).toConstantValue(value);
}

export function resolve<S>(container: Container, token: Token<S>): S {
  return container.get<S>(token as ServiceIdentifier<S>);
}
