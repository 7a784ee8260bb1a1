export { FakeCacheStore } from '../adapters/fakes/fake-cache-store.js';
export { FakeClock } from '../adapters/fakes/fake-clock.js';
export { FakeIdentityProvider } from '../adapters/fakes/fake-identity-provider.js';
export { FakeSessionTokenSource } from '../adapters/fakes/fake-session-token-source.js';
export { FakeTokenExchange } from '../adapters/fakes/fake-token-exchange.js';
export { FakeUpstream } from '../adapters/fakes/fake-upstream.js';
export type { FakeAnswer } from '../adapters/fakes/fake-upstream.js';
export { RecordingTelemetry } from '../adapters/fakes/recording-telemetry.js';
export type { CacheStore } from '../ports/cache-store.js';
export type { Clock } from '../ports/clock.js';
export type {
  HeaderFields,
  HttpBody,
  HttpResponse,
  HttpUpstream,
  RequestContext,
  UpstreamFailureReason,
  UpstreamOutcome,
  UpstreamRequest,
} from '../ports/http.js';
export type { AccessToken, IdentityProvider, IssueFailure, IssueOutcome } from '../ports/identity-provider.js';
export type { SessionToken, SessionTokenQuery, SessionTokenSource } from '../ports/session-token-source.js';
export type { Telemetry, TelemetryEvent } from '../ports/telemetry.js';
export type { ExchangeRefusal, TokenExchange, TokenExchangeRequest } from '../ports/token-exchange.js';
