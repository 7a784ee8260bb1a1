export {
  FakeCacheStore,
  FakeClock,
  FakeIdentityProvider,
  type FakeResponder,
  FakeSessionTokenSource,
  FakeTokenExchange,
  FakeUpstream,
  RecordingTelemetry,
} from '../adapters/fakes/fakes.js';
