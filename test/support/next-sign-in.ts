import '../../examples/login/quiet-provider.js';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { pathToFileURL } from 'node:url';
import { NEXT_EXAMPLE, SIGN_IN } from './next-example.js';
import { freePort } from './free-port.js';
import { closeAll } from './listening.mjs';

interface ProviderModule {
  createProvider(
    settings: object,
    more: object,
  ): { callback(): RequestListener; on(event: 'grant.success', listener: (context: GrantContext) => void): void };
}

interface GrantContext {
  readonly oidc: { readonly params: Readonly<Record<string, unknown>> };
}

/** The OpenID provider of the Next example. It counts refreshes. */
export interface SignIn {
  /** Environment variables for the site. */
  readonly environment: Readonly<Record<string, string>>;
  /** The number of refresh tokens spent. */
  readonly refreshes: number;
  close(): Promise<void>;
}

/** Starts it for a site. Its tokens need more than one cookie. */
export async function startSignIn(siteUrl: string, tokenSeconds: number): Promise<SignIn> {
  const { createProvider } = (await import(
    pathToFileURL(`${NEXT_EXAMPLE}/provider/provider.mjs`).href
  )) as ProviderModule;
  const port = await freePort('localhost');
  const issuer = `http://localhost:${String(port)}/`;
  const provider = createProvider(
    {
      issuer,
      siteUrl,
      clientId: SIGN_IN['AUTH0_CLIENT_ID'],
      clientSecret: SIGN_IN['AUTH0_CLIENT_SECRET'],
      audience: SIGN_IN['AUTH0_AUDIENCE'],
      tokenSeconds,
    },
    { extraTokenClaims: () => ({ roles: Array.from({ length: 300 }, (_, index) => `role-${String(index)}`) }) },
  );
  let refreshes = 0;
  provider.on('grant.success', ({ oidc }) => {
    if (oidc.params['grant_type'] === 'refresh_token') refreshes += 1;
  });
  const server = createServer(provider.callback()).listen(port, 'localhost');
  await once(server, 'listening');
  return {
    environment: { ...SIGN_IN, AUTH0_DOMAIN: issuer, APP_BASE_URL: siteUrl },
    get refreshes() {
      return refreshes;
    },
    close: () => closeAll(server),
  };
}
