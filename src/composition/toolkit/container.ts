import type { Container, ContainerModuleLoadOptions, ServiceIdentifier } from 'inversify';
import type { RequestGate } from '../../adapters/web/request-gate.js';
import type { ChatConfig } from '../../domain/chat/chat-config.js';
import type { ChatForwarder } from '../../domain/chat/chat-forwarder.js';
import type { HttpJsonBinding } from '../../domain/chat/http-json-binding.js';
import type { ConversationProxy } from '../../domain/conversations/conversation-proxy.js';
import type { CredentialBroker } from '../../domain/credentials/credential-broker.js';
import type { SurfaceService } from '../../domain/surfaces/surface-service.js';
import type { PlatformErrors } from '../../domain/upstream/platform-error.js';
import type { PlatformCall } from '../../domain/upstream/platform-call.js';
import type { PlatformDirectory } from '../../domain/upstream/platform-directory.js';
import type { PlatformStyles } from '../../domain/upstream/platform-styles.js';
import type { Clock } from '../../ports/clock.js';
import type { HttpUpstream } from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { TokenExchange } from '../../ports/identity-provider.js';
import type { RouteAuths } from '../routes/route-auths.js';
import type { CacheStores, Connections, OperatorFaults, ProviderLoader, Site } from './site.js';
import type { SiteHandlers } from './site-handlers.js';

declare const service: unique symbol;

/** A symbol that knows the type bound to it. */
export type Token<S> = symbol & { readonly [service]?: S };

/** Everything a toolkit is made of. The container is asked for one of them, the `Site`. */
export const TOKENS = {
  Clock: Symbol('Clock') as Token<Clock>,
  OperatorFaults: Symbol('OperatorFaults') as Token<OperatorFaults>,
  Telemetry: Symbol('Telemetry') as Token<Telemetry>,
  Connections: Symbol('Connections') as Token<Connections>,
  Upstream: Symbol('Upstream') as Token<HttpUpstream>,
  PlatformErrors: Symbol('PlatformErrors') as Token<PlatformErrors>,
  PlatformCall: Symbol('PlatformCall') as Token<PlatformCall>,
  CacheStores: Symbol('CacheStores') as Token<CacheStores>,
  Providers: Symbol('Providers') as Token<ProviderLoader>,
  TokenExchange: Symbol('TokenExchange') as Token<TokenExchange>,
  CredentialBroker: Symbol('CredentialBroker') as Token<CredentialBroker>,
  RouteAuths: Symbol('RouteAuths') as Token<RouteAuths>,
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

export function resolve<S>(container: Container, token: Token<S>): S {
  return container.get<S>(token as ServiceIdentifier<S>);
}
