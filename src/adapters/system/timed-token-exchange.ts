import type { IssueOutcome } from '../../ports/identity-provider.js';
import type { ExchangeRefusal, TokenExchange, TokenExchangeRequest } from '../../ports/token-exchange.js';
import { inTime } from './deadline.js';

/** An exchange whose callers do not wait for ever; what does not come in time is a throw, and counts as out of order. */
export class TimedTokenExchange implements TokenExchange {
  readonly #exchange: TokenExchange;
  readonly #ms: number;

  /** At most so many milliseconds for each call. */
  constructor(exchange: TokenExchange, ms: number) {
    this.#exchange = exchange;
    this.#ms = ms;
  }

  async fingerprint(): Promise<string> {
    return inTime(this.#exchange.fingerprint(), this.#ms, 'the token exchange');
  }

  async exchange(request: TokenExchangeRequest, now: number): Promise<IssueOutcome | ExchangeRefusal> {
    return inTime(this.#exchange.exchange(request, now), this.#ms, 'the token exchange');
  }
}
