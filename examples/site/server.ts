import { randomBytes } from 'node:crypto';

import { configureServer, fromFunction } from 'agent-bff';
import { createA2ARouter, createServiceProxyRouter, createServiceSurfaceRouter } from 'agent-bff/express';
import express, { type Express } from 'express';

import { createAgentForPrograms } from './agent-for-programs.js';
import { createDemoRouter } from './demo-router.js';
import { answerErrors } from './error-answers.js';
import { loopbackNamesOnly } from './loopback-names.js';
import { createPageRouter } from './page-router.js';
import type { PlatformView } from './platform-view.js';
import { bySignIn } from './sign-in/by-sign-in.js';
import { OpenIdClient } from './sign-in/open-id-client.js';
import { createSessions } from './sign-in/session.js';
import { createSignInRouter } from './sign-in/sign-in-router.js';
import { userTokenSource } from './sign-in/user-token-source.js';
import { pageDirectory } from './static-directories.js';

export interface ServiceAccount {
  readonly serviceAccountId: string;
  readonly keyId: string;
  readonly privateKeyPem: string;
}

export interface SiteOptions {
  /** Address of the agent endpoint. */
  readonly a2aUrl: string;
  /** Address of the platform API. */
  readonly serviceApiUrl: string;
  /** The service account for visitors who are not signed in. */
  readonly serviceAccount: ServiceAccount;
  /** The service account for programs that call the site's agent. Default: none may. */
  readonly programs?: ServiceAccount;
  /** The provider that signs users in. Default: no sign-in. */
  readonly login?: {
    readonly issuer: string;
    readonly clientId: string;
    readonly clientSecret: string;
  };
  /** Milliseconds for which a widget is shown without checking the platform for changes. Default 3 000. */
  readonly freshMs?: number;
  /** The part of the platform shown on the demo page. Default: none. */
  readonly platform?: PlatformView;
}

const SERVICE = { strategy: 'service_account' as const };
/** No visitor may read, continue or cancel another one's conversation. */
const CHAT = { conversations: 'visitor' as const };
const NOBODY = fromFunction(() => null);

/** A website with an agent and widgets, whose page never holds a credential. */
export function createSite(options: SiteOptions): Express {
  const { a2aUrl, serviceApiUrl, serviceAccount, programs, login, freshMs = 3_000, platform } = options;
  // Conversations of users are bound by a key. In production it is configured, and the same in every process.
  const cacheKeys = [randomBytes(32).toString('base64')];
  configureServer({ a2aUrl, serviceApiUrl, serviceAccount, cacheKeys });
  const client = login && new OpenIdClient({ ...login, audience: serviceApiUrl });
  const auth = userTokenSource(client);
  const cache = { enabled: true, freshMs };

  const app = express();
  app.use(loopbackNamesOnly);
  // Where clients look that have the name of the site only.
  app.all('/.well-known/agent-card.json', (request, _response, next) => {
    if (programs !== undefined) request.url = `/agent${request.url}`;
    next();
  });
  app.use(['/api', '/auth'], createSessions());
  // Before the body parser, because bodies are streamed. agent-bff may use a token for a few more seconds after a
  // sign-out; with `bySignIn`, a sign-out takes effect immediately.
  app.use(
    '/api/service',
    bySignIn(createServiceProxyRouter(express, { auth }), createServiceProxyRouter(express, { auth: NOBODY })),
  );
  app.use(express.json({ limit: '2mb' }));

  // Users have their own token, visitors the site's.
  app.use(
    '/api/a2a',
    bySignIn(createA2ARouter(express, { auth, ...CHAT }), createA2ARouter(express, { ...SERVICE, ...CHAT })),
  );
  if (programs !== undefined) {
    app.use('/agent', createAgentForPrograms({ a2aUrl, serviceApiUrl, serviceAccount: programs }));
  }
  app.use(
    '/api/service-surfaces',
    bySignIn(
      createServiceSurfaceRouter(express, { auth, requireSession: true, cache }),
      createServiceSurfaceRouter(express, { ...SERVICE, cache }),
    ),
  );
  app.use('/auth', createSignInRouter(client));

  // A real site has no switch to break its own credential.
  app.use('/demo', createDemoRouter(serviceAccount.privateKeyPem, platform));
  app.use(createPageRouter(pageDirectory));
  app.use(answerErrors);
  return app;
}
