/** The part of a client that is used. */
export interface RedisClient {
  readonly isReady: boolean;
  connect(): Promise<unknown>;
  /** Ends the connection immediately. */
  destroy(): void;
  /** Lets the process end while the connection is open. */
  unref(): void;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  get(key: string): Promise<unknown>;
  /** `PX`: milliseconds to live. */
  set(key: string, value: string, options: { readonly PX: number }): Promise<unknown>;
  unlink(key: string): Promise<unknown>;
}

/** The part of the client library that is used. */
export interface RedisLibrary {
  createClient(options: { readonly url: string; readonly socket: { readonly reconnectStrategy: false } }): RedisClient;
}

type Resolve = (this: void, name: string) => string;

/** Whether the client library, which is optional, is installed; told without loading it. */
export function isRedisLibraryInstalled(
  resolve: Resolve | undefined = (import.meta as { readonly resolve?: Resolve }).resolve,
): boolean {
  // Bundles cannot resolve: what is missing then shows when it is loaded.
  if (resolve === undefined) return true;
  try {
    resolve('@keyv/redis');
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND';
  }
}

/** Loads the client library. */
export async function loadRedisLibrary(): Promise<RedisLibrary> {
  // Bundlers must leave this to the running process: they refuse to build when a package they can see is not there.
  return (await import(
    /* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ '@keyv/redis'
  )) as unknown as RedisLibrary;
}
