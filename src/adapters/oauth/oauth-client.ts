import type { Identity, IssueOutcome, ExchangeRefusal } from '../../ports/identity-provider.js';
import { type FailureRules, issueFailure, userRefusal } from './failure.js';
import { type ProviderError, thrownFault } from './provider-error.js';
import { type Fetch, type ReceivedToken, TokenCall, type TokenCallOptions } from './token-call.js';
import { jwtExpiry, tokenExpiry } from './token-expiry.js';

/** How requests to a provider are sent. */
export interface ConnectionOptions {
  /** Milliseconds for one call as a whole, discovery included. */
  readonly timeoutMs: number;
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** Whose tokens they are, and by which proof. */
  readonly identity: () => Promise<Identity>;
}

/** A request for one token, in the hands of a provider's library. */
export interface TokenRequest {
  /** Lets the library ask over the network of the call; its result is not read. */
  readonly send: (call: TokenCall) => Promise<unknown>;
  readonly rules: FailureRules;
  /** Texts to keep out of the log. */
  readonly secrets: readonly string[];
}

/** Asks one provider for tokens. It keeps nothing between calls but the provider's metadata, and never throws. */
export class OAuthClient {
  readonly #options: Omit<TokenCallOptions, 'now'>;

  /** `allowInsecure`: also over http. */
  constructor({ timeoutMs, fetch }: Omit<ConnectionOptions, 'identity'>, allowInsecure = false) {
    this.#options = {
      timeoutMs,
      // Looked up with each call: a site may replace the global one later, as tracing does.
      fetch: fetch ?? ((url, options) => globalThis.fetch(url, options)),
      metadata: new Map(),
      allowInsecure,
    };
  }

  /** Gets a token of the application's own; `now` is milliseconds since the epoch. */
  async issue(request: TokenRequest, now: number): Promise<IssueOutcome> {
    const outcome = await this.#request(request, now);
    return 'value' in outcome ? token(outcome, now) : issueFailure(outcome, request.rules, request.secrets);
  }

  /** Exchanges a user's token; the result never outlives it. `now` is milliseconds since the epoch. */
  async exchange(assertion: string, request: TokenRequest, now: number): Promise<IssueOutcome | ExchangeRefusal> {
    if (assertion === '') return { kind: 'user-refused', reason: 'expired', detail: 'the session has no token' };
    const outcome = await this.#request(request, now);
    if ('value' in outcome) return token(outcome, now, jwtExpiry(assertion));
    const hidden = [...request.secrets, assertion];
    return userRefusal(outcome, request.rules, hidden) ?? issueFailure(outcome, request.rules, hidden);
  }

  async #request({ send }: TokenRequest, now: number): Promise<ReceivedToken | ProviderError> {
    const call = new TokenCall({ ...this.#options, now });
    try {
      await send(call);
      if (call.token !== undefined) return call.token;
      throw new Error('the library sent no request for a token');
    } catch (thrown) {
      // Also metadata that came with status 200 and are none.
      if (call.stage === 'metadata') this.#options.metadata.clear();
      return call.failure ?? thrownFault(thrown, 'local');
    }
  }
}

function token({ value, expiresInSeconds }: ReceivedToken, now: number, latest = Infinity): IssueOutcome {
  const expiresAt = Math.min(tokenExpiry(value, expiresInSeconds, now), latest);
  return { kind: 'token', token: { value, expiresAt } };
}
