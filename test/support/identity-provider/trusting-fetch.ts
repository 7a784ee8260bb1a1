import { Agent, fetch } from 'undici';

/** A `fetch` that trusts one more authority. */
export interface TrustingFetch {
  readonly fetch: (url: string, options: object) => Promise<Response>;
  /** Closes its connections. */
  close(): Promise<void>;
}

/** Creates a `fetch` that trusts only the given authority in PEM form. */
export function trustingFetch(ca: string): TrustingFetch {
  const dispatcher = new Agent({ connect: { ca } });
  return {
    // undici's Response is the global one with another type.
    fetch: (url, options) => fetch(url, { ...options, dispatcher }) as unknown as Promise<Response>,
    close: () => dispatcher.destroy(),
  };
}
