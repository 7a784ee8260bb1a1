import { createHmac, randomBytes } from 'node:crypto';

const processKey = randomBytes(32);

/**
 * Tells two sets of credentials apart without revealing either.
 * Keyed, because a bare hash of a weak password in a shared cache could be guessed; processes that share a cache share the key.
 */
export function credentialFingerprint(credentials: readonly string[], key: string | Uint8Array | undefined): string {
  return createHmac('sha256', key === undefined || key.length === 0 ? processKey : key)
    .update(JSON.stringify(credentials))
    .digest('base64url');
}
