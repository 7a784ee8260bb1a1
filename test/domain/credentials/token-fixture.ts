import { FakeIdentityProvider, RecordingTelemetry } from '../../../src/adapters/fakes/fakes.js';
import { TokenCache } from '../../../src/domain/credentials/token-cache.js';
import type { CacheStore } from '../../../src/ports/cache-store.js';
import { VirtualTime } from '../../support/virtual-time.js';
import type { IssueFailure, IssueOutcome } from '../../../src/ports/identity-provider.js';
import { memoryOf } from '../../support/memory.js';

/** A token cache with a fake provider and clock. */
export class TokenWorld {
  readonly clock: VirtualTime = new VirtualTime();
  readonly telemetry: RecordingTelemetry = new RecordingTelemetry();
  readonly provider: FakeIdentityProvider = new FakeIdentityProvider('site', 'someBlock');
  readonly cache: TokenCache;
  /** The random source for jitter; 0 makes every threshold exact. */
  random = 0;

  constructor({
    shared,
    maxTokens = 100_000,
  }: { shared?: (clock: VirtualTime) => CacheStore; maxTokens?: number } = {}) {
    this.cache = new TokenCache({
      clock: this.clock,
      telemetry: this.telemetry,
      random: () => this.random,
      sleep: this.clock.sleep,
      newId: () => crypto.randomUUID(),
      // The size of a short token.
      memory: memoryOf(this.clock, 850 * maxTokens),
      ...(shared === undefined ? {} : { shared: shared(this.clock) }),
    });
  }

  get(key = 'key'): Promise<IssueOutcome> {
    return this.cache.get(key, { block: 'someBlock' }, (now) => this.provider.issue(now));
  }

  /** The token that a caller gets, or the reason for its absence. */
  async value(key = 'key'): Promise<string> {
    const outcome = await this.get(key);
    return outcome.kind === 'token' ? outcome.token.value : outcome.reason;
  }
}

export function failure(reason: IssueFailure['reason'], more: Partial<IssueFailure> = {}): IssueFailure {
  return {
    kind: 'failure',
    reason,
    block: 'idpA',
    fields: ['clientId'],
    advice: 'Check the "idpA" configuration block: "clientId".',
    log: 'provider text',
    ...more,
  };
}

/** A promise that a test settles. */
export class Deferred<T> {
  readonly promise: Promise<T>;
  resolve!: (value: T) => void;
  reject!: (reason: Error) => void;

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
}

/** Waits for everything that does not depend on time. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
