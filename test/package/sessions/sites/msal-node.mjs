import * as msal from '@azure/msal-node';
import { msalSession } from 'agent-bff';
import session from 'express-session';
import { CLIENT_ID, CLIENT_SECRET, ISSUER, SCOPE, SECRET, serve, SITE } from './site.mjs';

// The library only speaks TLS, so its HTTP client takes this name to the provider.
const AUTHORITY = 'https://id.example';
const call = async (url, { headers, body } = {}, method) => {
  const reply = await fetch(url.replace(AUTHORITY, ISSUER), { method, headers, body });
  const text = (await reply.text()).replaceAll(ISSUER, AUTHORITY);
  return { status: reply.status, headers: Object.fromEntries(reply.headers), body: JSON.parse(text) };
};
const client = new msal.ConfidentialClientApplication({
  auth: {
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    authority: AUTHORITY,
    knownAuthorities: ['id.example'],
    ...(msal.ProtocolMode && { protocolMode: 'OIDC' }),
  },
  system: {
    ...(msal.ProtocolMode && { protocolMode: 'OIDC' }),
    networkClient: {
      sendGetRequestAsync: (url, options) => call(url, options, 'GET'),
      sendPostRequestAsync: (url, options) => call(url, options, 'POST'),
    },
  },
});
const scopes = SCOPE.split(' ');
const redirectUri = `${SITE}/callback`;
await serve(msalSession({ client, account: ({ session: { account } }) => account, scopes }), (app) => {
  app.use(session({ secret: SECRET, resave: false, saveUninitialized: false }));
  app.get('/login', async (_request, response) => {
    response.redirect((await client.getAuthCodeUrl({ scopes, redirectUri })).replace(AUTHORITY, ISSUER));
  });
  app.get('/callback', async (request, response) => {
    const { account } = await client.acquireTokenByCode({ code: request.query.code, scopes, redirectUri });
    request.session.account = account;
    response.redirect('/');
  });
});
