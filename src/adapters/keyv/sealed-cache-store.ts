import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { getMany } from '../../domain/shared/store-calls.js';
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

/** Dependencies of a sealed cache store. */
export interface SealedCacheStoreDependencies {
  readonly store: CacheStore;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /**
   * Any of them opens entries sealed by any other, so that during a rotation a process that knows only one key can read
   * the entries of others.
   */
  readonly keys: readonly [SealingKey, ...SealingKey[]];
  /** Prefix of every key in the store, to separate the entries of two sites. */
  readonly prefix: string;
}

const CIPHER = 'aes-256-gcm';
const VERSION = 'v1';
const KEY_BYTES = 32;
// Random nonces of 96 bits are safe for 2^32 entries per key (NIST SP 800-38D §8.3).
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Characters of a time in milliseconds, and the space after it. */
const EXPIRY_BYTES = 14;
/** Characters of a key's id, and the dots around it. */
const ID_BYTES = 10;
// 32 random bytes have fewer distinct values than this once in 10^15 keys; a repeated pattern always.
const MIN_DISTINCT = 16;

/**
 * Seals entries with AES-256-GCM before they leave the process, bound to their key and expiry. With several keys, an
 * entry has its own random key, which is sealed with each of them. The store's operator can read neither; an entry that
 * was changed, swapped, expired or sealed by an unknown key is a miss.
 */
export class SealedCacheStore implements CacheStore {
  readonly #deps: SealedCacheStoreDependencies;
  readonly setIfAbsent?: NonNullable<CacheStore['setIfAbsent']>;

  constructor(dependencies: SealedCacheStoreDependencies) {
    this.#deps = dependencies;
    const setIfAbsent = dependencies.store.setIfAbsent?.bind(dependencies.store);
    if (setIfAbsent === undefined) return;
    this.setIfAbsent = (key, value, expiresAt) =>
      setIfAbsent(this.#storeKey(key), this.#seal(key, `${String(expiresAt)} ${value}`), expiresAt);
  }

  primary(keys?: readonly string[]): string {
    return this.#deps.store.primary?.(keys?.map((key) => this.#storeKey(key))) ?? '';
  }

  /** Bytes that a text of this many bytes in UTF-8 takes when it is sealed. */
  sealedBytes(bytes: number): number {
    const keys = this.#deps.keys.length;
    const wraps = keys > 1 ? keys * encodedBytes(KEY_BYTES) : 0;
    return encodedBytes(EXPIRY_BYTES + bytes) + wraps + keys * ID_BYTES;
  }

  async get(key: string): Promise<string | undefined> {
    return this.#open(key, await this.#deps.store.get(this.#storeKey(key)));
  }

  async getMany(keys: readonly string[]): Promise<readonly (string | undefined)[]> {
    const sealed = await getMany(
      this.#deps.store,
      keys.map((key) => this.#storeKey(key)),
    );
    return keys.map((key, index) => this.#open(key, sealed[index]));
  }

  async set(key: string, value: string, expiresAt: number): Promise<void> {
    await this.#deps.store.set(this.#storeKey(key), this.#seal(key, `${String(expiresAt)} ${value}`), expiresAt);
  }

  async delete(key: string): Promise<void> {
    await this.#deps.store.delete(this.#storeKey(key));
  }

  #storeKey(key: string): string {
    return this.#deps.prefix + createHash('sha256').update(key).digest('hex');
  }

  /** Version, key id and sealed text. With several keys: each id with the entry's sealed key, then the text. */
  #seal(key: string, text: string): string {
    const [first, ...further] = this.#deps.keys;
    if (further.length === 0) {
      return [VERSION, first.id, encrypted(first.key, key, Buffer.from(text)).toString('base64url')].join('.');
    }
    const own = randomBytes(KEY_BYTES);
    const wrapped = this.#deps.keys.map(
      (outer) => `${outer.id}.${encrypted(outer.key, key, own).toString('base64url')}`,
    );
    const sealed = encrypted(createSecretKey(own), key, Buffer.from(text)).toString('base64url');
    return [VERSION, ...wrapped, sealed].join('.');
  }

  #open(key: string, sealed: string | undefined): string | undefined {
    if (sealed === undefined) return undefined;
    const [version, ...parts] = sealed.split('.');
    const outer = version === VERSION ? this.#deps.keys.find(({ id }) => parts.includes(id)) : undefined;
    if (outer === undefined) return this.#fault('no configured key opens the entry');
    try {
      const inner = decrypted(outer.key, key, parts[parts.indexOf(outer.id) + 1]);
      const bytes = parts.length === 2 ? inner : decrypted(createSecretKey(inner), key, parts.at(-1));
      const text = bytes.toString('utf8');
      const space = text.indexOf(' ');
      return this.#deps.clock.now() < Number(text.slice(0, space)) ? text.slice(space + 1) : undefined;
    } catch {
      return this.#fault('the entry was changed, or belongs to another key');
    }
  }

  #fault(detail: string): undefined {
    this.#deps.telemetry.emit({ type: 'cache_fault', operation: 'open', detail });
  }
}

function encodedBytes(bytes: number): number {
  return Math.ceil(((NONCE_BYTES + bytes + TAG_BYTES) * 4) / 3);
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
