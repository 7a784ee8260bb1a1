import { FakeClock, FakeTokenExchange, RecordingTelemetry } from '../../src/adapters/fakes/fakes.js';
import { RouteAuths } from '../../src/composition/routes/route-auths.js';
import { optionalSecret } from '../../src/domain/shared/secret.js';
import { BrokerWorld } from '../domain/credentials/broker-fixture.js';

/** The credentials of routes where this key is configured. */
export function routeAuths(apiKey?: string): RouteAuths {
  return new RouteAuths({
    clock: new FakeClock(),
    telemetry: new RecordingTelemetry(),
    sessions: new Set(),
    tokens: new BrokerWorld().tokens,
    exchange: new FakeTokenExchange(),
    alwaysExchange: false,
    sessionMs: 0,
    apiKey: optionalSecret(apiKey),
    apiKeyHeader: 'x-api-key',
  });
}
