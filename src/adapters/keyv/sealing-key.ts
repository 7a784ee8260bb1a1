import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { Secret } from '../../domain/shared/secret.js';

/** A key that seals what is stored outside of the process. */
export interface SealingKey {
  /** Tells keys apart and reveals none. */
  readonly id: string;
  readonly key: KeyObject;
}

/** A usable key, or what to do, in one sentence that names no value. */
export type SealingKeyReading =
  { readonly kind: 'key'; readonly key: SealingKey } | { readonly kind: 'unusable'; readonly advice: string };

const KEY_BYTES = 32;
// 32 random bytes have fewer distinct values than this once in 10^15 keys; a repeated pattern always.
const MIN_DISTINCT = 16;

/**
 * Reads a key of 32 random bytes in hex, base64url or base64.
 * A passphrase is refused: a reader of the store could guess it offline.
 */
export function readSealingKey(text: Secret): SealingKeyReading {
  const bytes = decode(text.reveal().trim());
  if (bytes?.length !== KEY_BYTES) {
    return unusable('is not 32 bytes in hex, base64url or base64; make one with "openssl rand -base64 32"');
  }
  if (new Set(bytes).size < MIN_DISTINCT) {
    return unusable('is a pattern and not random; make one with "openssl rand -base64 32"');
  }
  const id = createHmac('sha256', bytes).update('agent-bff sealing key').digest('base64url').slice(0, 8);
  return { kind: 'key', key: { id, key: createSecretKey(bytes) } };
}

function decode(text: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  const bytes = Buffer.from(text, 'base64url');
  // Node skips what is no base64, so a passphrase decodes to something; only a key comes back as it was.
  const url = text.replaceAll('+', '-').replaceAll('/', '_').replace(/=$/, '');
  return bytes.toString('base64url') === url ? bytes : undefined;
}

function unusable(fault: string): SealingKeyReading {
  return { kind: 'unusable', advice: `A key in "cacheKeys" ${fault}.` };
}
