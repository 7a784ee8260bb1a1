import type { RequestContext } from './http.js';

/**
 * Requirements for the token.
 *
 * @public
 */
export interface SessionTokenQuery {
  /** The API the token is for. Default: that of the session. */
  readonly audience?: string;
  /** The scope the token must have. Default: that of the session. */
  readonly scope?: string;
  /**
   * True to renew a token that still looks valid, because the platform rejected it; at most once in 30 seconds per
   * session. Default: false.
   */
  readonly forceRefresh?: boolean;
}

/**
 * The signed-in user's token, or the reason for its absence.
 *
 * @public
 */
export type SessionToken =
  | {
      readonly kind: 'token';
      readonly accessToken: string;
      /** Milliseconds since the epoch. */
      readonly expiresAt?: number;
      /** A stable name of the user at `issuer`, or in this source. Only use values the session library has verified. */
      readonly subject?: string;
      /** The issuer of `subject`, such as the `iss` of the session's ID token. Default: the source itself, by its `name`. */
      readonly issuer?: string;
      /**
       * The organization or tenant the token is for, such as `org_id` or `tid`. Default: unknown; a digest of the token
       * then joins the cache keys of renders.
       */
      readonly tenant?: string;
      /**
       * Copies the refreshed session to another request of the same session that received this token. Otherwise that
       * request's response could overwrite the cookie with the session from before the refresh. May return a promise.
       */
      readonly adopt?: (request: RequestContext) => unknown;
      /**
       * Removes the session from a response that has not been sent, because the user signed out meanwhile
       * (`endSession`). Otherwise its cookie would sign the user in again.
       */
      readonly retract?: (request: RequestContext) => unknown;
    }
  | { readonly kind: 'no-session' }
  | {
      readonly kind: 'expired';
      /** `interaction`: consent or a second factor is needed. Default: the user has to sign in again. */
      readonly reason?: 'expired' | 'interaction';
      /** The claims that the provider requests for an interaction, as JSON text. Passed to the page. Default: none. */
      readonly claims?: string;
      /** For the server's log only. */
      readonly log?: string;
      /** Refused, since that of an error is public: the text belongs in `log`. */
      readonly detail?: never;
    };

/**
 * Finds the signed-in user's token for one request. Throws if the provider is down, which is different from having no
 * session.
 *
 * @public
 */
export interface SessionTokenSource {
  /**
   * A stable name of the source, the same in every process and bundle of the site, such as `staff`. Default: none; a
   * subject then identifies a user only together with its issuer.
   */
  readonly name?: string;
  /**
   * Names of the cookies that hold or identify the session, without chunk numbers. Requests with equal values (and
   * equal `authorization` and host) are one session and may share a token. Absent: something else may distinguish users,
   * so requests never share a token.
   */
  readonly sessionCookies?: readonly string[];
  /**
   * True if the cookie holds the session itself. A request still carrying the cookie from before a refresh cannot know
   * the new token, so it is cached until ten seconds after a response with the new cookie was sent; if none was, for at
   * most five minutes. Absent: the server holds the session, and signing out takes effect immediately.
   */
  readonly sessionInCookie?: boolean;
  /**
   * Identifies the session after its last refresh, for a library that rewrites its cookie on each response: requests
   * with equal values may share a token, whatever their cookies. The refresh token is suitable; only its hash is
   * stored. If absent, `undefined` or empty, cookies identify the session.
   */
  sessionVersion?(request: RequestContext): string | undefined;
  /** Finds the token. May renew it and write cookies to the native response. */
  getToken(request: RequestContext, query: SessionTokenQuery): Promise<SessionToken>;
}

/**
 * The signed-in user of a request, by the names that the session source returns.
 *
 * @public
 */
export interface SessionUser {
  /** The user's name at the issuer. Absent if the session has none. */
  readonly subject?: string;
  /** The identity provider. Absent if the session does not name it. */
  readonly issuer?: string;
  /** The user's tenant. Absent if the session does not name it. */
  readonly tenant?: string;
}
