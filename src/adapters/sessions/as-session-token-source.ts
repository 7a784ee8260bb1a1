import type { SessionTokenSource } from '../../ports/session-token-source.js';
import { type AuthJsFunction, authJsSession } from './auth-js.js';
import { auth0Session, type Auth0Like } from './auth0.js';
import { fromFunction, type SessionTokenFunction } from './from-function.js';

export type { SessionTokenFunction } from './from-function.js';

/**
 * Anything that can give the signed-in user's token.
 *
 * @public
 */
export type SessionTokenLike = SessionTokenSource | Auth0Like | SessionTokenFunction | AuthJsFunction;

/** One source for one object, however many routes are given it: only then do they share a refresh. */
const sources = new WeakMap<object, SessionTokenSource>();

/**
 * Makes a session token source of what a site has. In this order:
 *
 * - an object with `getToken`: a `SessionTokenSource`, as it is
 * - an object with `getAccessToken`: an Auth0 client, see `auth0Session`
 * - a function that declares a parameter: called with the framework's request, see `fromFunction`
 * - a function that declares none: `auth` of Auth.js 5, or a function that finds the request itself, see `authJsSession`
 *
 * A function whose parameters cannot be seen (`(...args)`, a default value, a wrapper) belongs into `fromFunction`.
 *
 * @throws TypeError when it is none of these, or the module `next-auth/jwt`, whose `getToken` takes no request of ours.
 *
 * @example
 * ```ts
 * import { asSessionTokenSource } from 'agent-bff';
 *
 * const source = asSessionTokenSource((request: { session?: { token?: string } }) => request.session?.token);
 * ```
 *
 * @public
 */
export function asSessionTokenSource(like: SessionTokenLike): SessionTokenSource {
  const known = sources.get(like);
  if (known !== undefined) return known;
  const source = make(like);
  sources.set(like, source);
  return source;
}

function make(like: SessionTokenLike): SessionTokenSource {
  if (typeof like === 'function') {
    return like.length === 0 ? authJsSession(like as AuthJsFunction) : fromFunction(like as SessionTokenFunction);
  }
  if (has(like, 'getToken')) {
    if (!has(like, 'encode')) return like;
    throw new TypeError('this is the module "next-auth/jwt": pass nextAuthSession(getToken)');
  }
  if (has(like, 'getAccessToken')) return auth0Session(like);
  const { api } = Object(like) as { api?: unknown };
  if (has(api, 'getAccessToken')) {
    throw new TypeError('this is a better-auth instance: pass betterAuthSession(auth, { providerId })');
  }
  throw new TypeError('a session source is a function, or an object with "getToken" or "getAccessToken"');
}

function has<Like, Name extends string>(like: Like, name: Name): like is Extract<Like, Record<Name, unknown>> {
  return typeof (Object(like) as Record<string, unknown>)[name] === 'function';
}
