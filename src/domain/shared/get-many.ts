interface Store {
  get(key: string): Promise<string | undefined>;
  getMany?(keys: readonly string[]): Promise<readonly (string | undefined)[]>;
}

/** The entries of several keys, in their order: in one call if the store supports it. */
export function getMany(store: Store, keys: readonly string[]): Promise<readonly (string | undefined)[]> {
  return store.getMany?.(keys) ?? Promise.all(keys.map((key) => store.get(key)));
}
