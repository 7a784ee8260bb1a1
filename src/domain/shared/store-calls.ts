interface Store {
  get(key: string): Promise<string | undefined>;
  getMany?(keys: readonly string[]): Promise<readonly (string | undefined)[]>;
}

/** The entries of several keys, in their order: in one call if the store supports it. */
export function getMany(store: Store, keys: readonly string[]): Promise<readonly (string | undefined)[]> {
  return store.getMany?.(keys) ?? Promise.all(keys.map((key) => store.get(key)));
}

/** The error of a call to a store that is not called for now, because several calls in a row failed or it is not connected yet. */
export const STORE_AWAY: Error = new Error('the shared store is away');
