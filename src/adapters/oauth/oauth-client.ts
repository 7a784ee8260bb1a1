import { jwtClaims } from '../../domain/shared/json.js';
import type { ExchangeRefusal, Identity, IssueOutcome } from '../../ports/identity-provider.js';
import { type FailureRules, issueFailure, userRefusal } from './failure.js';
import { type ProviderError, thrownFault } from './provider-error.js';
import { type Fetch, type ReceivedToken, TokenCall, type TokenCallOptions } from './token-call.js';

/** The connection to a provider, and the identity of its application. */
export interface ConnectionOptions {
  /** Milliseconds for one call in total, discovery included. */
  readonly timeoutMs: number;
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** The owner of the tokens, and its proof. */
  readonly identity: () => Promise<Identity>;
}

/** A request for one token, sent by a provider's library. */
export interface TokenRequest {
  /** Sends the request through the call's network. */
  readonly send: (call: TokenCall) => Promise<ReceivedToken>;
  readonly rules: FailureRules;
  /** Texts to redact from the log. */
  readonly secrets: readonly string[];
}

/** Requests tokens from one provider. Caches only the provider's metadata between calls, and never throws. */
export class OAuthClient {
  readonly #options: Omit<TokenCallOptions, 'now'>;

  /** `allowInsecure`: also allows http on this machine. */
  constructor({ timeoutMs, fetch }: Omit<ConnectionOptions, 'identity'>, allowInsecure: boolean) {
    this.#options = {
      timeoutMs,
      // Looked up per call: a site may replace the global `fetch` later, as tracing does.
      fetch: fetch ?? ((url, options) => globalThis.fetch(url, options)),
      metadata: new Map(),
      allowInsecure,
    };
  }

  /** Gets a token for the application itself; `now` is milliseconds since the epoch. */
  async issue(request: TokenRequest, now: number): Promise<IssueOutcome> {
    const outcome = await this.#request(request, now);
    return 'value' in outcome ? token(outcome, now) : this.#failed(outcome, request, request.secrets);
  }

  /** Exchanges a user's token; the result never outlives it. `now` is milliseconds since the epoch. */
  async exchange(assertion: string, request: TokenRequest, now: number): Promise<IssueOutcome | ExchangeRefusal> {
    if (assertion === '') return { kind: 'user-refused', reason: 'expired', log: 'the session has no token' };
    const outcome = await this.#request(request, now);
    if ('value' in outcome) return token(outcome, now, jwtExpiry(assertion));
    const hidden = [...request.secrets, assertion];
    return userRefusal(outcome, request.rules, hidden) ?? this.#failed(outcome, request, hidden);
  }

  #failed(error: ProviderError, { rules }: TokenRequest, secrets: readonly string[]): IssueOutcome {
    // The token endpoint may have moved.
    for (const metadata of this.#options.metadata.values()) metadata.until = 0;
    return issueFailure(error, rules, secrets);
  }

  async #request({ send }: TokenRequest, now: number): Promise<ReceivedToken | ProviderError> {
    const call = new TokenCall({ ...this.#options, now });
    try {
      return await send(call);
    } catch (thrown) {
      // Also for invalid metadata with status 200.
      if (call.stage === 'metadata') this.#options.metadata.clear();
      return call.failure ?? thrownFault(thrown, 'local');
    }
  }
}

function token({ value, expiresInSeconds }: ReceivedToken, now: number, latest = Infinity): IssueOutcome {
  const expiresAt = Math.min(tokenExpiry(value, expiresInSeconds, now), latest);
  return { kind: 'token', token: { value, expiresAt } };
}

const UNKNOWN_LIFE_MS = 60_000;
const MAX_LIFE_MS = 86_400_000;

/**
 * The expiry of a token, in milliseconds since the epoch: from `expires_in`, otherwise from the token's own `exp`. A
 * token with neither, or with a past date, is cached for a minute; none is cached for more than a day.
 */
function tokenExpiry(token: string, expiresInSeconds: number | undefined, now: number): number {
  if (expiresInSeconds !== undefined) return now + Math.min(expiresInSeconds * 1000, MAX_LIFE_MS);
  const expiresAt = jwtExpiry(token);
  if (expiresAt !== undefined && expiresAt > now) return Math.min(expiresAt, now + MAX_LIFE_MS);
  return now + UNKNOWN_LIFE_MS;
}

/** The `exp` of a JWT in milliseconds since the epoch; undefined for any other text. The signature is not verified. */
function jwtExpiry(token: string): number | undefined {
  const exp = jwtClaims(token)?.['exp'];
  return typeof exp === 'number' && Number.isFinite(exp) ? exp * 1000 : undefined;
}
