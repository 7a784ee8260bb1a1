import './quiet-provider.js';

import express, { type Express } from 'express';
import { Provider } from 'oidc-provider';

import { createInteractionRouter } from './interaction-router.js';
import { type LoginOptions, providerConfiguration } from './provider-configuration.js';

export type { LoginOptions } from './provider-configuration.js';

/** A small OpenID provider that replaces a company's own: users sign in by picking a name. */
export interface LoginProvider {
  readonly app: Express;
  /** The address of its public keys. */
  readonly jwksUri: string;
  /** Number of refresh tokens the site has used. */
  readonly refreshes: number;
}

/** Creates the provider; it must be served at `issuer`. */
export function createLoginProvider(options: LoginOptions): LoginProvider {
  const provider = new Provider(options.issuer, providerConfiguration(options));
  let refreshes = 0;
  provider.on('grant.success', ({ oidc }) => {
    if (oidc.params['grant_type'] === 'refresh_token') refreshes += 1;
  });
  // Otherwise only the browser would learn of them, without the reason.
  provider.on('server_error', (_context, error) => console.error('sign-in provider:', error));

  const app = express();
  app.disable('x-powered-by');
  app.use('/interaction', createInteractionRouter(provider));
  app.use(provider.callback());
  return {
    app,
    jwksUri: `${options.issuer}/jwks`,
    get refreshes() {
      return refreshes;
    },
  };
}
