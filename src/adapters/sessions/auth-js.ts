import { cookiePair, cookiePairs } from '../../domain/shared/cookies.js';
import { flag, text } from '../../domain/shared/option-checks.js';
import { type OptionShape, readOptions } from '../../domain/shared/options.js';
import type { RequestContext } from '../../ports/http.js';
import type { SessionToken, SessionTokenSource } from '../../ports/session-token-source.js';
import { STORED_TOKEN, type StoredTokenOptions } from './from-function.js';
import { nodePair, webHeaders, withRefreshedCookies } from './framework-objects.js';
import { sanitizeLibraryError } from './library-errors.js';

/**
 * Reads the user's token from an Auth.js 5 session, given `auth` as `NextAuth()` returns it; the site's `session` callback must put it there.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option.
 *
 * @example
 * ```ts
 * import { authJsSession } from 'agent-bff';
 * import { auth } from './auth.js';
 *
 * const source = authJsSession(auth);
 * ```
 *
 * @public
 */
export function authJsSession(auth: () => Promise<object | null>, options?: StoredTokenOptions): SessionTokenSource {
  const { accessToken, ...given } = readOptions('authJsSession', STORED_TOKEN, options);
  return {
    sessionCookies: ['authjs.session-token', '__Secure-authjs.session-token'],
    sessionInCookie: true,
    ...given,
    getToken: (request) =>
      withRefreshedCookies(request, async () => {
        const session = await call(() => (auth as (...parameters: unknown[]) => unknown)(...nodePair(request)));
        return tokenOf(session, accessToken);
      }),
  };
}

/**
 * What `getToken` must know; next-auth 4 takes it from the environment when it is left out.
 *
 * @public
 */
export interface NextAuthOptions extends StoredTokenOptions {
  /** What the session cookie is sealed with. Default: what the library reads from the environment. */
  readonly secret?: string | undefined;
  /** Name of the session cookie. Default: the library's own. */
  readonly cookieName?: string | undefined;
  /** Whether the cookie's name has the `__Secure-` prefix. Default: the library's own choice. */
  readonly secureCookie?: boolean | undefined;
}

const NEXT_AUTH: OptionShape<keyof NextAuthOptions> = {
  options: { secret: text, cookieName: text, secureCookie: flag, ...STORED_TOKEN.options },
};

/**
 * Reads the user's token from the encrypted cookie of next-auth 4, given `getToken` of `next-auth/jwt` (or of `@auth/core/jwt`, Auth.js 5); the site's `jwt` callback must put it there.
 * Nothing is refreshed: a token past `expires_at` (seconds) counts as expired.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option.
 *
 * @example
 * ```ts
 * import { nextAuthSession } from 'agent-bff';
 * import { getToken } from 'next-auth/jwt';
 *
 * const source = nextAuthSession(getToken);
 * ```
 *
 * @public
 */
export function nextAuthSession(
  // oxlint-disable-next-line typescript/no-explicit-any
  getToken: (parameters: any) => Promise<unknown>,
  options?: NextAuthOptions,
): SessionTokenSource {
  const {
    accessToken,
    sessionCookies,
    sessionInCookie = true,
    ...library
  } = readOptions('nextAuthSession', NEXT_AUTH, options);
  const { cookieName } = library;
  const names = ['next-auth.session-token', '__Secure-next-auth.session-token'];
  return {
    sessionCookies: sessionCookies ?? (cookieName === undefined ? names : [cookieName]),
    sessionInCookie,
    getToken: async (request) => {
      // `req.cookies` is a parser's work that not every framework has done.
      const req = { headers: webHeaders(request.headers), cookies: cookiesOf(request) };
      return tokenOf(await call(() => getToken({ req, ...library })), accessToken);
    },
  };
}

async function call(read: () => unknown): Promise<unknown> {
  try {
    return await read();
  } catch (error) {
    throw sanitizeLibraryError('Auth.js', error);
  }
}

function tokenOf(session: unknown, read: StoredTokenOptions['accessToken']): SessionToken {
  if (session === null || session === undefined || session === '') return { kind: 'no-session' };
  if (typeof session === 'string') return { kind: 'token', accessToken: session };
  const facts = session as { accessToken?: unknown; access_token?: unknown; expires_at?: unknown; error?: unknown };
  // The names under which the Auth.js guides report a failed refresh.
  if (facts.error === 'RefreshTokenError' || facts.error === 'RefreshAccessTokenError') {
    return { kind: 'expired', detail: facts.error };
  }
  const accessToken = read === undefined ? (facts.accessToken ?? facts.access_token) : read(session);
  if (typeof accessToken !== 'string' || accessToken === '') {
    throw new TypeError('the Auth.js session holds no access token: add it in the "jwt" and "session" callbacks');
  }
  const { expires_at: seconds } = facts;
  return { kind: 'token', accessToken, ...(typeof seconds === 'number' && { expiresAt: seconds * 1_000 }) };
}

function cookiesOf({ headers }: RequestContext): Readonly<Record<string, string>> {
  return Object.fromEntries(cookiePairs(headers['cookie']).map(cookiePair));
}
