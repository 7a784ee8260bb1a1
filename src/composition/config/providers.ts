import { IDP_A, type IdpABlocks } from '../../adapters/idp-a/descriptor.js';
import { IDP_B, type IdpBBlocks } from '../../adapters/idp-b/descriptor.js';
import { SERVICE_ACCOUNT, type ServiceAccountBlocks } from '../../adapters/service-account/descriptor.js';
import type { ProviderAdapter, ProviderDescriptor } from '../../ports/provider-descriptor.js';
import type { AuthProvider, ServiceAuthStrategy } from './server-config.js';

/** The name of an identity provider of this package. */
export type ProviderName = 'service_account' | AuthProvider;

/** The settings of all providers, by configuration block. */
export interface ProviderBlocks extends ServiceAccountBlocks, IdpABlocks, IdpBBlocks {}

/** A provider, and the adapter to load when one of its flows is first needed. */
interface Provider<Blocks> extends ProviderDescriptor<Blocks> {
  readonly adapter: () => Promise<ProviderAdapter<Blocks>>;
}

/** All identity providers of this package. Where no `authProvider` is set, the first that has the strategy is used. */
export const PROVIDERS: {
  readonly service_account: Provider<ServiceAccountBlocks>;
  readonly idp_a: Provider<IdpABlocks>;
  readonly idp_b: Provider<IdpBBlocks>;
} & Readonly<Record<ProviderName, object>> = {
  service_account: {
    ...SERVICE_ACCOUNT,
    adapter: () => import('../../adapters/service-account/service-account-provider.js'),
  },
  idp_a: { ...IDP_A, adapter: () => import('../../adapters/idp-a/idp-a.js') },
  idp_b: { ...IDP_B, adapter: () => import('../../adapters/idp-b/idp-b.js') },
};

const NAMES = Object.keys(PROVIDERS) as readonly ProviderName[];

/** The flows of each provider, by the strategy that asks for them; the first is the provider's own. */
export const FLOWS = Object.fromEntries(NAMES.map((name) => [name, PROVIDERS[name].flows])) as Readonly<
  Record<ProviderName, Readonly<Partial<Record<ServiceAuthStrategy, string>>>>
>;

/** The values of `authProvider`: every provider but the server itself. */
export const AUTH_PROVIDERS: readonly string[] = NAMES.filter((name) => name !== 'service_account');

/** The values of `provider` in `onBehalfOf`: every provider that exchanges users' tokens. */
export const EXCHANGES: readonly string[] = NAMES.filter((name) => PROVIDERS[name].examineExchange !== undefined);

/** The provider that exchanges users' tokens where neither `onBehalfOf` nor `authProvider` names one that does. */
export const DEFAULT_EXCHANGE: ProviderName = 'idp_b';

/** The provider that has a flow; undefined for a flow of the site's own. */
export function providerOf(flow: string): ProviderName | undefined {
  return NAMES.find((name) => Object.values(FLOWS[name]).includes(flow));
}
