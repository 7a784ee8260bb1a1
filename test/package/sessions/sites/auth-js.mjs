import { getToken } from '@auth/core/jwt';
import { ExpressAuth } from '@auth/express';
import { nextAuthSession } from 'agent-bff';
import { CLIENT_ID, CLIENT_SECRET, ISSUER, SCOPE, SECRET, serve } from './site.mjs';

const settings = {
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
    jwt: ({ token, account }) =>
      account ? { ...token, access_token: account.access_token, expires_at: account.expires_at } : token,
  },
};
await serve(nextAuthSession(getToken, { secret: SECRET }), (app) => app.use('/auth', ExpressAuth(settings)));
