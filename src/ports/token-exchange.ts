import type { IssueOutcome } from './identity-provider.js';

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
 * Why a user's token was not exchanged because of the user, not of the configuration.
 *
 * @public
 */
export interface ExchangeRefusal {
  /** Tells a refusal of the user from a failure of the configuration. */
  readonly kind: 'user-refused';
  /** `expired`: sign in again; `interaction`: consent or a second factor is needed. */
  readonly reason: 'expired' | 'interaction';
  /** For the server's log only. */
  readonly detail: string;
}

/**
 * Exchanges a user's token for one the platform accepts (On-Behalf-Of, RFC 8693).
 *
 * @public
 */
export interface TokenExchange {
  /** Names provider, client and defaults, without a secret in it. */
  fingerprint(): Promise<string>;
  /** Asks the provider once. `now` is milliseconds since the epoch. */
  exchange(request: TokenExchangeRequest, now: number): Promise<IssueOutcome | ExchangeRefusal>;
}
