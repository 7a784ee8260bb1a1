export type { KeyvLike } from '../adapters/keyv/keyv-store.js';
export type { DispatcherLike } from '../adapters/undici/dispatcher-upstream.js';
export { rateLimiter, type RateLimiterOptions } from '../adapters/rate-limit/rate-limiter.js';
export { loggerTelemetry } from '../adapters/telemetry/logger.js';
export * from '../adapters/telemetry/opentelemetry.js';
export { rewriteAgentCard, type AgentCardRewrite } from '../domain/chat/agent-card.js';
export { forgetVisitorCookies } from '../adapters/web/visitors.js';
export type { ChatConfigRecord } from '../domain/chat/chat-config.js';
export {
  AgentBffError,
  ConfigurationError,
  isAgentBffError,
  RequestError,
  ServiceAuthError,
  SessionError,
  UpstreamError,
} from '../domain/shared/errors.js';
export type { ErrorCode, ErrorFacts } from '../domain/shared/errors.js';
export type { CacheStore } from '../ports/cache-store.js';
export type { Clock } from '../ports/clock.js';
export type {
  HeaderFields,
  HttpBody,
  HttpResponse,
  HttpUpstream,
  RequestContext,
  UpstreamOutcome,
  UpstreamRequest,
} from '../ports/http.js';
export type { MessageFacts } from '../domain/credentials/route-auth.js';
export type * from '../ports/session-token-source.js';
export type { Telemetry, TelemetryEvent } from '../ports/telemetry.js';
export type { LimitVerdict, VisitorLimit } from '../ports/visitor-limit.js';
export type {
  ExchangeOutcome,
  Identity,
  IdentityProvider,
  IssueOutcome,
  TokenExchange,
  TokenExchangeRequest,
} from '../ports/identity-provider.js';
export type {
  AuthProvider,
  IdpAConfig,
  IdpAServiceUserConfig,
  IdpBServiceConfig,
  OnBehalfOfConfig,
  ServerConfig,
  ServiceAccountConfig,
  ServiceAuthStrategy,
  TimeoutsConfig,
} from './config/server-config.js';
export type * from './config/own-providers.js';
export { configFromEnv } from './config/env.js';
export { createA2ARouter, createServiceProxyRouter, createServiceSurfaceRouter } from './express.js';
export type { ExpressLikeRouter, ExpressRequestOf } from './express.js';
export type { HandlersOptions, SiteRoutesOptions } from './routes/site-routes.js';
export { createGetHeadersForSession, createGetHeadersWithServiceAuth, endSession } from './get-headers.js';
export { authJsSession, type NextAuthOptions, nextAuthSession } from '../adapters/sessions/auth-js.js';
export { type Auth0Like, auth0Session } from '../adapters/sessions/auth0.js';
export { type BetterAuthOptions, betterAuthSession } from '../adapters/sessions/better-auth.js';
export { easyAuthSession } from '../adapters/sessions/easy-auth.js';
export { expressOpenidConnectSession } from '../adapters/sessions/express-openid-connect.js';
export { type MsalClientLike, msalSession, type MsalSessionOptions } from '../adapters/sessions/msal-session.js';
export type { SessionTokenLike } from '../adapters/sessions/session-like.js';
export {
  expressSession,
  fromFunction,
  ironSession,
  passportSession,
  type SessionSourceOptions,
  type SessionTokenFunction,
  type StoredTokenOptions,
} from '../adapters/sessions/stored-token.js';
export type { UpstreamConfig, UpstreamHeadersConfig, UpstreamPathsConfig } from './config/upstream-config.js';
export type * from './routes/route-options.js';
export * from './server.js';
export type { Toolkit, ToolkitHealth, ToolkitOption, ToolkitPorts } from './toolkit/toolkit-type.js';
export { createShared, type Shared, type SharedOptions } from './toolkit/shared.js';
export { createToolkit } from './toolkit/toolkit.js';
