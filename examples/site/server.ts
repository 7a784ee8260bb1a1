import { configureServer } from 'agent-bff';
import { createA2ARouter } from 'agent-bff/express';
import express, { type Express } from 'express';

import { createCredentialSwitch } from './credential-switch.js';
import { answerErrors } from './error-answers.js';
import { eventSourceParserDirectory, publicDirectory } from './static-directories.js';

export interface SiteOptions {
  /** Address of the agent endpoint. */
  readonly a2aUrl: string;
  /** Address of the platform API. */
  readonly serviceApiUrl: string;
  /** The service account that stands for this site's visitors. */
  readonly serviceAccount: {
    readonly serviceAccountId: string;
    readonly keyId: string;
    readonly privateKeyPem: string;
  };
}

/** A website whose page chats with an agent, without the page ever holding a credential. */
export function createSite({ a2aUrl, serviceApiUrl, serviceAccount }: SiteOptions): Express {
  configureServer({ a2aUrl, serviceApiUrl, serviceAccount });

  const app = express();
  app.use(express.json({ limit: '2mb' }));
  app.use('/api/a2a', createA2ARouter(express, { strategy: 'service_account' }));

  // The rest is the website itself. A real one has no switch to break its own credential.
  app.use('/demo/credential', createCredentialSwitch(serviceAccount.privateKeyPem));
  app.use('/vendor/eventsource-parser', express.static(eventSourceParserDirectory));
  app.use(express.static(publicDirectory));
  app.get(/^(?!\/api(?:\/|$))/, (_request, response) => {
    response.sendFile('index.html', { root: publicDirectory });
  });
  app.use(answerErrors);
  return app;
}
