import { createHmac } from 'node:crypto';
import { IDP_A, type IdpABlocks } from '../../adapters/idp-a/descriptor.js';
import { IDP_B, type IdpBBlocks } from '../../adapters/idp-b/descriptor.js';
import { SERVICE_ACCOUNT, type ServiceAccountBlocks } from '../../adapters/service-account/descriptor.js';
import { sha256 } from '../../adapters/system/system.js';
import { type AnySettings, revealed, type Setting, type Side } from '../../domain/shared/setting.js';
import { canonicalJson } from '../../domain/surfaces/canonical-json.js';
import type { Identity, ProviderAdapter, ProviderDescriptor } from '../../ports/identity-provider.js';
import type { AuthProvider, ServiceAuthStrategy } from './server-config.js';

/** The settings of all providers, by configuration block. */
export interface ProviderBlocks extends ServiceAccountBlocks, IdpABlocks, IdpBBlocks {}

/** A provider, and the adapter to load when one of its flows is first needed. */
interface Provider<Blocks> extends ProviderDescriptor<Blocks> {
  readonly adapter: () => Promise<ProviderAdapter<Blocks>>;
}

interface Providers {
  readonly service_account: Provider<ServiceAccountBlocks>;
  readonly idp_a: Provider<IdpABlocks>;
  readonly idp_b: Provider<IdpBBlocks>;
}

/** The name of an identity provider of this package. */
export type ProviderName = keyof Providers;

/** All identity providers of this package. Where no `authProvider` is set, the first that has the strategy is used. */
export const PROVIDERS: Providers = {
  service_account: {
    ...SERVICE_ACCOUNT,
    adapter: () => import('../../adapters/service-account/service-account-provider.js'),
  },
  idp_a: { ...IDP_A, adapter: () => import('../../adapters/idp-a/idp-a.js') },
  idp_b: { ...IDP_B, adapter: () => import('../../adapters/idp-b/idp-b.js') },
};

const NAMES = Object.keys(PROVIDERS) as readonly ProviderName[];

type Flows = Readonly<Partial<Record<ServiceAuthStrategy, string>>>;

/** The flows of each provider, by the strategy that asks for them; the first is the provider's own. */
export const FLOWS: Readonly<Record<'service_account' | AuthProvider, Flows>> = Object.fromEntries(
  NAMES.map((name) => [name, PROVIDERS[name].flows]),
) as Record<ProviderName, Flows>;

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

/**
 * The identity of a built-in provider: each of its settings is on the side that its row says. `material` names the present
 * content of key files. `proofKey` keys the proof: a bare digest of a weak password in a shared store could be guessed.
 */
export function configuredIdentity(
  flow: string,
  settings: AnySettings,
  proofKey: Uint8Array,
  material: () => Promise<string> = () => Promise.resolve(''),
): () => Promise<Identity> {
  const principal = `${flow} ${principalOf(settings)}`;
  const proofs = onSide('proof', settings).map(([, setting]) => revealed(setting));
  let last: { readonly held: string; readonly identity: Identity } | undefined;
  return async () => {
    const held = await material();
    if (last?.held !== held) {
      const proof = createHmac('sha256', proofKey)
        .update(JSON.stringify([...proofs, held]))
        .digest('base64url');
      last = { held, identity: { principal, proof } };
    }
    return last.identity;
  };
}

/**
 * The principal that these settings state. A digest: claims may hold what their owner would not want to see in a cache, and any field a secret that belongs into another.
 * Blocks inside are not part of it, nor is a secret, which nothing can write.
 */
export function principalOf(settings: object): string {
  const named = onSide('principal', settings as AnySettings).map(([name, { value }]) => [name, spelled(value)]);
  return sha256(JSON.stringify(named));
}

function onSide(side: Side, settings: AnySettings): readonly (readonly [name: string, setting: Setting<unknown>])[] {
  return Object.entries(settings).filter(([, setting]) => setting.side === side);
}

/** One text for one value, in whatever order its members are written. */
function spelled(value: unknown): string {
  try {
    const json = JSON.stringify(value ?? null);
    return canonicalJson(json) ?? json;
  } catch {
    return 'not JSON';
  }
}
