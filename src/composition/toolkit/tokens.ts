import type { ChatConfig } from '../../domain/chat/chat-config.js';
import type { ChatForwarder } from '../../domain/chat/chat-forwarder.js';
import type { HttpJsonBinding } from '../../domain/chat/http-json-binding.js';
import type { ConversationProxy } from '../../domain/conversations/conversation-proxy.js';
import type { CredentialBroker } from '../../domain/credentials/credential-broker.js';
import type { TokenCache } from '../../domain/credentials/token-cache.js';
import type { SurfaceService } from '../../domain/surfaces/surface-service.js';
import type { ErrorExcerpts } from '../../domain/upstream/error-excerpts.js';
import type { PlatformDirectory } from '../../domain/upstream/platform-directory.js';
import type { Clock } from '../../ports/clock.js';
import type { HttpUpstream } from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { ProviderLoader } from './identity-module.js';

declare const service: unique symbol;

/** A symbol that knows the type bound to it. */
export type Token<S> = symbol & { readonly [service]?: S };

const token = <S>(name: string): Token<S> => Symbol(name) as Token<S>;

/** Everything the container can give, by what it is. */
export const TOKENS: {
  readonly Clock: Token<Clock>;
  readonly Telemetry: Token<Telemetry>;
  readonly Upstream: Token<HttpUpstream>;
  readonly Excerpts: Token<ErrorExcerpts>;
  readonly Providers: Token<ProviderLoader>;
  readonly TokenCache: Token<TokenCache>;
  readonly CredentialBroker: Token<CredentialBroker>;
  readonly ChatForwarder: Token<ChatForwarder>;
  readonly ChatConfig: Token<ChatConfig>;
  readonly HttpJsonBinding: Token<HttpJsonBinding>;
  readonly PlatformDirectory: Token<PlatformDirectory>;
  readonly SurfaceService: Token<SurfaceService>;
  readonly ConversationProxy: Token<ConversationProxy>;
} = {
  Clock: token('Clock'),
  Telemetry: token('Telemetry'),
  Upstream: token('Upstream'),
  Excerpts: token('Excerpts'),
  Providers: token('Providers'),
  TokenCache: token('TokenCache'),
  CredentialBroker: token('CredentialBroker'),
  ChatForwarder: token('ChatForwarder'),
  ChatConfig: token('ChatConfig'),
  HttpJsonBinding: token('HttpJsonBinding'),
  PlatformDirectory: token('PlatformDirectory'),
  SurfaceService: token('SurfaceService'),
  ConversationProxy: token('ConversationProxy'),
};
