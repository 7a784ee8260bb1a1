import { beforeDeadline } from '../../domain/shared/deadline.js';
import type {
  Identity,
  IdentityProvider,
  IssueOutcome,
  ExchangeRefusal,
  TokenExchange,
  TokenExchangeRequest,
} from '../../ports/identity-provider.js';

/** The result of the work, or a `DeadlineError` that names it after so many milliseconds; the work itself goes on. 0 waits forever. */
export function inTime<T>(work: Promise<T>, ms: number, what: string): Promise<T> {
  if (ms === 0) return work;
  const deadline = new AbortController();
  const timer = setTimeout(() => {
    deadline.abort(new DeadlineError(what, ms));
  }, ms);
  // A request that waits has a connection, which keeps the process alive.
  timer.unref();
  return beforeDeadline(deadline.signal, work).finally(() => {
    clearTimeout(timer);
  });
}

/** No result came in time. */
export class DeadlineError extends Error {
  override readonly name: string = 'DeadlineError';

  constructor(what: string, ms: number) {
    super(`${what} gave no response within ${String(ms)} ms`);
  }
}

/** A provider whose callers do not wait forever: one that never settles is out of order. */
export class TimedIdentityProvider implements IdentityProvider {
  readonly block: string;
  readonly signsLocally: boolean;
  readonly #provider: IdentityProvider;
  readonly #ms: number;

  /** At most so many milliseconds for each call. */
  constructor(provider: IdentityProvider, ms: number) {
    this.block = provider.block;
    this.signsLocally = provider.signsLocally === true;
    this.#provider = provider;
    this.#ms = ms;
  }

  recheck(): void {
    this.#provider.recheck?.();
  }

  async identity(): Promise<Identity> {
    return inTime((async () => this.#provider.identity())(), this.#ms, 'the identity provider');
  }

  async issue(now: number): Promise<IssueOutcome> {
    try {
      return await inTime(this.#provider.issue(now), this.#ms, 'the identity provider');
    } catch (error) {
      if (!(error instanceof DeadlineError)) throw error;
      return {
        kind: 'failure',
        reason: 'unavailable',
        block: this.block,
        fields: [],
        advice: `Check the "${this.block}" configuration block.`,
        detail: error.message,
      };
    }
  }
}

/** An exchange whose callers do not wait forever; a late result is an exception, and counts as out of order. */
export class TimedTokenExchange implements TokenExchange {
  readonly #exchange: TokenExchange;
  readonly #ms: number;

  /** At most so many milliseconds for each call. */
  constructor(exchange: TokenExchange, ms: number) {
    this.#exchange = exchange;
    this.#ms = ms;
  }

  async identity(): Promise<Identity> {
    return inTime((async () => this.#exchange.identity())(), this.#ms, 'the token exchange');
  }

  async exchange(request: TokenExchangeRequest, now: number): Promise<IssueOutcome | ExchangeRefusal> {
    return inTime(this.#exchange.exchange(request, now), this.#ms, 'the token exchange');
  }
}
