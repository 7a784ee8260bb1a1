import type { SessionTokenSource } from '../../ports/session-token-source.js';
import { fromFunction, type SessionSourceOptions } from './from-function.js';

/**
 * How the site stores the access token.
 *
 * @public
 */
export interface ExpressSessionOptions extends SessionSourceOptions {
  /** Takes the access token out of `req.session` or `req.user`. Default: `accessToken`. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly accessToken?: ((holder: any) => string | null | undefined) | undefined;
}

/**
 * Reads the user's token from `req.session` of express-session (or cookie-session).
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
export function expressSession(options: ExpressSessionOptions = {}): SessionTokenSource {
  return holderSource('session', options);
}

/**
 * Reads the user's token from `req.user`, where Passport puts the signed-in user.
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
export function passportSession(options: ExpressSessionOptions = {}): SessionTokenSource {
  return holderSource('user', options);
}

function holderSource(field: 'session' | 'user', options: ExpressSessionOptions): SessionTokenSource {
  const { accessToken = (holder: { accessToken?: string }) => holder.accessToken } = options;
  return fromFunction(
    (request: Partial<Record<'session' | 'user', object>>) => {
      const holder = request[field];
      return holder === undefined ? null : accessToken(holder);
    },
    { sessionCookies: options.sessionCookies ?? ['connect.sid'] },
  );
}
