import { accept, callback, hasMethods, texts, type OptionShape, readOptions } from '../../domain/shared/options.js';
import type { SessionToken, SessionTokenSource } from '../../ports/session-token-source.js';
import { foundToken, refreshRefusal, sanitizeLibraryError } from './session-libraries.js';
import { SESSION_SOURCE, type SessionSourceOptions } from './stored-token.js';

/**
 * The part of an msal-node client that is used.
 *
 * @public
 */
export interface MsalClientLike<Account extends { readonly homeAccountId: string }> {
  /** Returns a token from the cache, renewed when due; `expiresOn` is `null` if unknown. The ID token's claims name issuer and tenant. */
  acquireTokenSilent(request: { account: Account; scopes: string[]; forceRefresh?: boolean }): Promise<{
    readonly accessToken: string;
    readonly expiresOn: Date | null;
    readonly idTokenClaims?: object;
  } | null>;
}

/**
 * Settings for a site that signs users in with msal-node.
 *
 * @public
 */
export interface MsalSessionOptions<Account extends { readonly homeAccountId: string }> extends SessionSourceOptions {
  // `any`, because each framework has its own request type, which the site's function declares.
  /** The client, or a function that returns the client of a request. Its cache must be partitioned by user. */
  readonly client:
    // oxlint-disable-next-line typescript/no-explicit-any
    MsalClientLike<Account> | ((request: any) => MsalClientLike<Account> | Promise<MsalClientLike<Account>>);
  /** The account stored in the site's session at sign-in; `null` if no user is signed in. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly account: (request: any) => Account | null | undefined | Promise<Account | null | undefined>;
  /** Used if a route sets no scope. */
  readonly scopes: readonly string[];
}

const MSAL: OptionShape<keyof MsalSessionOptions<{ readonly homeAccountId: string }>> = {
  options: {
    client: accept(
      (value) => typeof value === 'function' || hasMethods(value, ['acquireTokenSilent']),
      'a client of msal-node, or a function that returns one',
    ),
    account: callback,
    scopes: texts,
    ...SESSION_SOURCE.options,
  },
  required: ['client', 'account', 'scopes'],
};

/**
 * Acquires the user's token silently from msal-node's cache, which refreshes it when due.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option.
 *
 * @example
 * ```ts
 * import { ConfidentialClientApplication } from '@azure/msal-node';
 * import { msalSession } from 'agent-bff';
 *
 * const client = new ConfidentialClientApplication({ auth: { clientId: 'app', clientSecret: 'from the vault' } });
 * const source = msalSession({
 *   client,
 *   account: (request) => request.session.account,
 *   scopes: ['api://platform/.default'],
 * });
 * ```
 *
 * @public
 */
export function msalSession<Account extends { readonly homeAccountId: string }>(
  options: MsalSessionOptions<Account>,
): SessionTokenSource {
  const { client, account: accountOf, scopes, ...given } = readOptions('msalSession', MSAL, options);
  return {
    sessionCookies: ['connect.sid'],
    ...given,
    getToken: async ({ native: { request } }, { scope, forceRefresh = false }) => {
      const account = await accountOf(request);
      if (account === null || account === undefined) return { kind: 'no-session' };
      const wanted = scope === undefined ? [...scopes] : scope.split(' ');
      try {
        const msal = typeof client === 'function' ? await client(request) : client;
        const result = await msal.acquireTokenSilent({ account, scopes: wanted, forceRefresh });
        if (result === null) return { kind: 'expired', log: 'no token in the cache' };
        const { accessToken, expiresOn, idTokenClaims } = result;
        const found = foundToken(accessToken, expiresOn?.getTime(), { ...idTokenClaims });
        // The same in each tenant where the user is a guest, and for each application, unlike `sub`.
        return { ...found, subject: account.homeAccountId };
      } catch (error) {
        return refusal(error);
      }
    },
  };
}

// Not defined by OAuth: the cache entry is missing or no longer valid.
const EXPIRED: readonly unknown[] = ['no_tokens_found', 'refresh_token_expired', 'no_account_in_silent_request'];

function refusal(error: unknown): SessionToken {
  const { errorCode, name, message, claims } = Object(error) as Readonly<Record<string, unknown>>;
  if (EXPIRED.includes(errorCode)) return { kind: 'expired', log: String(errorCode) };
  const ended = refreshRefusal(errorCode);
  if (ended !== undefined) return ended;
  if (name === 'InteractionRequiredAuthError') {
    const requested = typeof claims === 'string' && { claims };
    return { kind: 'expired', reason: 'interaction', log: String(errorCode), ...requested };
  }
  throw sanitizeLibraryError('@azure/msal-node', { name, code: errorCode, message });
}
