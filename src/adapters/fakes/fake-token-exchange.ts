import type { Identity, ExchangeOutcome, TokenExchange, TokenExchangeRequest } from '../../ports/identity-provider.js';

/**
 * An exchange whose tokens name the assertion they were made from.
 *
 * @public
 */
export class FakeTokenExchange implements TokenExchange {
  /** Every exchange so far, oldest first. */
  readonly requests: TokenExchangeRequest[] = [];
  /** Life of each token in milliseconds. */
  lifeMs = 300_000;
  /** Gives something else than a token, while it is set. */
  answer: ((request: TokenExchangeRequest, now: number) => ExchangeOutcome) | undefined;

  /** Its principal. */
  name = 'fakeExchange';
  /** Its proof. */
  proof = '';

  /** Its name and proof, so that tests can change them. */
  identity(): Identity | Promise<Identity> {
    return { principal: this.name, proof: this.proof };
  }

  /** A token that names its assertion, or `answer`. */
  exchange(request: TokenExchangeRequest, now: number): Promise<ExchangeOutcome> {
    this.requests.push(request);
    const value = `exchanged-${request.assertion}-${String(this.requests.length)}`;
    return Promise.resolve(
      this.answer?.(request, now) ?? { kind: 'token', token: { value, expiresAt: now + this.lifeMs } },
    );
  }
}
