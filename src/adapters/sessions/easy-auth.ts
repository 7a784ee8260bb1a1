import { accept } from '../../domain/shared/option-checks.js';
import { type OptionShape, readOptions } from '../../domain/shared/options.js';
import type { HeaderFields } from '../../ports/http.js';
import type { SessionTokenSource } from '../../ports/session-token-source.js';

/**
 * The site's word that App Service stands in front of it.
 *
 * @public
 */
export interface EasyAuthOptions {
  /**
   * Set it only where every request passes App Service authentication, which replaces these headers.
   * Anywhere else a visitor can send them and be any user.
   */
  readonly behindAppService: true;
}

const EASY_AUTH: OptionShape<keyof EasyAuthOptions> = {
  options: {
    behindAppService: accept((value) => value === true, 'true, where every request passes App Service authentication'),
  },
  required: ['behindAppService'],
};

/**
 * Reads the user's Entra token from the headers that Azure App Service authentication ("Easy Auth") adds.
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
export function easyAuthSession(options: EasyAuthOptions): SessionTokenSource {
  readOptions('easyAuthSession', EASY_AUTH, options);
  return {
    getToken: ({ headers }) => {
      const accessToken = single(headers, 'x-ms-token-aad-access-token');
      if (accessToken === '') return Promise.resolve({ kind: 'no-session' });
      const expiresAt = Date.parse(single(headers, 'x-ms-token-aad-expires-on'));
      return Promise.resolve({ kind: 'token', accessToken, ...(!Number.isNaN(expiresAt) && { expiresAt }) });
    },
  };
}

function single(headers: HeaderFields, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}
