/**
 * The result of asking an identity provider: a token for calls to the platform, or a failure that names the fields to
 * check.
 *
 * @public
 */
export type IssueOutcome =
  | {
      readonly kind: 'token';
      readonly token: {
        /** The token without `Bearer`. */
        readonly value: string;
        /** Milliseconds since the epoch. */
        readonly expiresAt: number;
      };
    }
  | {
      readonly kind: 'failure';
      /**
       * - `incomplete`: the configuration lacks a field; no request was sent
       * - `refused`: the provider rejected the request, or the key is unusable; retrying does not help
       * - `unavailable`: the provider was unreachable or out of order
       */
      readonly reason: 'incomplete' | 'refused' | 'unavailable';
      /** The configuration block to check, such as `idpAServiceUser`. */
      readonly block: string;
      /** The fields of that block to check. */
      readonly fields: readonly string[];
      /** One sentence of advice. Public, so it names blocks and fields only. */
      readonly advice: string;
      /** For the server's log only: provider messages, paths and codes, without secrets. */
      readonly log: string;
      /** The pause the provider requested, in milliseconds. */
      readonly retryAfterMs?: number;
    };

export type AccessToken = Extract<IssueOutcome, { readonly kind: 'token' }>['token'];

export type IssueFailure = Extract<IssueOutcome, { readonly kind: 'failure' }>;

/**
 * Issues tokens for the site's own calls to the platform. Callers cache and coalesce; each call sends one request to
 * the provider.
 *
 * @public
 */
export interface IdentityProvider {
  /** The configuration block that hints name when no better one is known, such as `serviceAccount`. */
  readonly block: string;
  /** @internal True if `issue` signs locally, so that the caller's `now` ends up in the token. Default: false. */
  readonly signsLocally?: boolean;
  /** @internal True if wrong secrets lock an account, so that processes ask one after the other. Default: false. */
  readonly takesTurns?: boolean;
  /** @internal Called when the platform rejects a token: reads the credentials, such as a key file, again. */
  recheck?(): void;
  /**
   * The owner of its tokens, and the proof it obtains them with. Called before a token is requested, never for a cached
   * one; may read a key file again.
   */
  identity(): Identity | Promise<Identity>;
  /** Requests a token. Never throws when the provider refuses. `now` is milliseconds since the epoch. */
  issue(now: number): Promise<IssueOutcome>;
}

/**
 * The two sides of an identity: the secret can be rotated while the owner stays the same.
 *
 * @public
 */
export interface Identity {
  /**
   * The owner: account, claims, domain, tenant, client, user name, audience, scope. Contains no secret, is not empty,
   * and is the same text in every process of the site. It is the cache key of renders and agent cards, so two owners
   * must never share one.
   */
  readonly principal: string;
  /**
   * A text that changes with the secret, key or certificate without revealing it; empty if there is none. Tokens are
   * cached by principal and proof.
   */
  readonly proof: string;
}

/**
 * The outcome of an exchange: that of an identity provider, or a step the user has to take first, which no change to
 * the configuration can replace.
 *
 * @public
 */
export type ExchangeOutcome =
  | IssueOutcome
  | {
      readonly kind: 'user-refused';
      /** `expired`: sign in again; `interaction`: consent or a second factor is needed. */
      readonly reason: 'expired' | 'interaction';
      /** The claims that the provider requests for an interaction, as JSON text. Passed to the page. Default: none. */
      readonly claims?: string;
      /** For the server's log only. */
      readonly log: string;
    };

export type ExchangeRefusal = Extract<ExchangeOutcome, { readonly kind: 'user-refused' }>;

/**
 * A user's token, and the target of its exchange.
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
  /** The application that exchanges tokens, its defaults, and its proof. Called for each request of a user, so it should be cheap. */
  identity(): Identity | Promise<Identity>;
  /** Sends one request to the provider. `now` is milliseconds since the epoch. */
  exchange(request: TokenExchangeRequest, now: number): Promise<ExchangeOutcome>;
}
