import { Keyv } from 'keyv';

/** What a Keyv without serialisation hands to its storage. */
export interface StoredText {
  readonly value: string;
}

/** The part of Keyv's storage adapter that the storages of this package fill in. */
export interface TextStorage {
  get(key: string): Promise<StoredText | undefined>;
  getMany(keys: readonly string[]): Promise<readonly (StoredText | undefined)[]>;
  /** `ttl` in milliseconds. */
  set(key: string, text: StoredText, ttl: number): Promise<unknown>;
  delete(key: string): Promise<unknown>;
  clear(): Promise<void>;
}

/** A Keyv over a storage of this package: keys and texts reach it unchanged, and what it throws is thrown. */
export function keyvOver(store: TextStorage): Keyv {
  const keyv = new Keyv({ store, useKeyPrefix: false, throwOnErrors: true });
  keyv.serialize = undefined;
  keyv.deserialize = undefined;
  return keyv;
}
