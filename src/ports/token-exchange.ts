import type { Identity } from './identity.js';
import type { IssueOutcome } from './identity-provider.js';

/**
 * What an exchange gives: what an identity provider gives, or that the user has to do something first, which no change of the configuration mends.
 *
 * @public
 */
export type ExchangeOutcome =
  | IssueOutcome
  | {
      readonly kind: 'user-refused';
      /** `expired`: sign in again; `interaction`: consent or a second factor is needed. */
      readonly reason: 'expired' | 'interaction';
      /** For the server's log only. */
      readonly detail: string;
    };

export type ExchangeRefusal = Extract<ExchangeOutcome, { readonly kind: 'user-refused' }>;

/**
 * A user's token, and what it is to be exchanged for.
 *
 * @public
 */
export interface TokenExchangeRequest {
  /** The signed-in user's token. */
  readonly assertion: string;
  /** The API the new token is for. Default: the configured one. */
  readonly audience?: string;
  /** The scope of the new token. Default: the configured one. */
  readonly scope?: string;
}

/**
 * Exchanges a user's token for one the platform accepts (On-Behalf-Of, RFC 8693).
 *
 * @public
 */
export interface TokenExchange {
  /** The application that exchanges, with its defaults, and its proof. Called for each request of a user, so it should be cheap. */
  identity(): Identity | Promise<Identity>;
  /** Asks the provider once. `now` is milliseconds since the epoch. */
  exchange(request: TokenExchangeRequest, now: number): Promise<ExchangeOutcome>;
}
