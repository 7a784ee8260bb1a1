import { accept } from '../../domain/shared/options.js';
import { providerUrl, withoutTrailingSlashes } from '../../domain/shared/paths.js';
import type { Secret } from '../../domain/shared/secret.js';
import { secretRow, type Setting, type SettingsOf, textRow } from '../../domain/shared/setting.js';
import type { ProviderAddress, ProviderDescriptor } from '../../domain/shared/provider-descriptor.js';

/**
 * The confidential application at `idp_a` (docs/authentication/password-grant.md).
 *
 * @public
 */
export interface IdpAConfig {
  /** Domain of the tenant, such as `acme.eu.auth0.com`; a full `https` address works too. */
  readonly domain?: string | undefined;
  /** Client identifier of the application. */
  readonly clientId?: string | undefined;
  /** Client secret of the application. */
  readonly clientSecret?: string | { readonly path: string } | undefined;
  /** Audience of the protected API. */
  readonly audience?: string | undefined;
  /** Scope to request. Default: none. */
  readonly scope?: string | undefined;
  /** Name of the user directory (Auth0: realm, connection). Default: the tenant's default directory. */
  readonly realm?: string | undefined;
}

/**
 * The user the server signs in as at `idp_a` (docs/authentication/password-grant.md).
 *
 * @public
 */
export interface IdpAServiceUserConfig {
  /** Name of the service user. */
  readonly username?: string | undefined;
  /** Password of the service user. */
  readonly password?: string | { readonly path: string } | undefined;
}

/** The settings of `idp_a`, by block. */
export interface IdpABlocks {
  readonly idpA: SettingsOf<IdpAConfig, { readonly clientSecret: Secret }>;
  readonly idpAServiceUser: SettingsOf<IdpAServiceUserConfig, { readonly password: Secret }>;
}

const isDomain = accept(
  (value) => typeof value === 'string' && (value.trim() === '' || issuerAddress(value) !== undefined),
  'the domain of the tenant, such as acme.eu.auth0.com, or its https address without user, query or fragment',
);

/** A provider like Auth0. */
export const IDP_A: ProviderDescriptor<IdpABlocks> = {
  blocks: {
    idpA: {
      domain: { ...textRow('principal', 'IDP_A_DOMAIN'), check: isDomain },
      clientId: textRow('principal', 'IDP_A_CLIENT_ID'),
      clientSecret: secretRow('IDP_A_CLIENT_SECRET'),
      audience: textRow('principal', 'IDP_A_AUDIENCE'),
      scope: textRow('principal', 'IDP_A_SCOPE'),
      realm: textRow('principal', 'IDP_A_REALM'),
    },
    idpAServiceUser: {
      username: textRow('principal', 'IDP_A_SERVICE_USER_USERNAME'),
      password: secretRow('IDP_A_SERVICE_USER_PASSWORD'),
    },
  },
  vendors: ['auth0'],
  prefix: 'IDP_A_',
  flows: { resource_owner_password: 'idp_a.password', client_credentials: 'idp_a.client_credentials' },
  suspects: { block: 'idpA', fields: ['audience', 'scope'] },

  examine: ({ idpA: { domain, audience, scope } }) => {
    const scopes = requestedScope(scope.value).split(' ').filter(Boolean);
    const expected = { audience: [audience.value], setting: audience, scopes };
    return { keys: [], address: address(domain), expected };
  },
  examineExchange: ({ idpA }) => ({ keys: [], address: address(idpA.domain) }),
};

function address(domain: Setting): ProviderAddress {
  if (domain.value.trim() === '') return { setting: domain };
  const issuer = withoutTrailingSlashes(String(issuerAddress(domain.value)));
  return { setting: domain, host: domain, url: `${issuer}/.well-known/openid-configuration` };
}

/**
 * Turns a configured domain into the issuer's address: `acme.eu.auth0.com` becomes `https://acme.eu.auth0.com/`;
 * undefined for what the configuration rejects.
 */
export function issuerAddress(domain: string): URL | undefined {
  return providerUrl(domain.trim().replace(/\/\.well-known\/openid-configuration$/, ''));
}

/**
 * The scope to request. `openid` is left out because an id_token is not needed and an invalid one fails the response,
 * `offline_access` because a new token is simpler than refresh tokens that rotate across processes.
 */
export function requestedScope(scope: string): string {
  return scope
    .split(/\s+/)
    .filter((one) => one !== '' && one !== 'openid' && one !== 'offline_access')
    .join(' ');
}
