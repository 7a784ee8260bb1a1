import crypto, { createHmac, createSecretKey, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { VisitorCrypto } from '../../ports/visitor-crypto.js';
import { decrypted, encrypted, type SealingKey } from './sealed-cache-store.js';

const POOL_BYTES = 4_096;
let pool = Buffer.alloc(0);
let at = 0;

// Not every runtime with Node's API has it.
const { hash } = crypto as Partial<typeof crypto>;
const BLOCK_BYTES = 64;
const MAX_TEXT_BYTES = 1_024;
const inner = Buffer.alloc(BLOCK_BYTES + MAX_TEXT_BYTES);
const outer = Buffer.alloc(BLOCK_BYTES + 32);

/** An HMAC by its two hashes (RFC 2104 §2): as an object, one costs more than both, and has to be collected. */
export function mac(key: Uint8Array | string, text: string): string {
  const bytes = typeof key === 'string' ? Buffer.from(key) : key;
  if (hash === undefined || bytes.length > BLOCK_BYTES || text.length * 3 > MAX_TEXT_BYTES) {
    return createHmac('sha256', bytes).update(text).digest('hex');
  }
  inner.fill(0x36, 0, BLOCK_BYTES);
  outer.fill(0x5c, 0, BLOCK_BYTES);
  bytes.forEach((byte, index) => {
    inner[index] = byte ^ 0x36;
    outer[index] = byte ^ 0x5c;
  });
  outer.write(
    hash('sha256', inner.subarray(0, BLOCK_BYTES + inner.write(text, BLOCK_BYTES)), 'hex'),
    BLOCK_BYTES,
    'hex',
  );
  return hash('sha256', outer, 'hex');
}

/** Node's own cryptography. */
export const visitorCrypto: VisitorCrypto = {
  random: (bytes, encoding) => {
    // One call for many: the system's random bytes cost more than the rest of a message's checks.
    if (at + bytes > pool.length) {
      pool = randomBytes(POOL_BYTES);
      at = 0;
    }
    at += bytes;
    return pool.toString(encoding, at - bytes, at);
  },
  mac,
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

/** Derives them by HKDF (RFC 5869), so that they say nothing about each other or the key they come from. */
export function visitorKeys({ key }: SealingKey): VisitorKeys {
  const derived = (use: string): Uint8Array =>
    new Uint8Array(hkdfSync('sha256', key, '', `agent-bff conversations ${use}`, 32));
  return { mint: derived('mint'), seal: derived('seal') };
}
