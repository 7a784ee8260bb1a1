/**
 * A store for short-lived text entries, possibly shared by several processes. A call that cannot be completed rejects;
 * visitors are then served without the store. It must read its own writes.
 *
 * @public
 */
export interface CacheStore {
  /** The entry, or `undefined` when there is none or it expired. */
  get(key: string): Promise<string | undefined>;
  /** Stores an entry until `expiresAt` (milliseconds since the epoch), replacing an older one. Resolves once it is stored. */
  set(key: string, value: string, expiresAt: number): Promise<void>;
  /** Removes an entry; does nothing if it is absent. */
  delete(key: string): Promise<void>;
}
