import {
  allowInsecureRequests,
  customFetch,
  discovery,
  None,
  type CustomFetch,
  type ServerMetadata,
} from 'openid-client';
import { within } from '../oauth/deadline.js';
import { fetchWithin } from './fetch-within.js';

/** Where to look, and how long. */
export interface IssuerMetadataOptions {
  readonly issuer: URL;
  readonly clientId: string;
  readonly timeoutMs: number;
  readonly fetch: CustomFetch;
}

/** Finds an issuer's endpoints once; a search that failed is forgotten, so that the next call looks again. */
export class IssuerMetadata {
  readonly #options: IssuerMetadataOptions;
  #found: Promise<ServerMetadata> | undefined;

  constructor(options: IssuerMetadataOptions) {
    this.#options = options;
  }

  /** The metadata; callers that come at once share one search. */
  get(): Promise<ServerMetadata> {
    if (this.#found !== undefined) return this.#found;
    const found = this.#search();
    this.#found = found;
    found.catch(() => {
      if (this.#found === found) this.#found = undefined;
    });
    return found;
  }

  /** Looks again at the next call. */
  forget(): void {
    this.#found = undefined;
  }

  async #search(): Promise<ServerMetadata> {
    const { issuer, clientId, timeoutMs, fetch } = this.#options;
    // A deadline of its own: with the first caller's, that caller's impatience would fail everyone who waits.
    const deadline = AbortSignal.timeout(timeoutMs);
    const search = discovery(issuer, clientId, undefined, None(), {
      [customFetch]: fetchWithin(deadline, fetch),
      execute: issuer.protocol === 'http:' ? [allowInsecureRequests] : [],
    });
    return (await within(deadline, search)).serverMetadata();
  }
}
