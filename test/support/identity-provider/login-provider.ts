import '../../../examples/login/quiet-provider.js';
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';
import { closeAll, listening } from '../listening.mjs';
import { RequestLog } from './request-log.js';
import { signingKeys, verifyToken } from './signing-key.js';

/** A provider with a login page and rotating refresh tokens. Using one twice ends the session. */
export interface LoginProvider {
  readonly issuer: string;
  readonly client: { readonly id: string; readonly secret: string };
  readonly tokenRequests: RequestLog;
  /** The user of an access token; rejects when signature, issuer or dates are wrong. */
  userOf(accessToken: string): Promise<string>;
  close(): Promise<void>;
}

const client = { id: 'website', secret: 'secret-of-the-website-0123456789' };
const AUDIENCE = 'https://platform.example/api';

/** Starts it over http on this machine, for a site at `siteUrl`. Any login is accepted. */
export async function startLoginProvider(
  siteUrl: string,
  tokenLifetimeSeconds: number | (() => number),
  callbackPath = '/callback',
  clientAuthMethod: 'client_secret_post' | 'client_secret_basic' = 'client_secret_post',
): Promise<LoginProvider> {
  const server = createServer();
  const issuer = await listening(server);
  const tokenRequests = new RequestLog();
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        token_endpoint_auth_method: clientAuthMethod,
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        redirect_uris: [`${siteUrl}${callbackPath}`],
      },
    ],
    cookies: { keys: ['of this run only'] },
    features: {
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => AUDIENCE,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: 'chat',
          audience: AUDIENCE,
          accessTokenTTL: typeof tokenLifetimeSeconds === 'number' ? tokenLifetimeSeconds : tokenLifetimeSeconds(),
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    findAccount: (_: unknown, sub: string) => ({ accountId: sub, claims: () => ({ sub }) }),
    issueRefreshToken: () => true,
    jwks: signingKeys(),
    rotateRefreshToken: true,
  });
  provider.use(async (context, next) => {
    await next();
    const form = Object.entries(context.oidc?.params ?? {}).filter(([, value]) => value !== undefined);
    if (context.oidc?.route === 'token')
      tokenRequests.add(new URLSearchParams(form as [string, string][]).toString(), {});
  });
  server.on('request', provider.callback());
  return {
    issuer,
    client,
    tokenRequests,
    userOf: async (accessToken) => (await verifyToken(issuer, accessToken)).sub ?? '',
    close: () => closeAll(server),
  };
}
