import type { SessionRequest, SessionToken, SessionTokenSource } from '../../ports/session-token-source.js';
import { refreshRefusal } from './refresh-refusal.js';
import { sessionFault } from './session-fault.js';

/**
 * The part of `req.oidc` (express-openid-connect 2 and 3) that is used.
 *
 * @public
 */
export interface OpenidConnectContext {
  /** The token of the session; absent when nobody is signed in. */
  readonly accessToken?: OpenidConnectToken | undefined;
  /** Present when the session can renew its token. */
  readonly refreshToken?: string | undefined;
  /** What the provider vouches for; names the user. */
  readonly idTokenClaims?: object | undefined;
}

/**
 * The part of `req.oidc.accessToken` that is used.
 *
 * @public
 */
export interface OpenidConnectToken {
  /** The token. */
  readonly access_token: string;
  /** Seconds until the token expires. */
  readonly expires_in: number;
  /** Whether it has to be renewed. */
  isExpired(): boolean;
  /** Renews it, and writes the session cookie. */
  refresh(): Promise<OpenidConnectToken>;
}

/**
 * How the site set express-openid-connect up.
 *
 * @public
 */
export interface ExpressOpenidConnectOptions {
  /** `session.name` of the site's `auth()`. Default: `appSession`. */
  readonly sessionName?: string | undefined;
}

/**
 * Reads the user's token from `req.oidc` and refreshes it when it has expired.
 * Mount `auth()` of express-openid-connect before the routes.
 *
 * @example
 * ```ts
 * import { expressOpenidConnectSession } from 'agent-bff';
 *
 * const source = expressOpenidConnectSession();
 * ```
 *
 * @public
 */
export function expressOpenidConnectSession(options: ExpressOpenidConnectOptions = {}): SessionTokenSource {
  const { sessionName = 'appSession' } = options;
  return {
    sessionCookies: [sessionName],
    getToken: async (request, query) => {
      const oidc = contextOf(request);
      const token = oidc.accessToken;
      if (token === undefined) return { kind: 'no-session' };
      if (!token.isExpired() && query.forceRefresh !== true) return tokenOf(token, oidc);
      if (oidc.refreshToken === undefined) return { kind: 'expired', detail: 'the session has no refresh token' };
      try {
        const before = { ...sessionOf(request, sessionName) };
        const refreshed = await token.refresh();
        const changes = changed(before, { ...sessionOf(request, sessionName) });
        return { ...tokenOf(refreshed, oidc), adopt: (to) => carryOver(changes, sessionOf(to, sessionName)) };
      } catch (error) {
        return refusal(error);
      }
    },
  };
}

function contextOf({ native }: SessionRequest): OpenidConnectContext {
  const { oidc } = native.request as { oidc?: OpenidConnectContext };
  if (oidc === undefined)
    throw new TypeError('the request has no "oidc": mount auth() of express-openid-connect first');
  return oidc;
}

function tokenOf(token: OpenidConnectToken, oidc: OpenidConnectContext): Extract<SessionToken, { kind: 'token' }> {
  const { iss, sub } = { ...oidc.idTokenClaims } as { iss?: unknown; sub?: unknown };
  return {
    kind: 'token',
    accessToken: token.access_token,
    expiresAt: Date.now() + token.expires_in * 1_000,
    ...(typeof iss === 'string' && typeof sub === 'string' && { subject: `${iss}|${sub}` }),
  };
}

/** What the refresh changed; the rest of a session may differ between requests and is theirs. */
function changed(before: SessionFields, after: SessionFields): SessionFields {
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => before[name] !== value));
}

// Its middleware writes the cookie of a rolling session on every response, so a response that still
// had the old session would put the spent refresh token back into the browser.
function carryOver(changes: SessionFields, session: SessionFields | undefined): void {
  if (session !== undefined) Object.assign(session, changes);
}

type SessionFields = Record<string, unknown>;

function sessionOf({ native }: SessionRequest, name: string): SessionFields | undefined {
  return (native.request as Record<string, SessionFields | undefined>)[name];
}

function refusal(error: unknown): SessionToken {
  const { code, error: oauthCode } = Object(error) as { code?: unknown; error?: unknown };
  if (code === 'ERR_SESSION_EXPIRED') return { kind: 'expired', detail: code };
  const ended = refreshRefusal(oauthCode);
  if (ended !== undefined) return ended;
  throw sessionFault('express-openid-connect', error);
}
