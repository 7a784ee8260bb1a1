import { FakeClock } from '../../src/adapters/fakes/fake-clock.js';
import { FakeTokenExchange } from '../../src/adapters/fakes/fake-token-exchange.js';
import { RecordingTelemetry } from '../../src/adapters/fakes/recording-telemetry.js';
import { resolveConfig } from '../../src/composition/config/resolve-config.js';
import { RouteAuths } from '../../src/composition/routes/route-auths.js';
import { BrokerWorld } from '../domain/credentials/broker-fixture.js';

/** The credentials of routes where this key is configured. */
export function routeAuths(serviceApiKey?: string): RouteAuths {
  return new RouteAuths({
    config: resolveConfig({ serviceApiKey }),
    clock: new FakeClock(),
    telemetry: new RecordingTelemetry(),
    sessions: new Set(),
    tokens: new BrokerWorld().tokens,
    exchange: new FakeTokenExchange(),
  });
}
