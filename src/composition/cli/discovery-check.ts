import { issuerAddress } from '../../adapters/idp-a/issuer-address.js';
import { tenantAddress } from '../../adapters/idp-b/tenant-address.js';
import { networkFault } from '../../domain/shared/network-fault.js';
import type { ResolvedConfig, ResolvedIdpB } from '../config/resolve-config.js';
import type { Finding } from './finding.js';

const CHECK = 'provider';
const METADATA = '.well-known/openid-configuration';

/** Which provider to look for, and which field says where it is. */
type Place =
  | { readonly kind: 'place'; readonly url: string; readonly block: string; readonly field: string }
  | { readonly kind: 'nowhere'; readonly finding: Finding };

/** Asks a provider for its public description, with no credential. */
export async function providerReach(
  provider: 'idp_a' | 'idp_b',
  { idpA, timeouts }: ResolvedConfig,
  application: ResolvedIdpB,
  tenantBlock: string,
  fetch: typeof globalThis.fetch,
): Promise<Finding> {
  const place = provider === 'idp_a' ? issuer(idpA.domain) : tenant(application, tenantBlock);
  if (place.kind === 'nowhere') return place.finding;
  const { url, block, field } = place;
  const failed = (message: string): Finding => ({ check: CHECK, result: 'failed', message, block, fields: [field] });
  try {
    const signal = AbortSignal.timeout(timeouts.identityProviderMs);
    const response = await fetch(url, { redirect: 'manual', signal });
    await response.body?.cancel();
    if (response.status === 200) return { check: CHECK, result: 'ok', message: `${new URL(url).origin} answers` };
    return failed(`${new URL(url).origin} answers ${String(response.status)} where its description should be`);
  } catch (error) {
    return failed(`${new URL(url).origin} cannot be reached: ${nameOf(error)}`);
  }
}

function issuer(domain: string): Place {
  const [block, field] = ['idpA', 'domain'];
  if (domain.trim() === '') return notSet(field);
  const address = issuerAddress(domain, true);
  if (address.kind === 'unusable') return nowhere(address.detail, block, field);
  return { kind: 'place', url: `${address.url.href.replace(/\/$/, '')}/${METADATA}`, block, field };
}

function tenant({ tenantId, authority }: ResolvedIdpB, tenantBlock: string): Place {
  if (tenantId.trim() === '') return notSet('tenantId');
  const address = tenantAddress(tenantId.trim(), authority);
  // Only an exchange's own tenant stands in another block.
  const place = (field: string): [string, string] => [field === 'tenantId' ? tenantBlock : 'idpBService', field];
  if (address.kind === 'unusable') return nowhere(`${address.field} ${address.note}`, ...place(address.field));
  const [block, field] = place(authority === '' ? 'tenantId' : 'authority');
  return { kind: 'place', url: `${address.authority}/v2.0/${METADATA}`, block, field };
}

/** Said with all other missing fields by whoever needs it. */
function notSet(field: string): Place {
  return { kind: 'nowhere', finding: { check: CHECK, result: 'skipped', message: `${field} is not set` } };
}

function nowhere(message: string, block: string, field: string): Place {
  return { kind: 'nowhere', finding: { check: CHECK, result: 'failed', message, block, fields: [field] } };
}

/** The code of the network's error, which stands at the end of its causes; its text may hold anything. */
function nameOf(error: unknown): string {
  const { cause, code, name } = Object(error) as { cause?: unknown; code?: unknown; name?: unknown };
  if (typeof cause === 'object' && cause !== null) return nameOf(cause);
  const word = typeof code === 'string' ? code : String(name);
  const fault = networkFault(word);
  return fault === undefined ? word : `${word}, ${fault}`;
}
