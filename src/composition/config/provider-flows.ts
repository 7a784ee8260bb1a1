import type { AuthProvider, ServiceAuthStrategy } from './server-config.js';

/** The name of an identity provider of this package. */
export type ProviderName = 'service_account' | AuthProvider;

/** The flows of each provider, by the strategy that asks for them; the first is the provider's own. */
export const FLOWS: Readonly<Record<ProviderName, Readonly<Partial<Record<ServiceAuthStrategy, string>>>>> = {
  service_account: { service_account: 'service_account' },
  idp_a: { resource_owner_password: 'idp_a.password', client_credentials: 'idp_a.client_credentials' },
  idp_b: { client_credentials: 'idp_b.client_credentials', resource_owner_password: 'idp_b.client_credentials' },
};

/** What `authProvider` may be: every provider that is somebody else. */
export const AUTH_PROVIDERS: readonly string[] = Object.keys(FLOWS).filter((name) => name !== 'service_account');
