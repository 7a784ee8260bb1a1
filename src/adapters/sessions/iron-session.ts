import { readOptions } from '../../domain/shared/options.js';
import type { SessionTokenSource } from '../../ports/session-token-source.js';
import { STORED_TOKEN, storedToken, type StoredTokenOptions } from './from-function.js';

/**
 * Reads the user's token from an iron-session cookie, which `open` opens by `getIronSession` with the site's own settings. Give the cookie's name, so that parallel requests share.
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
  // `any`, because each framework's request and response have their own types.
  // oxlint-disable-next-line typescript/no-explicit-any
  open: (request: any, response: any) => Promise<object>,
  options?: StoredTokenOptions,
): SessionTokenSource {
  const {
    accessToken = (session: { accessToken?: string }) => session.accessToken,
    subject,
    ...given
  } = readOptions('ironSession', STORED_TOKEN, options);
  return {
    sessionInCookie: true,
    ...given,
    getToken: async ({ native: { request, response } }) => {
      const session = await open(request, response);
      return storedToken(accessToken(session), subject?.(session));
    },
  };
}
