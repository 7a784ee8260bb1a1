import { FakeClock, FakeTokenExchange, RecordingTelemetry } from '../../src/adapters/fakes/fakes.js';
import { resolveConfig } from '../../src/composition/config/resolve-config.js';
import { RouteCredentials } from '../../src/composition/routes/route-credentials.js';
import { memoryOf } from '../support/memory.js';
import { BrokerWorld } from '../domain/credentials/broker-fixture.js';

/** The credentials of routes with this API key configured. */
export function routeCredentials(): RouteCredentials {
  return new RouteCredentials({
    config: resolveConfig({}),
    clock: new FakeClock(),
    memory: memoryOf(new FakeClock()),
    telemetry: new RecordingTelemetry(),
    sessions: new Set(),
    tokens: new BrokerWorld().tokens,
    exchange: new FakeTokenExchange(),
  });
}
