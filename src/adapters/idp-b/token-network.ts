import { AuthError, type INetworkModule, type NetworkRequestOptions, type NetworkResponse } from '@azure/msal-node';
import { within } from '../oauth/deadline.js';
import { retryAfterMs } from '../oauth/retry-after.js';
import type { Fetch } from './fetch.js';
import type { MetadataCache } from './metadata-cache.js';
import { answerError, type ProviderError, type Stage, thrownError } from './provider-error.js';
import { type ProviderAnswer, sendRequest } from './send-request.js';

/** What the requests of one call need. */
export interface TokenNetworkOptions {
  readonly fetch: Fetch;
  /** Ends the call as a whole. */
  readonly deadline: AbortSignal;
  readonly timeoutMs: number;
  readonly metadata: MetadataCache;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * The network as msal-node sees it during one call.
 * Only good answers get through, and only the members needed of them: from a 429, a 5xx or a `Retry-After` msal-node would
 * learn to refuse the calls of other users, and an `id_token` nobody reads could spoil a good answer.
 */
export class TokenNetwork implements INetworkModule {
  readonly #options: TokenNetworkOptions;
  /** The request that came last. */
  stage: Stage = 'local';
  /** What went wrong, before msal-node made something less telling out of it. */
  failure: ProviderError | undefined;
  /** The life of the token in the answer, when it says one. */
  expiresInSeconds: number | undefined;

  constructor(options: TokenNetworkOptions) {
    this.#options = options;
  }

  async sendGetRequestAsync<T>(url: string, options?: NetworkRequestOptions): Promise<NetworkResponse<T>> {
    this.stage = 'metadata';
    const { fetch, deadline, timeoutMs, metadata } = this.#options;
    const { body } = await this.#goodAnswer(
      within(
        deadline,
        metadata.get(url, () =>
          // A deadline of its own: with the first caller's, that caller's impatience would fail everyone who waits.
          sendRequest(fetch, {
            method: 'GET',
            url,
            headers: options?.headers ?? {},
            deadline: AbortSignal.timeout(timeoutMs),
          }),
        ),
      ),
    );
    return { status: 200, headers: {}, body: body as T };
  }

  async sendPostRequestAsync<T>(url: string, options?: NetworkRequestOptions): Promise<NetworkResponse<T>> {
    this.stage = 'token';
    const { fetch, deadline, metadata } = this.#options;
    const { headers = {}, body: form = '' } = options ?? {};
    const asked = sendRequest(fetch, { method: 'POST', url, headers, body: form, deadline });
    const { body } = await this.#goodAnswer(asked).finally(() => {
      // The endpoint moved.
      if (this.failure?.kind === 'answer' && this.failure.status === 404) metadata.forget();
    });
    const { access_token: token, expires_in: expiresIn } = body;
    if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) {
      throw this.#failed(unreadable(this.stage, 'no token that could stand in a header field'));
    }
    this.expiresInSeconds = seconds(expiresIn);
    return { status: 200, headers: {}, body: { token_type: 'Bearer', access_token: token, expires_in: 60 } as T };
  }

  async #goodAnswer(asked: Promise<ProviderAnswer>): Promise<{ body: Readonly<Record<string, unknown>> }> {
    let answer: ProviderAnswer;
    try {
      answer = await asked;
    } catch (thrown) {
      throw this.#failed(thrownError(thrown, this.stage));
    }
    const { status, body, retryAfter } = answer;
    if (status !== 200 || body?.['error'] !== undefined) {
      throw this.#failed(answerError(this.stage, status, body, retryAfterMs(retryAfter, this.#options.now)));
    }
    if (body === undefined) throw this.#failed(unreadable(this.stage, 'no JSON object'));
    return { body };
  }

  // An AuthError is the only kind that msal-node lets pass as it is.
  #failed(failure: ProviderError): AuthError {
    this.failure = failure;
    return new AuthError('network_error', '');
  }
}

function unreadable(stage: Stage, description: string): ProviderError {
  return { kind: 'fault', stage, code: 'ERR_UNREADABLE_ANSWER', description };
}

function seconds(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}
