import type { IssueOutcome } from './identity-provider.js';

/**
 * A user's token, and what it is to be exchanged for.
 *
 * @public
 */
export interface TokenExchangeRequest {
  /** The signed-in user's token. */
  readonly assertion: string;
  readonly audience?: string;
  readonly scope?: string;
}

/**
 * Why a user's token was not exchanged because of the user, not of the configuration.
 *
 * @public
 */
export interface ExchangeRefusal {
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
  exchange(request: TokenExchangeRequest, now: number): Promise<IssueOutcome | ExchangeRefusal>;
}
