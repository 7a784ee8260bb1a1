// Shared by the sites: their registration at the provider, and the calls of its token endpoint.
export const { ISSUER, SITE, SECRET } = process.env;
export const CLIENT_ID = 'website';
export const CLIENT_SECRET = 'secret-of-the-website-0123456789';
export const SCOPE = 'openid profile email offline_access';

/** Tokens of the provider, as a site of its own stores them. */
export const stored = (tokens) => ({
  accessToken: tokens.access_token,
  refreshToken: tokens.refresh_token,
  expiresAt: Date.now() + tokens.expires_in * 1_000,
});

/** Trades a refresh token for new tokens; `undefined` if the provider refuses it. */
export async function refresh(refreshToken) {
  const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refreshToken });
  const response = await fetch(`${ISSUER}/token`, { method: 'POST', body });
  return response.ok ? stored(await response.json()) : undefined;
}

/** Settings of Auth.js whose `jwt` callback refreshes the token. */
export const AUTH_JS = {
  providers: [
    {
      id: 'site',
      name: 'Site',
      type: 'oidc',
      issuer: ISSUER,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      authorization: { params: { scope: SCOPE } },
    },
  ],
  secret: SECRET,
  trustHost: true,
  callbacks: {
    jwt: async ({ token, account }) => {
      if (account) return { ...token, ...stored({ ...account, expires_in: account.expires_at - Date.now() / 1_000 }) };
      if (token.expiresAt > Date.now() + 500) return token;
      return { ...token, ...((await refresh(token.refreshToken)) ?? { error: 'RefreshTokenError' }) };
    },
    session: ({ session, token: { accessToken, error } }) => ({ ...session, accessToken, error }),
  },
};
