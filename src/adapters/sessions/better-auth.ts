import {
  accept,
  checkArgument,
  flag,
  hasMethods,
  text,
  type OptionCheck,
  type OptionShape,
  readOptions,
} from '../../domain/shared/options.js';
import type { RequestContext } from '../../ports/http.js';
import type { SessionToken, SessionTokenSource } from '../../ports/session-token-source.js';
import { claimsOf, foundToken, sanitizeLibraryError, webHeaders, withCookies } from './session-libraries.js';
import { SESSION_SOURCE, type SessionSourceOptions } from './stored-token.js';

/**
 * Selects the linked account whose token is used.
 *
 * @public
 */
export interface BetterAuthOptions extends SessionSourceOptions {
  /** Id of the social or OAuth provider, such as `microsoft`. */
  readonly providerId?: string | undefined;
  /**
   * Uses the account in better-auth's signed cookie, whatever its provider, on a site without a database
   * (`account.storeAccountCookie`). Needs better-auth 1.7. Default: false.
   */
  readonly useAccountCookie?: boolean | undefined;
}

const providerId: OptionCheck = (value, all) =>
  (all as BetterAuthOptions).useAccountCookie === true ? undefined : text(value, all);

const BETTER_AUTH: OptionShape<keyof BetterAuthOptions> = {
  options: { providerId, useAccountCookie: flag, ...SESSION_SOURCE.options },
  required: ['providerId'],
  exclusive: [['providerId', 'useAccountCookie']],
};

const AUTH = accept(
  (value) => hasMethods((Object(value) as { api?: unknown }).api, ['getAccessToken']),
  'the instance of betterAuth()',
);

/**
 * Reads the user's provider token from a session of better-auth 1.6 or 1.7, which refreshes it when due. The account's ID
 * token names user, issuer and tenant.
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
  auth: {
    readonly api: {
      // `any`, because the types of these methods depend on the plugins of the instance.
      // oxlint-disable-next-line typescript/no-explicit-any
      listUserAccounts(context: any): Promise<any>;
      // oxlint-disable-next-line typescript/no-explicit-any
      getAccessToken(context: any): Promise<any>;
    };
  },
  options: BetterAuthOptions,
): SessionTokenSource {
  checkArgument('betterAuthSession', 'auth', auth, AUTH);
  const { providerId: provider, useAccountCookie, ...given } = readOptions('betterAuthSession', BETTER_AUTH, options);
  // better-auth 1.6 selects by provider, and 1.7 by row; each rejects what the other takes.
  let selectsByProvider = false;
  return {
    sessionCookies: ['better-auth.session_token', '__Secure-better-auth.session_token'],
    ...(useAccountCookie === true && { sessionInCookie: true }),
    ...given,
    getToken: async (request) => {
      const headers = webHeaders(request.headers);
      try {
        if (useAccountCookie === true) return await tokenFrom(auth, { useAccountCookie }, headers, request);
        const accounts = (await auth.api.listUserAccounts({ headers })) as readonly Account[];
        const account = accounts.find(({ providerId: id }) => id === provider);
        if (account === undefined) return { kind: 'expired', reason: 'interaction', log: 'ACCOUNT_NOT_FOUND' };
        const byProvider = { providerId: account.providerId, accountId: account.accountId };
        const byRow = { accountId: account.id };
        try {
          return await tokenFrom(auth, selectsByProvider ? byProvider : byRow, headers, request);
        } catch (error) {
          if (selectsByProvider || codeOf(error) !== 'VALIDATION_ERROR') throw error;
          const found = await tokenFrom(auth, byProvider, headers, request);
          selectsByProvider = true;
          return found;
        }
      } catch (error) {
        return refusal(error);
      }
    },
  };
}

/** A linked account: `id` is its database row, `accountId` the user's id at the provider. */
interface Account {
  readonly id: string;
  readonly accountId: string;
  readonly providerId: string;
}

interface TokenReply {
  readonly headers?: Headers | null;
  readonly response: {
    readonly accessToken: string;
    readonly accessTokenExpiresAt?: Date | undefined;
    readonly idToken?: string | undefined;
  };
}

async function tokenFrom(
  { api }: Parameters<typeof betterAuthSession>[0],
  body: object,
  headers: Headers,
  request: RequestContext,
): Promise<SessionToken> {
  const reply = (await api.getAccessToken({ body, headers, returnHeaders: true })) as TokenReply;
  // Only sites without a database keep the account in a cookie, which callers of `api` must forward.
  const cookies = reply.headers?.getSetCookie() ?? [];
  const { accessToken, accessTokenExpiresAt: end, idToken } = reply.response;
  if (accessToken === '') return { kind: 'expired', log: 'the linked account has no access token' };
  const claims = claimsOf(idToken);
  const found = foundToken(accessToken, end?.getTime(), claims, [claimsOf(accessToken), claims]);
  const carried = withCookies(found, cookies);
  carried.adopt?.(request);
  return carried;
}

function codeOf(error: unknown): unknown {
  return (Object(error) as { body?: { readonly code?: unknown } }).body?.code;
}

function refusal(error: unknown): SessionToken {
  const { name, message, statusCode } = Object(error) as Readonly<Record<string, unknown>>;
  const code = codeOf(error);
  if (statusCode === 401) return { kind: 'no-session' };
  if (code === 'FAILED_TO_GET_ACCESS_TOKEN') return { kind: 'expired', log: code };
  if (code === 'ACCOUNT_NOT_FOUND') return { kind: 'expired', reason: 'interaction', log: code };
  throw sanitizeLibraryError('better-auth', { name, code, message });
}
