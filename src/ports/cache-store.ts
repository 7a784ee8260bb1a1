/**
 * A place for short-lived text entries, possibly shared by several processes.
 * It is an accelerator: a store that is slow, down or wrong gives a miss and never throws.
 *
 * @public
 */
export interface CacheStore {
  /** The entry, or `undefined` when there is none, it expired, or the store did not respond in time. */
  get(key: string): Promise<string | undefined>;
  /** The entries of several keys, in their order, in one round trip. Without it, `get` is called for each key. */
  getMany?(keys: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** Keeps an entry until `expiresAt` (milliseconds since the epoch); replaces an older one. */
  set(key: string, value: string, expiresAt: number): Promise<void>;
  /** Removes an entry; removing an absent one is no error. */
  delete(key: string): Promise<void>;
}
