import type { SessionTokenSource } from '../../ports/session-token-source.js';
import { auth0Session } from './auth0.js';
import { type SessionKind, sessionKind, type SessionTokenLike } from './session-like.js';
import { fromFunction } from './stored-token.js';

/** One source per object, however many routes use it: otherwise they would not share a refresh. */
const sources = new WeakMap<object, SessionTokenSource>();

/**
 * Creates a session token source from the object the site has. In this order:
 *
 * - an object with `getToken`: a `SessionTokenSource`, used directly
 * - an object with `getAccessToken`: an Auth0 client, see `auth0Session`
 * - a function of the site: called with the framework's request, see `fromFunction`. For `auth` of Auth.js, pass
 * `authJsSession(auth)`.
 *
 * @throws TypeError when it is none of these, or is the module `next-auth/jwt`, whose `getToken` expects other arguments.
 */
export function asSessionTokenSource(like: SessionTokenLike): SessionTokenSource {
  let source = sources.get(like);
  if (source === undefined) {
    source = READERS[sessionKind(like)](like as never);
    sources.set(like, source);
  }
  return source;
}

const READERS: Readonly<Record<SessionKind, (like: never) => SessionTokenSource>> = {
  source: (like: SessionTokenSource) => like,
  auth0: auth0Session,
  function: fromFunction,
};
