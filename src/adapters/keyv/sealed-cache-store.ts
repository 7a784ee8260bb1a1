import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { getMany } from '../../domain/shared/get-many.js';
import type { CacheStore } from '../../ports/cache-store.js';
import type { Clock } from '../../ports/clock.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { SealingKey } from './sealing-key.js';

/** What a sealed cache store is made of. */
export interface SealedCacheStoreDependencies {
  readonly store: CacheStore;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** The first seals, all of them open: put a new key first, and drop the old one when its entries have expired. */
  readonly keys: readonly [SealingKey, ...SealingKey[]];
  /** Begins every key in the store, to tell the entries of two sites apart. */
  readonly prefix: string;
}

const CIPHER = 'aes-256-gcm';
const VERSION = 'v1';
// Random nonces of 96 bits are safe for 2^32 entries per key (NIST SP 800-38D §8.3).
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Seals entries with AES-256-GCM before they leave the process, bound to their key and their end.
 * A reader of the store learns neither; an entry that was changed, swapped, outlived or sealed by an unknown key is a miss.
 */
export class SealedCacheStore implements CacheStore {
  readonly #store: CacheStore;
  readonly #clock: Clock;
  readonly #telemetry: Telemetry;
  readonly #keys: readonly [SealingKey, ...SealingKey[]];
  readonly #prefix: string;

  constructor(dependencies: SealedCacheStoreDependencies) {
    this.#store = dependencies.store;
    this.#clock = dependencies.clock;
    this.#telemetry = dependencies.telemetry;
    this.#keys = dependencies.keys;
    this.#prefix = dependencies.prefix;
  }

  async get(key: string): Promise<string | undefined> {
    return this.#open(key, await this.#store.get(this.#storeKey(key)));
  }

  async getMany(keys: readonly string[]): Promise<readonly (string | undefined)[]> {
    const sealed = await getMany(
      this.#store,
      keys.map((key) => this.#storeKey(key)),
    );
    return keys.map((key, index) => this.#open(key, sealed[index]));
  }

  async set(key: string, value: string, expiresAt: number): Promise<void> {
    await this.#store.set(this.#storeKey(key), this.#seal(key, `${String(expiresAt)} ${value}`), expiresAt);
  }

  async delete(key: string): Promise<void> {
    await this.#store.delete(this.#storeKey(key));
  }

  #storeKey(key: string): string {
    return this.#prefix + createHash('sha256').update(key).digest('hex');
  }

  #seal(key: string, text: string): string {
    const [{ id, key: sealing }] = this.#keys;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, sealing, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(key));
    const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${VERSION}.${id}.${sealed.toString('base64url')}`;
  }

  #open(key: string, sealed: string | undefined): string | undefined {
    if (sealed === undefined) return undefined;
    const [version, id, body = ''] = sealed.split('.');
    const opening = version === VERSION ? this.#keys.find((candidate) => candidate.id === id) : undefined;
    if (opening === undefined) return this.#fault('no configured key opens the entry');
    const bytes = Buffer.from(body, 'base64url');
    const end = bytes.length - TAG_BYTES;
    try {
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv(CIPHER, opening.key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(key)).setAuthTag(bytes.subarray(end));
      const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, end)), decipher.final()]).toString(
        'utf8',
      );
      const space = text.indexOf(' ');
      return this.#clock.now() < Number(text.slice(0, space)) ? text.slice(space + 1) : undefined;
    } catch {
      return this.#fault('the entry was changed, or belongs to another key');
    }
  }

  #fault(detail: string): undefined {
    this.#telemetry.emit({ type: 'cache_fault', operation: 'open', detail });
  }
}
