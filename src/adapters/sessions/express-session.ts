import { readOptions } from '../../domain/shared/options.js';
import type { SessionTokenSource } from '../../ports/session-token-source.js';
import { fromFunction, STORED_TOKEN, storedToken, type StoredTokenOptions } from './from-function.js';

/**
 * Reads the user's token from `req.session` of express-session (or cookie-session): by default `req.session.accessToken`, where the site puts it at sign-in.
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
  return holderSource('session', readOptions('expressSession', STORED_TOKEN, options));
}

/**
 * Reads the user's token from `req.user`, where Passport puts the signed-in user: by default `req.user.accessToken`, where the site's verify function puts it.
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
  return holderSource('user', readOptions('passportSession', STORED_TOKEN, options));
}

function holderSource(field: 'session' | 'user', options: StoredTokenOptions): SessionTokenSource {
  const { accessToken = (holder: { accessToken?: string }) => holder.accessToken, subject, ...session } = options;
  return fromFunction(
    (request: Partial<Record<'session' | 'user', object>>) => {
      const holder = request[field];
      return holder === undefined ? null : storedToken(accessToken(holder), subject?.(holder));
    },
    { sessionCookies: ['connect.sid'], ...session },
  );
}
