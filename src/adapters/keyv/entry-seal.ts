import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import type { Secret } from '../../domain/shared/secret.js';
import type { CacheStore } from '../../ports/cache-store.js';
import type { Clock } from '../../ports/clock.js';
import type { Telemetry } from '../../ports/telemetry.js';

/** A key that seals entries stored outside of the process. */
export interface SealingKey {
  /** Identifies the key without revealing it. */
  readonly id: string;
  readonly key: KeyObject;
}

/** A usable key, or one sentence of advice without the value. */
export type SealingKeyReading =
  { readonly kind: 'key'; readonly key: SealingKey } | { readonly kind: 'unusable'; readonly advice: string };

const CIPHER = 'aes-256-gcm';
const VERSION = 'v2';
const KEY_BYTES = 32;
// Random nonces of 96 bits are safe for 2^32 entries per key (NIST SP 800-38D §8.3).
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
// 32 random bytes have fewer distinct values than this once in 10^15 keys; a repeated pattern always.
const MIN_DISTINCT = 16;

/** Writes an entry as the store keeps it. */
export interface EntryForm {
  write(name: string, value: string, expiresAt: number): string;
  /** The value and its expiry; a fault if it is not what `write` returned for this name. */
  read(
    name: string,
    stored: string,
  ): { readonly value: string; readonly expiresAt: number } | { readonly fault: string };
}

/** An entry in the clear, with its own name and expiry. */
export const CLEAR: EntryForm = {
  write: (name, value, expiresAt) => `${String(expiresAt)} ${String(name.length)} ${name}${value}`,
  read: (name, stored) => {
    const [head, expiresAt, length] = /^(\d+(?:\.\d+)?) (\d+) /.exec(stored) ?? [];
    if (head === undefined || Number(length) !== name.length || !stored.startsWith(name, head.length))
      return { fault: 'the entry is not the one that was set' };
    return { value: stored.slice(head.length + name.length), expiresAt: Number(expiresAt) };
  },
};

/**
 * An entry sealed with AES-256-GCM by the first key; any of them opens it. Its name and expiry are authenticated: one that
 * was changed, swapped or prolonged does not open. The store's operator can read none.
 */
export function sealedBy(keys: readonly [SealingKey, ...SealingKey[]]): EntryForm {
  const [first] = keys;
  return {
    write: (name, value, expiresAt) => {
      const sealed = encrypted(first.key, `${String(expiresAt)} ${name}`, Buffer.from(value));
      return [VERSION, first.id, String(expiresAt), sealed.toString('base64url')].join(' ');
    },
    read: (name, stored) => {
      const [version, id, expiresAt, sealed] = stored.split(' ');
      const known = version === VERSION ? keys.find((key) => key.id === id) : undefined;
      if (known === undefined) return { fault: 'no configured key opens the entry' };
      try {
        const value = decrypted(known.key, `${String(expiresAt)} ${name}`, sealed).toString('utf8');
        return { value, expiresAt: Number(expiresAt) };
      } catch {
        return { fault: 'the entry was changed, or belongs to another key' };
      }
    },
  };
}

export interface EntryStoreDependencies {
  readonly store: CacheStore;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly form: EntryForm;
  /** Prefix of every key in the store. */
  readonly prefix: string;
}

/** A store whose entries have one form, under the digests of their names. One that cannot be read, or has expired, is a miss. */
export class EntryStore implements CacheStore {
  readonly #deps: EntryStoreDependencies;

  constructor(dependencies: EntryStoreDependencies) {
    this.#deps = dependencies;
  }

  async get(key: string): Promise<string | undefined> {
    const { store, clock, telemetry, form } = this.#deps;
    const stored = await store.get(this.#nameOf(key));
    if (stored === undefined) return undefined;
    const entry = form.read(key, stored);
    if ('fault' in entry) {
      telemetry.emit({ type: 'cache_fault', operation: 'open', detail: entry.fault });
      return undefined;
    }
    return clock.now() < entry.expiresAt ? entry.value : undefined;
  }

  async set(key: string, value: string, expiresAt: number): Promise<void> {
    const { store, form } = this.#deps;
    await store.set(this.#nameOf(key), form.write(key, value, expiresAt), expiresAt);
  }

  async delete(key: string): Promise<void> {
    await this.#deps.store.delete(this.#nameOf(key));
  }

  #nameOf(key: string): string {
    return this.#deps.prefix + createHash('sha256').update(key).digest('hex');
  }
}

/** Nonce, sealed bytes and tag; `name` is authenticated with them. */
export function encrypted(key: KeyObject, name: string, bytes: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(name));
  return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

/** @throws when any part of it was changed. */
export function decrypted(key: KeyObject, name: string, text = ''): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  const end = bytes.length - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(end));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, end)), decipher.final()]);
}

/** Parses a key of 32 random bytes in hex, base64url or base64. A passphrase is rejected: it could be guessed offline from the store. */
export function readSealingKey(text: Secret): SealingKeyReading {
  const bytes = decode(text.reveal().trim());
  if (bytes?.length !== KEY_BYTES) {
    return unusable('is not 32 bytes in hex, base64url or base64; make one with "openssl rand -base64 32"');
  }
  if (new Set(bytes).size < MIN_DISTINCT) {
    return unusable('is a repeated pattern, not random; make one with "openssl rand -base64 32"');
  }
  const id = createHmac('sha256', bytes).update('agent-bff sealing key').digest('base64url').slice(0, 8);
  return { kind: 'key', key: { id, key: createSecretKey(bytes) } };
}

function decode(text: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  const bytes = Buffer.from(text, 'base64url');
  // Node skips invalid base64, so a passphrase decodes to something; only a real key encodes to the same text.
  const url = text.replaceAll('+', '-').replaceAll('/', '_').replace(/=$/, '');
  return bytes.toString('base64url') === url ? bytes : undefined;
}

function unusable(fault: string): SealingKeyReading {
  return { kind: 'unusable', advice: `A key in "cacheKeys" ${fault}.` };
}
