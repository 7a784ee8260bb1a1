/**
 * A store for short-lived text entries, possibly shared by several processes. It is an accelerator: a slow, unreachable
 * or faulty store results in a miss and never throws.
 *
 * @public
 */
export interface CacheStore {
  /** The entry, or `undefined` when there is none, it expired, or the store did not respond in time. */
  get(key: string): Promise<string | undefined>;
  /** The entries of several keys, in the same order, in one round trip. If absent, `get` is called for each key. */
  getMany?(keys: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** Stores an entry until `expiresAt` (milliseconds since the epoch), replacing an older one. */
  set(key: string, value: string, expiresAt: number): Promise<void>;
  /** Removes an entry; does nothing if it is absent. */
  delete(key: string): Promise<void>;
}
