import { type AgentBffError, sessionFailed } from '../../domain/shared/errors.js';
import {
  callback,
  checkArgument,
  flag,
  text,
  texts,
  type OptionShape,
  readOptions,
} from '../../domain/shared/options.js';
import type { RequestContext } from '../../ports/http.js';
import type { SessionToken, SessionTokenQuery, SessionTokenSource } from '../../ports/session-token-source.js';
import { mounted } from './session-libraries.js';

/* oxlint-disable typescript/no-explicit-any */
/**
 * Returns the signed-in user's token from the framework's own request (Express `req`, a Web `Request`, a Koa context);
 * `null` if no user is signed in. The request has `session` and `user`, which session libraries add: of their type if it
 * is declared, otherwise `any`.
 *
 * @public
 */
export type SessionTokenFunction<NativeRequest = any> = {
  // A method, so that a site can declare its own request type, such as a request with a session.
  // oxlint-disable-next-line typescript/method-signature-style
  call(
    request: NativeRequest & { readonly [Name in Exclude<'session' | 'user', keyof NativeRequest>]?: any },
    query: SessionTokenQuery,
  ): string | SessionToken | null | undefined | Promise<string | SessionToken | null | undefined>;
}['call'];
/* oxlint-enable typescript/no-explicit-any */

/**
 * Facts that a session source cannot determine itself.
 *
 * @public
 */
export interface SessionSourceOptions {
  /**
   * A stable name of the source, the same in every process and bundle of the site, such as `staff`. Required if users
   * are named by a row id, which another source of the site may also use. Default: none.
   */
  readonly name?: string | undefined;
  /**
   * Names of the cookies that hold or identify the session, without chunk numbers. Requests with equal values share one
   * token for a moment, so list them only if nothing else distinguishes users.
   */
  readonly sessionCookies?: readonly string[] | undefined;
  /**
   * True if those cookies hold the session itself: a token is then cached for ten more seconds, for requests sent
   * before the refreshed cookie arrived. Default: as the session library works; for a function, the server holds the
   * session.
   */
  readonly sessionInCookie?: boolean | undefined;
}

/**
 * Options for finding the access token that the site stored in its session.
 *
 * @public
 */
export interface StoredTokenOptions extends SessionSourceOptions {
  /**
   * Returns the access token from the session: the Auth.js session or claims, `req.session`, `req.user`. Default: its
   * `accessToken`; for Auth.js, otherwise its `access_token`.
   */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly accessToken?: ((session: any) => string | null | undefined) | undefined;
  /**
   * Returns the user's stable id from the session, where the site or its library stored it at sign-in, such as a row
   * id. With `name`, renders are then cached for this user. Default: users are not named.
   */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly subject?: ((session: any) => string | null | undefined) | undefined;
}

export const SESSION_SOURCE: OptionShape<keyof SessionSourceOptions> = {
  options: { name: text, sessionCookies: texts, sessionInCookie: flag },
};

/** Options for a session whose token the site stored under its own name. */
export const STORED_TOKEN: OptionShape<keyof StoredTokenOptions> = {
  options: { accessToken: callback, subject: callback, ...SESSION_SOURCE.options },
};

/**
 * Creates a session source from a function of the site. Without `sessionCookies` the function is called for every
 * request.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option.
 *
 * @example
 * ```ts
 * import { fromFunction } from 'agent-bff';
 *
 * const source = fromFunction((request) => request.session?.accessToken ?? null, { sessionCookies: ['sid'] });
 * ```
 *
 * @public
 */
export function fromFunction(read: SessionTokenFunction, options?: SessionSourceOptions): SessionTokenSource {
  checkArgument('fromFunction', 'read', read);
  return {
    ...readOptions('fromFunction', SESSION_SOURCE, options),
    getToken: async (request: RequestContext, query: SessionTokenQuery) =>
      sessionToken(await read(request.native.request, query)),
  };
}

/**
 * Reads the user's token from `req.session` of express-session (or cookie-session): by default
 * `req.session.accessToken`, where the site stores it at sign-in.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option.
 *
 * @example
 * ```ts
 * import { expressSession } from 'agent-bff';
 *
 * const source = expressSession({ accessToken: (session) => session.tokens?.access_token });
 * ```
 *
 * @public
 */
