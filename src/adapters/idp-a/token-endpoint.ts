import {
  allowInsecureRequests,
  ClientSecretPost,
  Configuration,
  customFetch,
  genericGrantRequest,
  type CustomFetch,
  type ServerMetadata,
} from 'openid-client';
import type { Secret } from '../../domain/shared/secret.js';
import { within } from '../oauth/deadline.js';
import { fetchWithin } from './fetch-within.js';
import { issuerAddress } from './issuer-address.js';
import { IssuerMetadata } from './issuer-metadata.js';
import { lenientFetch } from './lenient-fetch.js';
import { providerError, type ProviderError, type Stage } from './provider-error.js';

/** Where to ask, and as whom. */
export interface TokenEndpointOptions {
  /** Host name or address of the tenant. */
  readonly domain: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  /** Milliseconds for one call as a whole, discovery included. */
  readonly timeoutMs: number;
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: CustomFetch | undefined;
  /** Lets `domain` be an http address of this machine, for tests. Default false. */
  readonly allowInsecure?: boolean | undefined;
}

/** What the token endpoint answered. */
export type TokenAnswer =
  | { readonly kind: 'token'; readonly value: string; readonly expiresInSeconds: number | undefined }
  | { readonly kind: 'error'; readonly error: ProviderError };

/** Asks one issuer for tokens: finds its token endpoint once, sends the client secret in the form, and never throws. */
export class TokenEndpoint {
  readonly #options: TokenEndpointOptions;
  readonly #fetch: CustomFetch;
  readonly #metadata: IssuerMetadata | undefined;
  readonly #addressFault: string;
  /** The issuer's address; empty when the configured domain is none. */
  readonly issuer: string;

  constructor(options: TokenEndpointOptions) {
    const { domain, clientId, timeoutMs, allowInsecure = false } = options;
    this.#options = options;
    this.#fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init as RequestInit));
    const address = issuerAddress(domain, allowInsecure);
    this.#addressFault = address.kind === 'issuer' ? '' : address.detail;
    this.issuer = address.kind === 'issuer' ? address.url.href : '';
    if (address.kind === 'issuer') {
      this.#metadata = new IssuerMetadata({ issuer: address.url, clientId, timeoutMs, fetch: this.#fetch });
    }
  }

  /** Asks once; `now` is milliseconds since the epoch. */
  async request(grant: string, parameters: Record<string, string>, now: number): Promise<TokenAnswer> {
    if (this.#metadata === undefined) {
      const description = this.#addressFault;
      return { kind: 'error', error: { kind: 'fault', stage: 'metadata', code: 'ERR_INVALID_URL', description } };
    }
    // The search's deadline starts before ours, so that a search that hangs is forgotten when we give it up.
    const search = this.#metadata.get();
    const deadline = AbortSignal.timeout(this.#options.timeoutMs);
    const metadata = await settle(search, { stage: 'metadata', deadline, now });
    if (metadata.kind === 'error') return metadata;
    const answer = await settle(this.#ask(metadata.value, grant, parameters, deadline), {
      stage: 'token',
      deadline,
      now,
    });
    if (answer.kind === 'value') return { kind: 'token', ...answer.value };
    // The endpoint moved.
    if (answer.error.kind === 'answer' && answer.error.status === 404) this.#metadata.forget();
    return answer;
  }

  async #ask(
    metadata: ServerMetadata,
    grant: string,
    parameters: Record<string, string>,
    deadline: AbortSignal,
  ): Promise<{ value: string; expiresInSeconds: number | undefined }> {
    const { clientId, clientSecret } = this.#options;
    const authentication = ClientSecretPost(clientSecret.reveal());
    const configuration = new Configuration(metadata, clientId, undefined, authentication);
    configuration[customFetch] = lenientFetch(fetchWithin(deadline, this.#fetch));
    if (this.issuer.startsWith('http:')) allowInsecureRequests(configuration);
    const { access_token: value, expires_in: expiresInSeconds } = await genericGrantRequest(
      configuration,
      grant,
      parameters,
    );
    if (!/^[\x21-\x7e]+$/.test(value)) throw new Error('the token cannot stand in a header field');
    return { value, expiresInSeconds };
  }
}

type Settled<T> =
  { readonly kind: 'value'; readonly value: T } | { readonly kind: 'error'; readonly error: ProviderError };

// Reading the answer behind an error is under the deadline too.
async function settle<T>(
  work: Promise<T>,
  { stage, deadline, now }: { stage: Stage; deadline: AbortSignal; now: number },
): Promise<Settled<T>> {
  const described = work.then(
    (value): Settled<T> => ({ kind: 'value', value }),
    async (thrown): Promise<Settled<T>> => ({ kind: 'error', error: await providerError(thrown, stage, now) }),
  );
  try {
    return await within(deadline, described);
  } catch (expired) {
    return { kind: 'error', error: await providerError(expired, stage, now) };
  }
}
