/** Values by key, in memory. */
export interface MemoryMap<Value> extends Iterable<readonly [key: string, value: Value]> {
  /** The value, unless it has expired or was evicted. */
  get(key: string): Value | undefined;
  /** Stores a value of about `bytes` until `expiresAt` (milliseconds since the epoch). One that is too large is not stored. */
  set(key: string, value: Value, bytes: number, expiresAt: number): void;
  delete(key: string): void;
}

/**
 * The memory of one toolkit. All toolkits of a process share one bound in bytes: when it is reached, the least recently
 * used value of any of them is evicted.
 */
export interface Memory {
  /** A new map. */
  map<Value>(): MemoryMap<Value>;
}
