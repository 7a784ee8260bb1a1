import type { SessionTokenSource } from '../../ports/session-token-source.js';
import type { Auth0Like } from './auth0.js';
import type { SessionTokenFunction } from './stored-token.js';

/**
 * Anything that can provide the signed-in user's token. Functions get the request of the entry's framework.
 *
 * @public
 */
// oxlint-disable-next-line typescript/no-explicit-any
export type SessionTokenLike<NativeRequest = any> =
  SessionTokenSource | Auth0Like | SessionTokenFunction<NativeRequest> | (() => Promise<object | null>);

/** A site's session with its kind. */
export type SessionKind =
  | { readonly kind: 'source'; readonly like: SessionTokenSource }
  | { readonly kind: 'auth0'; readonly like: Auth0Like }
  | { readonly kind: 'function'; readonly like: SessionTokenFunction }
  | { readonly kind: 'auth-js'; readonly like: () => Promise<object | null> };

/**
 * Recognises the kind of a site's session without loading its reader: entries that only mount routes check their
 * options with this.
 *
 * @throws TypeError when no session can be read with it, or it is the module `next-auth/jwt`.
 */
export function sessionKind(like: SessionTokenLike): SessionKind {
  if (typeof like === 'function') {
    return like.length === 0
      ? { kind: 'auth-js', like: like as () => Promise<object | null> }
      : { kind: 'function', like: like as SessionTokenFunction };
  }
  if (has(like, 'getToken')) {
    if (!has(like, 'encode')) return { kind: 'source', like };
    throw new TypeError('for "next-auth/jwt" pass nextAuthSession(getToken)');
  }
  if (has(like, 'getAccessToken')) return { kind: 'auth0', like };
  const { api } = Object(like) as { api?: unknown };
  if (has(api, 'getAccessToken')) {
    throw new TypeError('for better-auth pass betterAuthSession(auth, { providerId })');
  }
  throw new TypeError('a session source is a function or has "getToken" or "getAccessToken"');
}

function has<Like, Name extends string>(like: Like, name: Name): like is Extract<Like, Record<Name, unknown>> {
  return typeof (Object(like) as Record<string, unknown>)[name] === 'function';
}
