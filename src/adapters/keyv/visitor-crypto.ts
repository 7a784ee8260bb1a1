import { createHmac, createSecretKey, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { VisitorCrypto } from '../../ports/visitor-crypto.js';
import { decrypted, encrypted, type SealingKey } from './entry-seal.js';

const POOL_BYTES = 4_096;
let pool = Buffer.alloc(0);
let at = 0;

/** Node's own cryptography. */
export const visitorCrypto: VisitorCrypto = {
  random: (bytes, encoding) => {
    // Fetched in bulk, since one call for the system's random bytes costs more than all other checks of a message.
    if (at + bytes > pool.length) {
      pool = randomBytes(POOL_BYTES);
      at = 0;
    }
    at += bytes;
    return pool.toString(encoding, at - bytes, at);
  },
  mac: (key, text) => createHmac('sha256', key).update(text).digest('hex'),
  equal: (one, other) => one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other)),
  seal: (key, name, text) => encrypted(createSecretKey(key), name, Buffer.from(text)).toString('base64url'),
  open: (key, name, sealed) => {
    try {
      return decrypted(createSecretKey(key), name, sealed).toString();
    } catch {
      return undefined;
    }
  },
};

/** The keys of signed-in visitors, made from `cacheKeys`: one to mint their conversations, one to seal their cookie. */
export interface VisitorKeys {
  readonly mint: Uint8Array;
  readonly seal: Uint8Array;
}

/** Derives them by HKDF (RFC 5869), so that none reveals another, or the key they come from. */
export function visitorKeys({ key }: SealingKey): VisitorKeys {
  const derived = (use: string): Uint8Array =>
    new Uint8Array(hkdfSync('sha256', key, '', `agent-bff conversations ${use}`, 32));
  return { mint: derived('mint'), seal: derived('seal') };
}
