import type { ResolvedConfig } from './config/resolve-config.js';

/**
 * What tells the service identities of one configuration from those of another that shares a cache store.
 * No secret is part of it, so it is the same in every process of a site, whatever keys these have.
 */
export function siteName({ serviceAccount, idpA, idpB, serviceAuthStrategy, authProvider }: ResolvedConfig): string {
  return JSON.stringify([
    serviceAuthStrategy,
    authProvider,
    [serviceAccount.serviceAccountId, serviceAccount.subject, serviceAccount.issuer, serviceAccount.audience],
    [idpA.domain, idpA.clientId, idpA.username, idpA.realm, idpA.audience, idpA.scope],
    [idpB.tenantId, idpB.clientId, idpB.scope],
  ]);
}
