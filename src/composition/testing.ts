export { FakeCacheStore } from '../adapters/fakes/fake-cache-store.js';
export { FakeClock } from '../adapters/fakes/fake-clock.js';
export { FakeIdentityProvider } from '../adapters/fakes/fake-identity-provider.js';
export { FakeSessionTokenSource } from '../adapters/fakes/fake-session-token-source.js';
export { FakeTokenExchange } from '../adapters/fakes/fake-token-exchange.js';
export { FakeUpstream } from '../adapters/fakes/fake-upstream.js';
export type { FakeResponder } from '../adapters/fakes/fake-upstream.js';
export { RecordingTelemetry } from '../adapters/fakes/recording-telemetry.js';
