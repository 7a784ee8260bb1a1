import { FakeCacheStore, FakeClock, FakeTokenExchange, RecordingTelemetry } from '../../../src/adapters/fakes/fakes.js';
import { ExchangedTokens, type UserAssertion } from '../../../src/domain/credentials/exchanged-tokens.js';
import { TokenCache } from '../../../src/domain/credentials/token-cache.js';
import { type AgentBffError } from '../../../src/domain/shared/errors.js';
import { errorOf } from '../../support/error-of.js';
import { memoryOf } from '../../support/memory.js';

/** Exchanged tokens with their fake dependencies. */
export class ExchangeWorld {
  readonly clock = new FakeClock();
  readonly telemetry = new RecordingTelemetry();
  readonly exchange = new FakeTokenExchange();
  readonly shared = new FakeCacheStore(this.clock);
  readonly cache = new TokenCache({
    clock: this.clock,
    telemetry: this.telemetry,
    random: () => 0,
    sleep: () => Promise.resolve(),
    newId: () => crypto.randomUUID(),
    memory: memoryOf(this.clock),
    shared: this.shared,
  });
  readonly tokens = new ExchangedTokens({
    exchange: this.exchange,
    tokens: this.cache,
    clock: this.clock,
    telemetry: this.telemetry,
    hash: (text) => `hash(${String(text.length)}${text.slice(-2)})`,
  });

  async get(user: string | UserAssertion): Promise<string> {
    const found = await this.tokens.obtain(typeof user === 'string' ? { assertion: user } : user);
    return found.token.value;
  }

  error(user: string | UserAssertion): Promise<AgentBffError> {
    return errorOf(this.get(user));
  }

  get asked(): readonly string[] {
    return this.exchange.requests.map(({ assertion }) => assertion);
  }
}
