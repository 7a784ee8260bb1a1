import { hasMethods, type OptionCheck } from '../../domain/shared/options.js';
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

/**
 * The advice for a value that no session can be read with. It needs no reader: entries that only mount routes check
 * their options with this.
 */
export const sessionHint: OptionCheck = (like) => {
  if (hasMethods(like, ['getToken', 'encode'])) return 'Set it to nextAuthSession(getToken).';
  if (typeof like === 'function' || hasMethods(like, ['getToken']) || hasMethods(like, ['getAccessToken']))
    return undefined;
  return hasMethods((Object(like) as { api?: unknown }).api, ['getAccessToken'])
    ? 'Set it to betterAuthSession(auth, { providerId }).'
    : 'Set it to a function, or an object with getToken or getAccessToken.';
};
