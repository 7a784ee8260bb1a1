import type { RequestContext } from './http.js';

/**
 * What the token is wanted for.
 *
 * @public
 */
export interface SessionTokenQuery {
  /** The API the token is for. Default: that of the session. */
  readonly audience?: string;
  /** The scope the token must have. Default: that of the session. */
  readonly scope?: string;
  /** Whether a token that looks valid is to be renewed all the same, because the platform refused it; at most once in 30 seconds for a session. Default: false. */
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
      /** A stable name of the user at `issuer`, or in this source. Only from what the session library vouches for. */
      readonly subject?: string;
      /** The issuer of `subject`, such as the `iss` of the session's ID token. Default: the source itself, by its `name`. */
      readonly issuer?: string;
      /** The organization or tenant the token is for, such as `org_id` or `tid`. Default: unknown; a digest of the token then joins the keys of renders. */
      readonly tenant?: string;
      /** A stable name of the session. */
      readonly sessionKey?: string;
      /**
       * Carries the refreshed session over to another request of the same session that is given this token;
       * else that request's response could write the session of before the refresh back.
       */
      readonly adopt?: (request: RequestContext) => void;
    }
  | { readonly kind: 'no-session' }
  | {
      readonly kind: 'expired';
      /** `interaction`: consent or a second factor is needed. Default: sign in again. */
      readonly reason?: 'expired' | 'interaction';
      /** For the server's log only. */
      readonly detail?: string;
    };

/**
 * Finds the signed-in user's token for one request.
 * May throw: a provider that is down is not an absent session.
 *
 * @public
 */
export interface SessionTokenSource {
  /** A stable name of the source, alike in every process and bundle of the site, such as `staff`. Default: none; a subject is then a name only with its issuer. */
  readonly name?: string;
  /**
   * Names of the cookies that hold or name the session, without the number of a chunk.
   * Requests that agree in them (and in `authorization` and host) are one session and may share a token.
   * Absent: something else may tell users apart, and no two requests share.
   */
  readonly sessionCookies?: readonly string[];
  /**
   * Whether the session itself is in the cookie, so that a request with the cookie of before a refresh cannot know of it: its token is kept for ten seconds.
   * Absent: the server holds the session, and a sign-out counts immediately.
   */
  readonly sessionInCookie?: boolean;
  /**
   * Names the session as it was after its last refresh, for a library that writes its cookie anew on each response: requests that agree in it may share a token, whatever their cookies.
   * The refresh token is such a name; only its hash is kept. Absent, or `undefined` for a request: the cookies tell.
   */
  sessionVersion?(request: RequestContext): string | undefined;
  /** Finds the token; may renew it, and then write cookies to the native response. */
  getToken(request: RequestContext, query: SessionTokenQuery): Promise<SessionToken>;
}
