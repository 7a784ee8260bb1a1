import { getToken } from '@auth/core/jwt';
import { ExpressAuth } from '@auth/express';
import { nextAuthSession } from 'agent-bff';
import { SECRET, serve } from './site.mjs';
import { AUTH_JS } from './tokens.mjs';

const settings = {
  ...AUTH_JS,
  callbacks: {
    jwt: ({ token, account }) =>
      account ? { ...token, access_token: account.access_token, expires_at: account.expires_at } : token,
  },
};
await serve(nextAuthSession(getToken, { secret: SECRET }), (app) => app.use('/auth', ExpressAuth(settings)));
