import { jwtClaims } from '../../domain/shared/json.js';
import type { SessionToken } from '../../ports/session-token-source.js';

type Names = Pick<Extract<SessionToken, { kind: 'token' }>, 'subject' | 'issuer' | 'tenant'>;
type Claims = Readonly<Record<string, unknown>>;

/** Claims that name an organization or tenant: of Entra; of Auth0 and WorkOS; of Logto; of Kinde; of several others. */
const TENANT_CLAIMS = ['tid', 'org_id', 'organization_id', 'org_code', 'tenant_id'];

/** The user of an ID token that the session library vouches for, by issuer and subject; `{}` unless both are text. */
export function userNames(claims: Claims | undefined): Names {
  const { iss, sub } = claims ?? {};
  return isName(iss) && isName(sub) ? { issuer: iss, subject: sub } : {};
}

/**
 * The tenant of the first of these claims that name one; `{}` where a claim is no text, or none names a tenant.
 * A token that names several (`tid` and `org_id`) is for all of them together.
 */
export function tenantName(...claims: readonly (Claims | undefined)[]): Names {
  for (const one of claims) {
    const present = TENANT_CLAIMS.filter((name) => one?.[name] !== undefined);
    const named = present.flatMap((name) => (isName(one?.[name]) ? [[name, one[name]] as const] : []));
    if (named.length < present.length) return {};
    const [first] = named;
    if (first !== undefined) return { tenant: named.length === 1 ? first[1] : JSON.stringify(named) };
  }
  return {};
}

/**
 * The claims of a session's token, without a check of its signature: it comes from the session library, whose session no browser can write.
 * A token that a browser could choose would name any user.
 */
export function claimsOf(token: unknown): Claims | undefined {
  return typeof token === 'string' ? jwtClaims(token) : undefined;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
