import { withoutTrailingSlashes } from '../../domain/shared/paths.js';
import { isLoopback } from '../oauth/loopback.js';

/** What tenant and authority stand for together. */
export type TenantAddress =
  | {
      readonly kind: 'address';
      /** Cloud and tenant. */
      readonly authority: string;
      readonly host: string;
      readonly isHttp: boolean;
    }
  | { readonly kind: 'unusable'; readonly field: 'tenantId' | 'authority'; readonly note: string };

const PUBLIC_CLOUD = 'https://login.microsoftonline.com';

// Entra's names for "whatever tenant the user has"; an application signs in to one tenant.
const NOT_A_TENANT: ReadonlySet<string> = new Set(['common', 'organizations', 'consumers']);

/** The address of a tenant at its authority; an empty authority is the public cloud, one without a scheme a host. */
export function tenantAddress(tenantId: string, authority: string): TenantAddress {
  // The values stay out of every text: somebody may have pasted a secret into the wrong field.
  if (NOT_A_TENANT.has(tenantId.toLowerCase())) {
    return { kind: 'unusable', field: 'tenantId', note: 'must name one tenant, neither "common" nor "organizations"' };
  }
  if (!/^[a-z\d](?:[\w.-]*[a-z\d])?$/i.test(tenantId)) {
    return { kind: 'unusable', field: 'tenantId', note: 'must be the identifier or the domain of a tenant' };
  }
  const text = authority.trim() || PUBLIC_CLOUD;
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `https://${text}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !isAllowed(url)) {
    const note = 'must be an https address without user, query or fragment; http is for tests on this machine';
    return { kind: 'unusable', field: 'authority', note };
  }
  return {
    kind: 'address',
    authority: `${url.origin}${pathOf(url, tenantId)}/${tenantId}`,
    host: url.host,
    isHttp: url.protocol === 'http:',
  };
}

function isAllowed({ protocol, hostname, username, password, search, hash }: URL): boolean {
  if (username !== '' || password !== '' || search !== '' || hash !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/** Without the tenant, which other libraries want in their authority, and without the version an issuer ends in. */
function pathOf({ pathname }: URL, tenantId: string): string {
  const path = withoutTrailingSlashes(pathname).replace(/\/v2\.0$/, '');
  return path.endsWith(`/${tenantId}`) ? path.slice(0, -tenantId.length - 1) : path;
}
