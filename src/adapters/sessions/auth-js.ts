import { AgentBffError } from '../../domain/shared/errors.js';
import { cookiePair, cookiePairs } from '../../domain/shared/message-fields.js';
import { accept, checkArgument, flag, text, type OptionShape, readOptions } from '../../domain/shared/options.js';
import type { RequestContext } from '../../ports/http.js';
import type { SessionToken, SessionTokenSource } from '../../ports/session-token-source.js';
import { nodePair, sanitizeLibraryError, webHeaders, withRefreshedCookies } from './session-libraries.js';
import { STORED_TOKEN, storedToken, type StoredTokenOptions } from './stored-token.js';

const AUTH = accept((value) => typeof value === 'function', '"auth" from NextAuth()');
const GET_TOKEN = accept((value) => typeof value === 'function', '"getToken" of "next-auth/jwt"');

/**
 * Reads the user's token from an Auth.js 5 session, using `auth` from `NextAuth()`. The site's `session` callback must
 * store the token in the session.
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
  const maker = 'authJsSession';
  checkArgument(maker, 'auth', auth, AUTH);
  const { accessToken, subject, ...given } = readOptions(maker, STORED_TOKEN, options);
  return {
    sessionCookies: ['authjs.session-token', '__Secure-authjs.session-token'],
    sessionInCookie: true,
    ...given,
    getToken: (request) =>
      withRefreshedCookies(request, async () => {
        const session = await call(() => (auth as (...parameters: unknown[]) => unknown)(...nodePair(request)), maker);
        return tokenOf(session, { accessToken, subject }, maker);
      }),
  };
}

/**
 * Settings for `getToken`; if omitted, next-auth 4 reads them from the environment.
 *
 * @public
 */
export interface NextAuthOptions extends StoredTokenOptions {
  /**
   * The secret that encrypts the session cookie. For Auth.js 5 it is the value of `AUTH_SECRET`, which its `getToken`
   * does not read. Default: next-auth 4 reads it from the environment.
   */
  readonly secret?: string | undefined;
  /** Name of the session cookie. Default: the library's own. */
  readonly cookieName?: string | undefined;
  /**
   * True if the cookie's name has the `__Secure-` prefix. Default: true if the request has such a cookie, otherwise the
   * library's own choice.
   */
  readonly secureCookie?: boolean | undefined;
}

const NEXT_AUTH: OptionShape<keyof NextAuthOptions> = {
  options: { secret: text, cookieName: text, secureCookie: flag, ...STORED_TOKEN.options },
};

/**
 * Reads the user's token from the encrypted cookie of next-auth 4, using `getToken` of `next-auth/jwt` (or of
 * `@auth/core/jwt` for Auth.js 5, which needs `secret`). The site's `jwt` callback must store the token in the cookie.
 * Tokens are not refreshed: after `expires_at` (seconds) a token counts as expired.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option.
 *
 * @example
 * ```ts
 * import { nextAuthSession } from 'agent-bff';
 * import { getToken } from 'next-auth/jwt';
 *
 * const source = nextAuthSession(getToken, { secret: process.env['AUTH_SECRET'] });
 * ```
 *
 * @public
 */
export function nextAuthSession(
  // oxlint-disable-next-line typescript/no-explicit-any
  getToken: (parameters: any) => Promise<unknown>,
  options?: NextAuthOptions,
): SessionTokenSource {
  checkArgument('nextAuthSession', 'getToken', getToken, GET_TOKEN);
  const {
    name,
    accessToken,
    subject,
    sessionCookies,
    sessionInCookie = true,
    ...library
  } = readOptions('nextAuthSession', NEXT_AUTH, options);
  const { cookieName } = library;
  const names = ['authjs', 'next-auth'].map((name) => `${name}.session-token`);
  const secureNames = names.map((name) => `__Secure-${name}`);
  return {
    ...(name !== undefined && { name }),
    sessionCookies: sessionCookies ?? (cookieName === undefined ? [...names, ...secureNames] : [cookieName]),
    sessionInCookie,
    getToken: async (request) => {
      // `req.cookies` requires a cookie parser, which not every framework runs.
      const req = { headers: webHeaders(request.headers), cookies: cookiesOf(request) };
      // Auth.js 5 looks for the unprefixed name unless configured; a cookie may arrive in numbered chunks.
      const isSecure = Object.keys(req.cookies).some((name) => secureNames.includes(name.replace(/\.\d+$/, '')));
      const parameters = { req, ...(cookieName === undefined && isSecure && { secureCookie: true }), ...library };
      const session = await call(() => getToken(parameters), 'nextAuthSession');
      return tokenOf(session, { accessToken, subject }, 'nextAuthSession');
    },
  };
}

async function call(read: () => unknown, maker: Maker): Promise<unknown> {
  try {
    return await read();
  } catch (error) {
    const { name, type } = Object(error) as { name?: unknown; type?: unknown };
    if (name === 'MissingSecret' || type === 'MissingSecret') {
      const place = maker === 'nextAuthSession' ? 'the options of nextAuthSession' : 'the configuration of Auth.js';
      const hint = `Set "secret" in ${place} to the secret of Auth.js, such as process.env.AUTH_SECRET.`;
      throw misconfigured(maker, 'secret', 'The Auth.js session cannot be opened.', hint);
    }
    throw sanitizeLibraryError('Auth.js', error);
  }
}

/** Retrying does not help the visitor: the site has to be changed. */
function misconfigured(block: string, field: string, detail: string, hint: string): AgentBffError {
  return new AgentBffError('service_auth_failed', { detail, hint, block, fields: [field] });
}

type Maker = 'authJsSession' | 'nextAuthSession';

const CALLBACKS: Readonly<Record<Maker, string>> = {
  authJsSession: '"jwt" and "session" callbacks',
  nextAuthSession: '"jwt" callback',
};

function tokenOf(session: unknown, read: StoredTokenOptions, maker: Maker): SessionToken {
  if (session === null || session === undefined || session === '') return { kind: 'no-session' };
  if (typeof session === 'string') return storedToken(session, undefined);
  const facts = session as { accessToken?: unknown; access_token?: unknown; expires_at?: unknown; error?: unknown };
  // The names that the Auth.js guides use for a failed refresh.
  if (facts.error === 'RefreshTokenError' || facts.error === 'RefreshAccessTokenError') {
    return { kind: 'expired', log: facts.error };
  }
  const accessToken =
    read.accessToken === undefined ? (facts.accessToken ?? facts.access_token) : read.accessToken(session);
  if (typeof accessToken !== 'string' || accessToken === '') {
    const hint = `Add it in the ${CALLBACKS[maker]} of Auth.js, or set "accessToken" in the options of ${maker} to a function that reads it.`;
    throw misconfigured(maker, 'accessToken', 'The Auth.js session holds no access token.', hint);
  }
  const { expires_at: seconds } = facts;
  return {
    ...storedToken(accessToken, read.subject?.(session)),
    ...(typeof seconds === 'number' && { expiresAt: seconds * 1_000 }),
  };
}

function cookiesOf({ headers }: RequestContext): Readonly<Record<string, string>> {
  return Object.fromEntries(cookiePairs(headers['cookie']).map(cookiePair));
}
