import { createServer } from 'node:http';
import { createProvider } from './provider.mjs';

const { AUTH0_DOMAIN, APP_BASE_URL, AUTH0_CLIENT_ID, AUTH0_CLIENT_SECRET, AUTH0_AUDIENCE } = process.env;
const issuer = new URL(AUTH0_DOMAIN);

const provider = createProvider({
  issuer: issuer.href,
  siteUrl: APP_BASE_URL,
  clientId: AUTH0_CLIENT_ID,
  clientSecret: AUTH0_CLIENT_SECRET,
  audience: AUTH0_AUDIENCE,
  tokenSeconds: 300,
});
createServer(provider.callback()).listen(Number(issuer.port), 'localhost', () => {
  console.log(`sign-in at ${issuer.href}`);
});
