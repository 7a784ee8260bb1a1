import { nextAuthSession } from 'agent-bff';
import express from 'express';
import { createRequire } from 'node:module';
import { CLIENT_ID, CLIENT_SECRET, ISSUER, SCOPE, SECRET, serve, SITE } from './site.mjs';

process.env.NEXTAUTH_URL = SITE;
process.env.NEXTAUTH_SECRET = SECRET;
const require = createRequire(import.meta.url);
const NextAuth = require('next-auth').default;
const { getToken } = require('next-auth/jwt');
const settings = {
  secret: SECRET,
  providers: [
    {
      id: 'site',
      name: 'Site',
      type: 'oauth',
      wellKnown: `${ISSUER}/.well-known/openid-configuration`,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      authorization: { params: { scope: SCOPE } },
      idToken: true,
      checks: ['state'],
      profile: ({ sub, name, email }) => ({ id: sub, name, email }),
    },
  ],
  callbacks: {
    jwt: ({ token, account }) =>
      account ? { ...token, access_token: account.access_token, expires_at: account.expires_at } : token,
  },
};
await serve(nextAuthSession(getToken, { secret: SECRET }), (app) => {
  // As an API route of Next calls it.
  app.use('/api/auth', express.urlencoded({ extended: true }), (request, response) => {
    const cookies = (request.headers.cookie ?? '')
      .split('; ')
      .flatMap((pair) => (pair === '' ? [] : [pair.split('=')]));
    const given = {
      method: request.method,
      headers: request.headers,
      body: request.body ?? {},
      cookies: Object.fromEntries(cookies.map(([name, ...value]) => [name, decodeURIComponent(value.join('='))])),
      query: { ...request.query, nextauth: request.path.slice(1).split('/') },
    };
    return NextAuth(given, response, settings);
  });
});
