import { Auth0Client } from '@auth0/nextjs-auth0/server';

/** Signs visitors in; domain, client and secrets are environment variables (see the README). */
export const auth0 = new Auth0Client({
  authorizationParameters: { scope: 'openid profile offline_access', audience: process.env.AUTH0_AUDIENCE },
  // The provider of this example runs on this machine, without TLS. Remove this for a real one.
  allowInsecureRequests: process.env.AUTH0_DOMAIN?.startsWith('http://localhost') === true,
});
