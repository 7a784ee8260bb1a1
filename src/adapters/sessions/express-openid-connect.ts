import { text, type OptionShape, readOptions } from '../../domain/shared/options.js';
import type { RequestContext } from '../../ports/http.js';
import type { SessionToken, SessionTokenSource } from '../../ports/session-token-source.js';
import { claimsOf, foundToken, mounted, refreshRefusal, sanitizeLibraryError } from './session-libraries.js';

/** The part of `req.oidc` (express-openid-connect 2 and 3) that is used. */
interface OpenidConnectContext {
  /** The token of the session; absent if no user is signed in. */
  readonly accessToken?: OpenidConnectToken | undefined;
  /** Present if the session can renew its token. */
  readonly refreshToken?: string | undefined;
  /** Claims verified by the library; they name the user. */
  readonly idTokenClaims?: object | undefined;
}

/** The part of `req.oidc.accessToken` that is used. */
interface OpenidConnectToken {
  /** The token. */
  readonly access_token: string;
  /** Seconds until the token expires. */
  readonly expires_in: number;
  /** True if it has to be renewed. */
  isExpired(): boolean;
  /** Renews it, and writes the session cookie. */
  refresh(): Promise<OpenidConnectToken>;
}

const OPENID_CONNECT: OptionShape<'sessionName'> = { options: { sessionName: text } };

/**
 * Reads the user's token from `req.oidc` and refreshes it when it has expired. Mount `auth()` of express-openid-connect
 * before the routes; `sessionName` is its `session.name` (default `appSession`).
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option.
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
export function expressOpenidConnectSession(options?: {
  readonly sessionName?: string | undefined;
}): SessionTokenSource {
  const { sessionName = 'appSession' } = readOptions('expressOpenidConnectSession', OPENID_CONNECT, options);
  // The sessions of requests whose responses are not sent yet. The middleware writes the cookie of a rolling session on
  // every response, however late: a request from before a refresh would restore the used refresh token in the browser,
  // and the provider would treat the next refresh as theft.
  const underWay = new Set<SessionFields>();
  // For the same reason, a response that is late for a sign-out must not bring the session back.
  const retract = ({ native }: RequestContext): void => {
    Object.assign(native.request as object, { [sessionName]: undefined });
  };
  const add = (request: RequestContext): void => {
    const session = sessionOf(request, sessionName);
    const response = request.native.response as { once?: (event: string, listener: () => void) => unknown } | undefined;
    if (session === undefined || response?.once === undefined || underWay.has(session)) return;
    underWay.add(session);
    response.once('close', () => underWay.delete(session));
  };
  return {
    sessionCookies: [sessionName],
    sessionVersion: ({ native }) => (native.request as { oidc?: OpenidConnectContext }).oidc?.refreshToken,
    getToken: async (request, query) => {
      const oidc = contextOf(request);
      const token = oidc.accessToken;
      if (token === undefined) return { kind: 'no-session' };
      add(request);
      if (!token.isExpired() && query.forceRefresh !== true) {
        // Without a refresh token the session cannot change. What can be adopted is cached, even after a sign-out (decision 5).
        return { ...tokenOf(token, oidc), ...(oidc.refreshToken !== undefined && { adopt: add, retract }) };
      }
      if (oidc.refreshToken === undefined) return { kind: 'expired', log: 'the session has no refresh token' };
      try {
        const before = { ...sessionOf(request, sessionName) };
        const refreshed = await token.refresh();
        const changes = changed(before, { ...sessionOf(request, sessionName) });
        const { refresh_token: spent } = before;
        for (const session of underWay) {
          if (spent !== undefined && session['refresh_token'] === spent) Object.assign(session, changes);
        }
        return {
          ...tokenOf(refreshed, oidc),
          adopt: (to) => {
            Object.assign(sessionOf(to, sessionName) ?? {}, changes);
            add(to);
          },
          retract,
        };
      } catch (error) {
        return refusal(error);
      }
    },
  };
}

function contextOf({ native }: RequestContext): OpenidConnectContext {
  const { oidc } = native.request as { oidc?: OpenidConnectContext };
  return mounted(oidc, 'oidc', '"app.use(auth({ authRequired: false }))" of express-openid-connect');
}

function tokenOf(token: OpenidConnectToken, oidc: OpenidConnectContext): Extract<SessionToken, { kind: 'token' }> {
  const claims = { ...oidc.idTokenClaims };
  const expiresAt = Date.now() + token.expires_in * 1_000;
  // A refresh may change the organization of the access token without a new ID token.
  return foundToken(token.access_token, expiresAt, claims, [claimsOf(token.access_token), claims]);
}

/** The fields that the refresh changed; other fields may differ between requests and stay. */
function changed(before: SessionFields, after: SessionFields): SessionFields {
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => before[name] !== value));
}

type SessionFields = Record<string, unknown>;

function sessionOf({ native }: RequestContext, name: string): SessionFields | undefined {
  return (native.request as Record<string, SessionFields | undefined>)[name];
}

function refusal(error: unknown): SessionToken {
  const { code, error: oauthCode } = Object(error) as { code?: unknown; error?: unknown };
  if (code === 'ERR_SESSION_EXPIRED') return { kind: 'expired', log: code };
  const ended = refreshRefusal(oauthCode);
  if (ended !== undefined) return ended;
  throw sanitizeLibraryError('express-openid-connect', error);
}
