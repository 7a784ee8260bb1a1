import { createHmac } from 'node:crypto';
import { IDP_A, type IdpABlocks } from '../../adapters/idp-a/descriptor.js';
import { IDP_B, type IdpBBlocks } from '../../adapters/idp-b/descriptor.js';
import { SERVICE_ACCOUNT, type ServiceAccountBlocks } from '../../adapters/service-account/descriptor.js';
import { sha256 } from '../../adapters/system/system.js';
import { type AnySettings, revealed, type Setting } from '../../domain/shared/setting.js';
import { isObject } from '../../domain/shared/json.js';
import type { ProviderAdapter, ProviderDescriptor } from '../../domain/shared/provider-descriptor.js';
import type { Identity } from '../../ports/identity-provider.js';
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

/** All identity providers of this package. If `authProvider` is not set, the first one with the strategy is used. */
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

/** The flows of each provider by strategy; the first is the provider's default. */
export const FLOWS: Readonly<Record<'service_account' | AuthProvider, Flows>> = Object.fromEntries(
  NAMES.map((name) => [name, PROVIDERS[name].flows]),
) as Record<ProviderName, Flows>;

/** The values of `authProvider`: every provider except the server itself. */
export const AUTH_PROVIDERS: readonly string[] = NAMES.filter((name) => name !== 'service_account');

/** The values of `provider` in `onBehalfOf`: every provider that can exchange users' tokens. */
export const EXCHANGES: readonly string[] = NAMES.filter((name) => PROVIDERS[name].examineExchange !== undefined);

/** The value of `authProvider` for the names of vendors. */
export const VENDORS: ReadonlyMap<string, string> = new Map(
  NAMES.flatMap((name) => PROVIDERS[name].vendors.map((vendor) => [vendor, name] as const)),
);

/** The provider for exchanges if neither `onBehalfOf` nor `authProvider` names a suitable one. */
export const DEFAULT_EXCHANGE: ProviderName = 'idp_b';

/** The provider of a flow; undefined for a custom flow. */
export function providerOf(flow: string): ProviderName | undefined {
  return NAMES.find((name) => Object.values(FLOWS[name]).includes(flow));
}

/**
 * The identity of a built-in provider: each setting belongs to the side in its row. `material` is the current content
 * of key files. `proofKey` keys the digest of the proof: otherwise a weak password could be guessed from a shared
 * store.
 */
export function configuredIdentity(
  flow: string,
  settings: AnySettings,
  proofKey: Uint8Array,
  material: () => string = () => '',
): () => Promise<Identity> {
  const principal = `${flow} ${principalOf(settings)}`;
  const proofs = Object.values(settings).filter(({ side }) => side === 'proof');
  let last: { readonly held: string; readonly identity: Identity } | undefined;
  return async () => {
    // Secrets in files change too.
    const held = JSON.stringify([...proofs.map(revealed), material()]);
    if (last?.held !== held) {
      const proof = createHmac('sha256', proofKey).update(held).digest('base64url');
      last = { held, identity: { principal, proof } };
    }
    return last.identity;
  };
}

/**
 * The principal derived from these settings. A digest, because claims may be confidential, and any field may contain a
 * misplaced secret. Nested blocks are not part of it, and neither are secrets, which cannot be serialised.
 */
export function principalOf(settings: object): string {
  const named: (readonly [string, string])[] = [];
  const all = settings as AnySettings;
  for (const name in all) {
    const setting = all[name];
    if (setting?.side !== 'principal') continue;
    const text = SPELLED.get(setting) ?? spelled(setting.value);
    SPELLED.set(setting, text);
    named.push([name, text]);
  }
  return sha256(JSON.stringify(named));
}

/** The texts of settings: toolkits of a process have one for each field without a value. */
const SPELLED = new WeakMap<Setting<unknown>, string>();

/** One text per value, independent of the order of its members. */
function spelled(value: unknown): string {
  return JSON.stringify(value ?? null, (_name, inner: unknown) =>
    isObject(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}
