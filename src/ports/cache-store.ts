/**
 * A store for short-lived text entries, possibly shared by several processes. A call that cannot be completed rejects;
 * visitors are then served without the store.
 *
 * @public
 */
export interface CacheStore {
  /** The entry, or `undefined` when there is none or it expired. */
  get(key: string): Promise<string | undefined>;
  /** The entries of several keys, in the same order, in one round trip. If absent, `get` is called for each key. */
  getMany?(keys: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** Stores an entry until `expiresAt` (milliseconds since the epoch), replacing an older one. Resolves once it is stored. */
  set(key: string, value: string, expiresAt: number): Promise<void>;
  /**
   * Stores an entry unless there is one, atomically, as `SET NX PX` of Redis does. True if this call stored it. If
   * absent, each process calls the platform and the identity provider for itself.
   */
  setIfAbsent?(key: string, value: string, expiresAt: number): Promise<boolean>;
  /** Removes an entry; does nothing if it is absent. */
  delete(key: string): Promise<void>;
  /**
   * Identifies the servers that hold these entries, or all entries, such as by the run id of Redis. Renders stored under
   * another one are not served, since a new primary may have lost actions. Default: always the same.
   */
  primary?(keys?: readonly string[]): string;
}
