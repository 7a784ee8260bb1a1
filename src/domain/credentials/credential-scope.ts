import { choosingFields } from '../upstream/header-policy.js';
import type { Credential } from './credential.js';
import type { RouteAuth } from './route-auth.js';

/**
 * What tells callers apart in a cache; `undefined` when the caller has no stable name, and nothing may be kept.
 * Part of a key that is hashed: the values may hold an API key, and of headers a site makes itself they hold all.
 */
export function credentialScope(auth: RouteAuth, credential: Credential): readonly unknown[] | undefined {
  const { kind, identity, own, fields } = credential;
  const added = choosingFields(fields?.added);
  if (auth.kind === 'headers') return ['headers', Object.entries(own).sort(([a], [b]) => (a < b ? -1 : 1)), ...added];
  if (identity === undefined) return undefined;
  const { authorization: _token, ...rest } = own;
  return [kind, identity, rest, ...added];
}

/** The same with what the browser sent along, for what is looked up for a caller; of one without a stable name, `unnamed` is that name. */
export function lookupScope(
  auth: RouteAuth,
  credential: Credential,
  unnamed?: readonly unknown[],
): readonly unknown[] | undefined {
  const scope = credentialScope(auth, credential) ?? unnamed;
  return scope && [...scope, ...choosingFields(credential.fields?.forwarded)];
}

/** Whether strangers may make new keys by what they send, or by what the site makes of it: what is kept under such a key has a place of its own (decision 83). */
export function isVaried({ fields }: Credential): boolean {
  return choosingFields({ ...fields?.forwarded, ...fields?.added }).length > 0;
}
