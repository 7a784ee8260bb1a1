import type { SessionTokenSource } from '../../ports/session-token-source.js';
import { auth0Session } from './auth0.js';
import type { SessionTokenLike } from './session-like.js';
import { fromFunction } from './stored-token.js';

/** One source per object, however many routes use it: otherwise they would not share a refresh. */
const sources = new WeakMap<object, SessionTokenSource>();

/**
 * Creates a session token source from the object the site has, which `sessionHint` has checked. In this order:
 *
 * - an object with `getToken`: a `SessionTokenSource`, used directly
 * - an object with `getAccessToken`: an Auth0 client, see `auth0Session`
 * - a function of the site: called with the framework's request, see `fromFunction`. For `auth` of Auth.js, pass
 * `authJsSession(auth)`.
 */
export function asSessionTokenSource(like: SessionTokenLike): SessionTokenSource {
  if (typeof like !== 'function' && 'getToken' in like) return like;
  const source = sources.get(like) ?? (typeof like === 'function' ? fromFunction(like) : auth0Session(like));
  sources.set(like, source);
  return source;
}
