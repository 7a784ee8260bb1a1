import type { Credential } from './credential.js';
import type { RoutePlan } from './headers-plan.js';

/**
 * What tells callers apart in a cache; `undefined` when the caller has no stable name, and nothing may be kept.
 * Part of a key that is hashed: the values may hold an API key, and of headers a site makes itself they hold all.
 */
export function credentialScope(plan: RoutePlan, credential: Credential): readonly unknown[] | undefined {
  const { kind, identity, headers } = credential;
  if (plan.kind === 'headers') return ['headers', Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1))];
  if (identity === undefined) return undefined;
  const { authorization: _token, ...rest } = headers;
  return [kind, identity, rest];
}
