import { withoutTrailingSlashes } from '../../domain/shared/paths.js';

/** What tenant and authority stand for together. */
export type TenantAddress =
  | { readonly kind: 'address'; readonly authority: string; readonly host: string }
  | { readonly kind: 'unusable'; readonly note: string };

const PUBLIC_CLOUD = 'https://login.microsoftonline.com';

// Entra's names for "whatever tenant the user has"; an application signs in to one tenant.
const NOT_A_TENANT: ReadonlySet<string> = new Set(['common', 'organizations', 'consumers']);

/** The address of a tenant at its authority; an empty authority is the public cloud. */
export function tenantAddress(tenantId: string, authority: string): TenantAddress {
  // The values stay out of every text: somebody may have pasted a secret into the wrong field.
  if (NOT_A_TENANT.has(tenantId.toLowerCase())) {
    return { kind: 'unusable', note: 'must name one tenant, neither "common" nor "organizations"' };
  }
  if (!/^[a-z\d](?:[\w.-]*[a-z\d])?$/i.test(tenantId)) {
    return { kind: 'unusable', note: 'must be the identifier or the domain of a tenant' };
  }
  const address = authority === '' ? PUBLIC_CLOUD : authority;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== 'https:' || url.username !== '' || url.search !== '' || url.hash !== '') {
    return { kind: 'unusable', note: 'needs an authority that is an https address without user, query or fragment' };
  }
  return {
    kind: 'address',
    authority: `${url.origin}${withoutTrailingSlashes(url.pathname)}/${tenantId}`,
    host: url.host,
  };
}
