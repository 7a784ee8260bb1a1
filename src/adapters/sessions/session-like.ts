import { hasMethods } from '../../domain/shared/options.js';
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
  SessionTokenSource | Auth0Like | SessionTokenFunction<NativeRequest>;

/** The reader of a site's session. */
export type SessionKind = 'source' | 'auth0' | 'function';

/**
 * Recognises the kind of a site's session without loading its reader: entries that only mount routes check their
 * options with this.
 *
 * @throws TypeError when no session can be read with it, or it is the module `next-auth/jwt`.
 */
export function sessionKind(like: SessionTokenLike): SessionKind {
  if (typeof like === 'function') return 'function';
  if (hasMethods(like, ['getToken'])) {
    if (!hasMethods(like, ['encode'])) return 'source';
    throw new TypeError('for "next-auth/jwt" pass nextAuthSession(getToken)');
  }
  if (hasMethods(like, ['getAccessToken'])) return 'auth0';
  const { api } = Object(like) as { api?: unknown };
  if (hasMethods(api, ['getAccessToken'])) {
    throw new TypeError('for better-auth pass betterAuthSession(auth, { providerId })');
  }
  throw new TypeError('a session source is a function or has "getToken" or "getAccessToken"');
}