export function expressSession(options?: StoredTokenOptions): SessionTokenSource {
  return fromHolder('expressSession', options, COOKIE_ID, ({ request }) =>
    mounted((request as Holders).session, 'session', '"app.use(session(…))" of express-session'),
  );
}

/**
 * Reads the user's token from `req.user`, where Passport stores the signed-in user: by default `req.user.accessToken`,
 * where the site's verify function stores it.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option.
 *
 * @example
 * ```ts
 * import { passportSession } from 'agent-bff';
 *
 * const source = passportSession({ accessToken: (user) => user.tokens.access_token });
 * ```
 *
 * @public
 */
export function passportSession(options?: StoredTokenOptions): SessionTokenSource {
  return fromHolder('passportSession', options, COOKIE_ID, ({ request }) => {
    const holders: Holders = Object(request) as object;
    // For a visitor who is not signed in, these show that Passport is mounted, or a middleware of the site's own.
    const isMounted = ['user', 'session', 'isAuthenticated'].some((name) => name in holders);
    return isMounted ? holders.user : mounted(undefined, 'user', '"app.use(passport.session())"');
  });
}

/**
 * Reads the user's token from an iron-session cookie, which `open` decrypts with `getIronSession` and the site's own
 * settings. Pass the cookie's name, so that parallel requests share a token.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option.
 *
 * @example
 * ```ts
 * import { ironSession } from 'agent-bff';
 * import { getIronSession } from 'iron-session';
 *
 * const settings = { cookieName: 'site', password: process.env['SESSION_PASSWORD'] ?? '' };
 * const source = ironSession((request, response) => getIronSession(request, response, settings), {
 *   sessionCookies: ['site'],
 * });
 * ```
 *
 * @public
 */
export function ironSession(
  // `any`, because each framework has its own request and response types.
  // oxlint-disable-next-line typescript/no-explicit-any
  open: (request: any, response: any) => Promise<object>,
  options?: StoredTokenOptions,
): SessionTokenSource {
  checkArgument('ironSession', 'open', open);
  return fromHolder('ironSession', options, { sessionInCookie: true }, ({ request, response }) =>
    open(request, response),
  );
}

/** The fields of a request that hold the signed-in user's session. */
interface Holders {
  readonly session?: object | null | undefined;
  readonly user?: object | null | undefined;
}

const COOKIE_ID = { sessionCookies: ['connect.sid'] };

/** A source that reads the object with the token, with the usual options of its library. */
function fromHolder(
  maker: string,
  options: StoredTokenOptions | undefined,
  usual: Pick<SessionTokenSource, 'sessionCookies' | 'sessionInCookie'>,
  holderOf: (native: RequestContext['native']) => object | null | undefined | Promise<object>,
): SessionTokenSource {
  const {
    accessToken = (holder: { accessToken?: string }) => holder.accessToken,
    subject,
    ...given
  } = readOptions(maker, STORED_TOKEN, options);
  return {
    ...usual,
    ...given,
    getToken: async ({ native }) => {
      const holder = await holderOf(native);
      return holder === undefined || holder === null
        ? { kind: 'no-session' }
        : storedToken(accessToken(holder), subject?.(holder));
    },
  };
}

/** A token that the site stored in its session, with the user's name stored there. */
export function storedToken(accessToken: string | null | undefined, subject: string | null | undefined): SessionToken {
  if (accessToken === null || accessToken === undefined || accessToken === '') return { kind: 'no-session' };
  if (typeof accessToken !== 'string') throw noToken(accessToken);
  return { kind: 'token', accessToken, ...(subject !== null && subject !== undefined && { subject }) };
}

function sessionToken(result: Awaited<ReturnType<SessionTokenFunction>>): SessionToken {
  if (result === null || result === undefined || typeof result === 'string') return storedToken(result, undefined);
  if (Object(result).kind === undefined) throw noToken(result);
  return result;
}

/** next-auth's `getToken` returns the claims of its cookie, which would be sent as "[object Object]". */
function noToken(value: unknown): AgentBffError {
  const { user, expires } = Object(value) as { readonly user?: unknown; readonly expires?: unknown };
  const isAuthJs = value instanceof Response || (user !== undefined && expires !== undefined);
  const what = `it returned a value of type "${typeof value}" without "kind"`;
  const mend = isAuthJs ? 'for "auth" of Auth.js, pass authJsSession(auth)' : 'return the token as a string';
  return sessionFailed(`${what}: ${mend}`);
}
