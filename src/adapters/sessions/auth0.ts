import { accept, checkArgument, hasMethods, readOptions } from '../../domain/shared/options.js';
import type { SessionToken, SessionTokenSource } from '../../ports/session-token-source.js';
import {
  claimsOf,
  foundToken,
  nodePair,
  refreshRefusal,
  sanitizeLibraryError,
  withRefreshedCookies,
} from './session-libraries.js';
import { SESSION_SOURCE, type SessionSourceOptions } from './stored-token.js';

/**
 * The part of an `Auth0Client` (`@auth0/nextjs-auth0` 4) that is used.
 *
 * @public
 */
export interface Auth0Like {
  /** The session's access token; throws an error with a `code` if there is none. */
  // `any`, because the client's overloads for both routers fit no single parameter list.
  // oxlint-disable-next-line typescript/no-explicit-any
  getAccessToken(...parameters: any[]): Promise<{ readonly token: string; readonly expiresAt: number }>;
}

const CLIENT = accept((value) => hasMethods(value, ['getAccessToken']), 'an Auth0Client of "@auth0/nextjs-auth0"');

/**
 * Reads the user's token from an Auth0 session; the client refreshes it when due. Works in the App Router, and in Pages
 * Router API routes. A JWT names user, issuer and organization; an opaque token does not.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option.
 *
 * @example
 * ```ts
 * import { auth0Session } from 'agent-bff';
 * import { auth0 } from './lib/auth0.js';
 *
 * const source = auth0Session(auth0);
 * ```
 *
 * @public
 */
export function auth0Session(auth0: Auth0Like, options?: SessionSourceOptions): SessionTokenSource {
  checkArgument('auth0Session', 'auth0', auth0, CLIENT);
  return {
    sessionCookies: ['__session', 'appSession'],
    sessionInCookie: true,
    ...readOptions('auth0Session', SESSION_SOURCE, options),
    getToken: (request, { forceRefresh, ...wanted }) =>
      withRefreshedCookies(request, async () => {
        try {
          const settings = { ...wanted, ...(forceRefresh === true && { refresh: true }) };
          const { token, expiresAt } = await auth0.getAccessToken(...nodePair(request), settings);
          return foundToken(token, expiresAt * 1_000, claimsOf(token));
        } catch (error) {
          return refusal(error);
        }
      }),
  };
}

function refusal(error: unknown): SessionToken {
  const { code, cause } = Object(error) as { code?: unknown; cause?: { readonly code?: unknown } };
  if (code === 'missing_session') return { kind: 'no-session' };
  if (code === 'missing_refresh_token' || code === 'session_expired') return { kind: 'expired', log: code };
  if (code === 'mfa_required') return { kind: 'expired', reason: 'interaction', log: code };
  // `failed_to_refresh_token` also covers outages; only the cause distinguishes them.
  const ended = code === 'failed_to_refresh_token' ? refreshRefusal(cause?.code) : undefined;
  if (ended !== undefined) return ended;
  throw sanitizeLibraryError('@auth0/nextjs-auth0', error);
}
