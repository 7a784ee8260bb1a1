import { accept, type OptionShape, readOptions } from '../../domain/shared/options.js';
import type { HeaderFields } from '../../ports/http.js';
import type { SessionTokenSource } from '../../ports/session-token-source.js';
import { claimsOf, foundToken } from './session-libraries.js';

const EASY_AUTH: OptionShape<'behindAppService'> = {
  options: {
    behindAppService: accept((value) => value === true, 'true, where every request passes App Service authentication'),
  },
  required: ['behindAppService'],
};

/**
 * Reads the user's Entra token from the headers that Azure App Service authentication ("Easy Auth") adds; the ID token
 * among them names user and tenant. Set `behindAppService` only if every request passes App Service authentication,
 * which replaces these headers: otherwise visitors can send them and impersonate any user.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option.
 *
 * @example
 * ```ts
 * import { easyAuthSession } from 'agent-bff';
 *
 * const source = easyAuthSession({ behindAppService: true });
 * ```
 *
 * @public
 */
export function easyAuthSession(options: { readonly behindAppService: true }): SessionTokenSource {
  readOptions('easyAuthSession', EASY_AUTH, options);
  return {
    getToken: ({ headers }) => {
      const accessToken = single(headers, 'x-ms-token-aad-access-token');
      if (accessToken === '') return Promise.resolve({ kind: 'no-session' });
      const expiresAt = Date.parse(single(headers, 'x-ms-token-aad-expires-on'));
      const claims = claimsOf(single(headers, 'x-ms-token-aad-id-token'));
      return Promise.resolve(foundToken(accessToken, Number.isNaN(expiresAt) ? undefined : expiresAt, claims));
    },
  };
}

function single(headers: HeaderFields, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}
