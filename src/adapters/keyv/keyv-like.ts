/**
 * The part of a Keyv (5 or 6) that is used.
 *
 * @public
 */
export interface KeyvLike {
  /** The value, or anything else when there is none. */
  get(key: string): Promise<unknown>;
  /** `ttl` in milliseconds; 0 would be for ever. */
  set(key: string, value: string, ttl: number): Promise<unknown>;
  /** Removes an entry. */
  delete(key: string): Promise<unknown>;
  /** Keyv tells faults of its store this way. */
  on?(event: 'error', listener: (error: unknown) => void): unknown;
}

/** Whether a configured store is a Keyv; a `CacheStore` has the same three methods, but no events and no store inside. */
export function isKeyv(store: object): store is KeyvLike {
  return typeof (store as { on?: unknown }).on === 'function' && 'store' in store;
}
