/** What a request to the provider consists of. */
export interface FetchOptions {
  readonly method: 'GET' | 'POST';
  readonly headers: Record<string, string>;
  readonly body?: string;
  /** A secret must not follow a redirect to another place. */
  readonly redirect: 'manual';
  readonly signal: AbortSignal;
}

/** Sends one request; `globalThis.fetch` is one, and so is a `fetch` that trusts a private authority. */
export type Fetch = (url: string, options: FetchOptions) => Promise<Response>;
