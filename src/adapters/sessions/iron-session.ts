import { readOptions } from '../../domain/shared/options.js';
import type { SessionTokenSource } from '../../ports/session-token-source.js';
import { fromFunction, type SessionSourceOptions, STORED_TOKEN } from './from-function.js';

/**
 * Opens the session: `getIronSession` with the site's own settings.
 *
 * @public
 */
// `any`, because each framework's request and response have their own types.
// oxlint-disable-next-line typescript/no-explicit-any
export type OpenIronSession = (request: any, response: any) => Promise<object>;

/**
 * How the site stores the access token.
 *
 * @public
 */
export interface IronSessionOptions extends SessionSourceOptions {
  /** Takes the access token out of the session. Default: `accessToken`. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly accessToken?: ((session: any) => string | null | undefined) | undefined;
}

/**
 * Reads the user's token from an iron-session cookie. Give the cookie's name, so that parallel requests share.
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
export function ironSession(open: OpenIronSession, options?: IronSessionOptions): SessionTokenSource {
  const { accessToken = (session: { accessToken?: string }) => session.accessToken, ...given } = readOptions(
    'ironSession',
    STORED_TOKEN,
    options,
  );
  const source = (response: unknown): SessionTokenSource =>
    fromFunction(async (request) => accessToken(await open(request, response)));
  return {
    sessionInCookie: true,
    ...given,
    getToken: (request, query) => source(request.native.response).getToken(request, query),
  };
}
