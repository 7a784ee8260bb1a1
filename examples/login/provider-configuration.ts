import { generateKeyPairSync, randomBytes } from 'node:crypto';

import type { Context } from 'oidc-provider';

import { findPerson } from './people.js';

export interface LoginOptions {
  /** The provider's own address. */
  readonly issuer: string;
  /** The only client, whose users it signs in. */
  readonly client: {
    readonly clientId: string;
    readonly clientSecret: string;
    readonly redirectUris: readonly string[];
  };
  /** The API that access tokens are for: the platform's. */
  readonly audience: string;
  /** Lifetime of an access token, in seconds. Default 300. */
  readonly accessTokenSeconds?: number;
}

const HOUR_SECONDS = 3_600;
const SCOPES = 'openid profile offline_access';

/** The settings for oidc-provider; all state is in memory, and keys are generated for this run. */
export function providerConfiguration({ client, audience, accessTokenSeconds = 300 }: LoginOptions): object {
  return {
    clients: [
      {
        client_id: client.clientId,
        client_secret: client.clientSecret,
        redirect_uris: client.redirectUris,
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_post',
        id_token_signed_response_alg: 'ES256',
      },
    ],
    jwks: { keys: [signingKey()] },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    pkce: { required: () => true },

    // The sign-in page, and the claims the site receives.
    interactions: { url: (_context: Context, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount,
    claims: { openid: ['sub'], profile: ['name'] },
    // The access token is for the platform and does not work at the userinfo endpoint, so the name is in the ID token.
    conformIdTokenClaims: false,
    loadExistingGrant: (context: Context) => grantEverything(context),

    // A token for the platform's API (RFC 8707), and a refresh token that is replaced on each use.
    features: {
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          audience,
          scope: '',
          accessTokenFormat: 'jwt',
          accessTokenTTL: accessTokenSeconds,
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
    },
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    // The site itself handles signing out of a browser window.
    expiresWithSession: () => false,
    ttl: {
      AuthorizationCode: 60,
      Grant: 12 * HOUR_SECONDS,
      IdToken: HOUR_SECONDS,
      Interaction: HOUR_SECONDS,
      RefreshToken: 12 * HOUR_SECONDS,
      Session: 12 * HOUR_SECONDS,
    },
  };
}

function findAccount(_context: Context, id: string): object | undefined {
  const person = findPerson(id);
  return person && { accountId: id, claims: () => ({ sub: id, name: person.name }) };
}

/** Site and provider belong to the same company, so users are not asked for consent. */
async function grantEverything({ oidc }: Context): Promise<unknown> {
  const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session?.accountId });
  grant.addOIDCScope(SCOPES);
  await grant.save();
  return grant;
}

function signingKey(): object {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...privateKey.export({ format: 'jwk' }), kid: 'signing', use: 'sig', alg: 'ES256' };
}
