import type { SessionTokenSource } from '../../ports/session-token-source.js';
import { authJsSession } from './auth-js.js';
import { auth0Session } from './auth0.js';
import { sessionKind, type SessionTokenLike } from './session-like.js';
import { fromFunction } from './stored-token.js';

/** One source per object, however many routes use it: otherwise they would not share a refresh. */
const sources = new WeakMap<object, SessionTokenSource>();

/**
 * Creates a session token source from the object the site has. In this order:
 *
 * - an object with `getToken`: a `SessionTokenSource`, used directly
 * - an object with `getAccessToken`: an Auth0 client, see `auth0Session`
 * - a function that declares a parameter: called with the framework's request, see `fromFunction`
 * - a function that declares none: `auth` of Auth.js 5, or a function that finds the request itself, see
 * `authJsSession`
 *
 * If the parameters of a function are not visible (`(...args)`, a default value, a wrapper), pass it to `fromFunction`.
 *
 * @throws TypeError when it is none of these, or the module `next-auth/jwt`, whose `getToken` takes no request of ours.
 */
export function asSessionTokenSource(like: SessionTokenLike): SessionTokenSource {
  const known = sources.get(like);
  if (known !== undefined) return known;
  const source = make(like);
  sources.set(like, source);
  return source;
}

function make(like: SessionTokenLike): SessionTokenSource {
  const known = sessionKind(like);
  switch (known.kind) {
    case 'source':
      return known.like;
    case 'auth0':
      return auth0Session(known.like);
    case 'function':
      return fromFunction(known.like);
    case 'auth-js':
      return authJsSession(known.like);
  }
}
