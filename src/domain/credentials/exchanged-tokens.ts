import type { Clock } from '../../ports/clock.js';
import type {
  Identity,
  AccessToken,
  IssueFailure,
  IssueOutcome,
  ExchangeRefusal,
  TokenExchange,
  TokenExchangeRequest,
} from '../../ports/identity-provider.js';
import type { ServiceAuthError } from '../shared/errors.js';
import { serviceAuthError, sessionError, statedIdentity } from './credential.js';
import { type TokenCache, unusable } from './token-cache.js';

/** The parts that exchanged tokens need. */
export interface ExchangedTokensDependencies {
  readonly exchange: TokenExchange;
  /** May be the cache of the service tokens: no key of one is a key of the other. */
  readonly tokens: TokenCache;
  readonly clock: Clock;
  /** A one-way function without collisions, so that no user's token becomes part of a key. */
  readonly hash: (text: string) => string;
  /** The configuration block named when the exchange fails for every user, such as `onBehalfOf`. */
  readonly block: string;
}

/** A signed-in user's token, and what it is to be exchanged for. */
export interface UserAssertion extends TokenExchangeRequest {
  /** When the user's token expires, if known; the exchanged one does not outlive it. Milliseconds since the epoch. */
  readonly assertionExpiresAt?: number;
}

/** A token in the user's name, and where it is cached. */
export interface ExchangedToken {
  readonly token: AccessToken;
  /** For `TokenCache.reject`, when the platform refuses the token. */
  readonly cacheKey: string;
  /** The principal of the exchange. */
  readonly principal: string;
}

/** A refusal on its way through the cache, which knows failures only. */
interface RefusedUser extends IssueFailure {
  readonly refusal: ExchangeRefusal['reason'];
}

/**
 * Exchanges users' tokens and keeps the results, each for its own user alone.
 * There is no other credential to fall back to: a user's request never goes out in the service's name.
 */
export class ExchangedTokens {
  readonly #deps: ExchangedTokensDependencies;

  constructor(dependencies: ExchangedTokensDependencies) {
    this.#deps = dependencies;
  }

  /**
   * The exchanged token of one user.
   *
   * @throws SessionError (`session_expired`, `interaction_required`) when the user must act.
   * @throws ServiceAuthError naming block and fields when the exchange fails for every user.
   */
  async obtain(user: UserAssertion): Promise<ExchangedToken> {
    const { assertion, audience, scope } = user;
    const { exchange, tokens, clock, hash, block } = this.#deps;
    const end = user.assertionExpiresAt ?? Number.POSITIVE_INFINITY;
    // Users without a token would all have one key.
    if (assertion === '' || end <= clock.now()) throw sessionError('expired', 'the token of the session has expired');

    const request = { assertion, ...(audience !== undefined && { audience }), ...(scope !== undefined && { scope }) };
    const { principal, proof } = await this.#identity();
    const cacheKey = JSON.stringify(['exchanged', principal, proof, audience ?? null, scope ?? null, hash(assertion)]);
    const outcome = await tokens.get(cacheKey, block, async (now) =>
      cacheable(await exchange.exchange(request, now), end),
    );
    if (outcome.kind === 'failure') {
      throw isRefusedUser(outcome) ? sessionError(outcome.refusal, outcome.detail) : exchangeError(outcome);
    }
    // The entry may be the work of a request that did not know when the user's token expires.
    return { token: capped(outcome.token, end), cacheKey, principal };
  }

  /** The identity of the exchange; one that cannot state it is out of order. */
  async #identity(): Promise<Identity> {
    const { exchange, block } = this.#deps;
    try {
      return await statedIdentity(exchange);
    } catch (error) {
      const kind = error instanceof Error ? error.name : typeof error;
      throw exchangeError(unusable(block, `the token exchange threw ${kind}`));
    }
  }
}

function cacheable(outcome: IssueOutcome | ExchangeRefusal, end: number): IssueOutcome | RefusedUser {
  if (outcome.kind === 'token') return { kind: 'token', token: capped(outcome.token, end) };
  if (outcome.kind === 'failure') return outcome;
  return {
    kind: 'failure',
    // An expired token stays expired, so this user's own key rests. Consent may be given any moment: `incomplete` does not rest.
    reason: outcome.reason === 'expired' ? 'refused' : 'incomplete',
    block: 'session',
    fields: [],
    advice: '',
    detail: outcome.detail,
    refusal: outcome.reason,
  };
}

function capped(token: AccessToken, end: number): AccessToken {
  return { value: token.value, expiresAt: Math.min(token.expiresAt, end) };
}

function isRefusedUser(failure: IssueFailure): failure is RefusedUser {
  return 'refusal' in failure;
}

function exchangeError(failure: IssueFailure): ServiceAuthError {
  return serviceAuthError(failure, {
    incomplete: "The configuration of the exchange of users' tokens is incomplete.",
    refused: "The exchange of users' tokens was refused.",
  });
}
