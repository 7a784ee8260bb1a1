import { text } from '../../domain/shared/option-checks.js';
import { type OptionShape, readOptions } from '../../domain/shared/options.js';
import type { SessionToken, SessionTokenSource } from '../../ports/session-token-source.js';
import { SESSION_SOURCE, type SessionSourceOptions } from './from-function.js';
import { webHeaders, writeCookies } from './framework-objects.js';
import { sanitizeLibraryError } from './library-errors.js';

/**
 * Which of the user's linked accounts gives the token.
 *
 * @public
 */
export interface BetterAuthOptions extends SessionSourceOptions {
  /** Id of the social or OAuth provider, such as `microsoft`. */
  readonly providerId: string;
}

const BETTER_AUTH: OptionShape<keyof BetterAuthOptions> = {
  options: { providerId: text, ...SESSION_SOURCE.options },
  required: ['providerId'],
};

/**
 * Reads the user's provider token from a better-auth session, which refreshes it when it is due.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option.
 *
 * @example
 * ```ts
 * import { betterAuthSession } from 'agent-bff';
 * import { auth } from './auth.js';
 *
 * const source = betterAuthSession(auth, { providerId: 'microsoft' });
 * ```
 *
 * @public
 */
export function betterAuthSession(
  // `any`, because the type of this method depends on the plugins of the instance.
  // oxlint-disable-next-line typescript/no-explicit-any
  auth: { readonly api: { getAccessToken(context: any): Promise<any> } },
  options: BetterAuthOptions,
): SessionTokenSource {
  const { providerId, ...given } = readOptions('betterAuthSession', BETTER_AUTH, options);
  return {
    sessionCookies: ['better-auth.session_token', '__Secure-better-auth.session_token'],
    ...given,
    getToken: async (request) => {
      try {
        const reply = (await auth.api.getAccessToken({
          body: { providerId },
          headers: webHeaders(request.headers),
          returnHeaders: true,
        })) as TokenReply;
        // Only sites without a database keep the account in a cookie, which the caller of `api` must pass on.
        const cookies = reply.headers?.getSetCookie() ?? [];
        writeCookies(cookies, request);
        return { ...tokenOf(reply.response), ...(cookies.length > 0 && { adopt: (to) => writeCookies(cookies, to) }) };
      } catch (error) {
        return refusal(error);
      }
    },
  };
}

interface TokenReply {
  readonly headers?: Headers | null;
  readonly response: { readonly accessToken: string; readonly accessTokenExpiresAt?: Date | undefined };
}

function tokenOf({ accessToken, accessTokenExpiresAt: end }: TokenReply['response']): SessionToken {
  if (accessToken === '') return { kind: 'expired', detail: 'the linked account has no access token' };
  return { kind: 'token', accessToken, ...(end !== undefined && { expiresAt: end.getTime() }) };
}

function refusal(error: unknown): SessionToken {
  const { statusCode, body } = Object(error) as { statusCode?: unknown; body?: { readonly code?: unknown } };
  if (statusCode === 401) return { kind: 'no-session' };
  switch (body?.code) {
    case 'FAILED_TO_GET_ACCESS_TOKEN':
      return { kind: 'expired', detail: body.code };
    case 'ACCOUNT_NOT_FOUND':
      return { kind: 'expired', reason: 'interaction', detail: body.code };
    default:
      throw sanitizeLibraryError('better-auth', error);
  }
}
