import './quiet-provider.js';

import express, { type Express } from 'express';
import { Provider } from 'oidc-provider';

import { createInteractionRouter } from './interaction-router.js';
import { type LoginOptions, providerConfiguration } from './provider-configuration.js';

export type { LoginOptions } from './provider-configuration.js';

/** A small OpenID provider in place of the company's own: who signs in picks a name, and that is all. */
export interface LoginProvider {
  readonly app: Express;
  /** Where it publishes the keys it signs with. */
  readonly jwksUri: string;
  /** How often the site spent a refresh token. */
  readonly refreshes: number;
}

/** Makes the provider; it has to be served at `issuer`. */
export function createLoginProvider(options: LoginOptions): LoginProvider {
  const provider = new Provider(options.issuer, providerConfiguration(options));
  let refreshes = 0;
  provider.on('grant.success', ({ oidc }) => {
    if (oidc.params['grant_type'] === 'refresh_token') refreshes += 1;
  });

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
