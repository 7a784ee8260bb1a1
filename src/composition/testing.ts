export {
  FakeCacheStore,
  FakeClock,
  FakeIdentityProvider,
  type FakeResponder,
  FakeSessionTokenSource,
  FakeTokenExchange,
  FakeUpstream,
  FakeVisitorLimit,
  RecordingTelemetry,
} from '../adapters/fakes/fakes.js';
