import { choosingFields } from '../upstream/header-policy.js';
import type { Credential } from './credential.js';

/**
 * Names the callers who see each other's actions, as a text to be hashed; `undefined` when the caller has no stable name, and nothing may be kept.
 * It outlives tokens: an action must invalidate what was rendered under the last one.
 */
export function credentialScope({ owner, fields }: Credential): string | undefined {
  return owner.principal === undefined ? undefined : scopeText(owner.principal, choosingFields(fields?.added));
}

/** Names those to whom the platform may show one agent card, project and brand; the site's own fields are part of it. */
export function readerScope({ owner, fields }: Credential): string {
  return scopeText(owner.reader, [...choosingFields(fields?.added), ...choosingFields(fields?.forwarded)]);
}

/** Whether strangers may make new keys by what they send, or by what the site makes of it: what is kept under such a key has a place of its own (decision 83). */
export function isVaried({ fields }: Credential): boolean {
  return choosingFields({ ...fields?.forwarded, ...fields?.added }).length > 0;
}

function scopeText(owner: string, chosen: readonly unknown[]): string {
  return chosen.length === 0 ? owner : JSON.stringify([owner, ...chosen]);
}
