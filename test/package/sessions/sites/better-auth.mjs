import { betterAuthSession } from 'agent-bff';
import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { toNodeHandler } from 'better-auth/node';
import { genericOAuth } from 'better-auth/plugins';
import { CLIENT_ID, CLIENT_SECRET, ISSUER, SCOPE, SECRET, serve, SITE } from './site.mjs';

const provider = {
  providerId: 'site',
  discoveryUrl: `${ISSUER}/.well-known/openid-configuration`,
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  scopes: SCOPE.split(' '),
};
// Since version 1.7, the account of a site without a database is in a cookie.
const isStateless = process.env.VARIANT === 'account cookie';
const database = memoryAdapter({ user: [], session: [], account: [], verification: [] });
const auth = betterAuth({
  baseURL: SITE,
  secret: SECRET,
  ...(isStateless ? { account: { storeAccountCookie: true, storeStateStrategy: 'cookie' } } : { database }),
  plugins: [genericOAuth({ config: [provider] })],
});
const chosen = isStateless ? { useAccountCookie: true } : { providerId: 'site' };
await serve(betterAuthSession(auth, chosen), (app) => {
  app.all('/api/auth/*path', toNodeHandler(auth));
  // The page's button.
  app.get('/login', async (_request, response) => {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: SITE },
      body: JSON.stringify({ providerId: 'site', provider: 'site', callbackURL: '/' }),
    };
    // Version 1.7 moved the route.
    let reply = await fetch(`${SITE}/api/auth/sign-in/oauth2`, init);
    if (reply.status === 404) reply = await fetch(`${SITE}/api/auth/sign-in/social`, init);
    for (const cookie of reply.headers.getSetCookie()) response.append('set-cookie', cookie);
    const { url } = await reply.json();
    response.redirect(url);
  });
});
