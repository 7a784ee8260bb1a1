import { generateKeyPairSync, randomBytes } from 'node:crypto';

import { openListener } from './http-listener.js';
import { createLoginProvider, type LoginProvider } from './login/open-id-provider.js';
import { type Platform, startPlatform } from './platform/start-platform.js';
import { startSite } from './site/start-site.js';

export interface DemoOptions {
  /** Port of the site; 0 is any free one. */
  readonly port: number;
  /** Address the site listens on. Default: 127.0.0.1. */
  readonly host?: string;
  /** Pause between two words of an answer, in milliseconds. Default 50. */
  readonly wordMs?: number;
  /** Pause between two of the 120 steps of the `slow` task, in milliseconds. Default 300. */
  readonly slowStepMs?: number;
  /** Milliseconds for which a widget is shown without checking the platform for changes. Default 3 000. */
  readonly freshMs?: number;
  /** Lifetime of a user's access token, in seconds. Default 300. */
  readonly accessTokenSeconds?: number;
}

export interface Demo {
  /** Address of the site. */
  readonly url: string;
  readonly platform: Platform;
  readonly login: LoginProvider & { readonly issuer: string };
  /** Closes every connection of all three. */
  close(): Promise<void>;
}

const SERVICE_ACCOUNT_ID = 'demo-site';
const PROGRAMS_ID = 'demo-programs';
const HOST = '127.0.0.1';

/** Starts a platform, an OpenID provider and the site between them, with keys and secrets for this run only. */
export async function startDemo(options: DemoOptions): Promise<Demo> {
  const { port, host = HOST, freshMs, accessTokenSeconds, ...pace } = options;
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const platform = await startPlatform(pace);
  const listener = await openListener(0, HOST);
  const issuer = `http://${HOST}:${listener.port}`;
  const client = { clientId: SERVICE_ACCOUNT_ID, clientSecret: randomBytes(32).toString('base64url') };

  const closeBoth = async (): Promise<void> => {
    await Promise.all([platform.close(), listener.close()]);
  };
  const { a2aUrl, serviceApiUrl } = platform;
  const account = (serviceAccountId: string) => {
    const keyId = `${serviceAccountId}-key`;
    platform.registerKey(keyId, publicKey, serviceAccountId);
    return { serviceAccountId, keyId, privateKeyPem: privateKey };
  };
  const site = await startSite({
    port,
    host,
    a2aUrl,
    serviceApiUrl,
    serviceAccount: account(SERVICE_ACCOUNT_ID),
    programs: account(PROGRAMS_ID),
    login: { issuer, ...client },
    platform,
    ...(freshMs === undefined ? {} : { freshMs }),
  }).catch(async (error: unknown) => {
    await closeBoth();
    throw error;
  });

  // The administrators' setup: register the site at the provider, and the provider at the platform.
  const { port: sitePort } = new URL(site.url);
  const redirectUris = ['localhost', HOST].map((host) => `http://${host}:${sitePort}/auth/callback`);
  const login = createLoginProvider({
    issuer,
    client: { ...client, redirectUris },
    audience: serviceApiUrl,
    ...(accessTokenSeconds === undefined ? {} : { accessTokenSeconds }),
  });
  listener.server.on('request', login.app);
  platform.trustIssuer({ issuer, jwksUri: login.jwksUri });

  return {
    url: site.url,
    platform,
    login: Object.assign(login, { issuer }),
    close: async () => {
      await Promise.all([site.close(), closeBoth()]);
    },
  };
}
