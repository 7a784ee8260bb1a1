import type { HeaderFields, NativeRequest } from './http.js';

/**
 * What a session library needs to find the signed-in user.
 *
 * @public
 */
export interface SessionRequest {
  readonly headers: HeaderFields;
  readonly native: NativeRequest;
}

/**
 * What the token is wanted for.
 *
 * @public
 */
export interface SessionTokenQuery {
  readonly audience?: string;
  readonly scope?: string;
  readonly forceRefresh?: boolean;
}

/**
 * The signed-in user's token, or the reason why there is none.
 *
 * @public
 */
export type SessionToken =
  | {
      readonly kind: 'token';
      readonly accessToken: string;
      /** Milliseconds since the epoch. */
      readonly expiresAt?: number;
      /** A stable name of the user, such as issuer and subject. */
      readonly subject?: string;
      /** A stable name of the session, for coalescing refreshes. */
      readonly sessionKey?: string;
    }
  | { readonly kind: 'no-session' }
  | { readonly kind: 'expired'; readonly detail?: string };

/**
 * Finds the signed-in user's token for one request.
 * May throw: a provider that is down is not an absent session.
 *
 * @public
 */
export interface SessionTokenSource {
  getToken(request: SessionRequest, query: SessionTokenQuery): Promise<SessionToken>;
}
