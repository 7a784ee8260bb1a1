import { Provider } from 'oidc-provider';

/**
 * A small OpenID provider that replaces a real one: submitting its form signs in, with any password. Serve the returned
 * `callback()` at `issuer`, which ends with a slash like Auth0's. `more` are settings of oidc-provider.
 */
export function createProvider({ issuer, siteUrl, clientId, clientSecret, audience, tokenSeconds }, more = {}) {
  return new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        token_endpoint_auth_method: 'client_secret_post',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        redirect_uris: [`${siteUrl}/auth/callback`],
        post_logout_redirect_uris: [siteUrl],
      },
    ],
    claims: { profile: ['name'] },
    cookies: { keys: [clientSecret] },
    features: {
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        // Auth0 selects the API by `audience`; this provider has only one.
        defaultResource: () => audience,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: 'chat',
          audience,
          accessTokenTTL: tokenSeconds,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub, name: sub }) }),
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    ...more,
  });
}
