import type { Clock } from '../../ports/clock.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type {
  Identity,
  AccessToken,
  IssueFailure,
  IssueOutcome,
  ExchangeRefusal,
  TokenExchange,
  TokenExchangeRequest,
} from '../../ports/identity-provider.js';
import type { AgentBffError } from '../shared/errors.js';
import { reasonOf } from '../shared/failure-reason.js';
import { serviceAuthError, sessionError, statedIdentity } from './credential.js';
import { checkedOutcome, type WrongResult } from './site-results.js';
import { type TokenCache, unusable } from './token-cache.js';

export interface ExchangedTokensDependencies {
  readonly exchange: TokenExchange;
  /** May be the cache of the service tokens: the keys never overlap. */
  readonly tokens: TokenCache;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** A collision-resistant one-way hash, so that no user's token becomes part of a key. */
  readonly hash: (text: string) => string;
}

/** The configuration block to name if the exchange fails for every user. */
const BLOCK = 'onBehalfOf';

const EXCHANGE = { option: 'tokenExchange', name: '"exchange"', block: BLOCK } as const;

/** A signed-in user's token, and the target of its exchange. */
export interface UserAssertion extends TokenExchangeRequest {
  /** Expiry of the user's token, if known; the exchanged token does not outlive it. Milliseconds since the epoch. */
  readonly assertionExpiresAt?: number;
}

/** A token issued for the user, and its cache key. */
export interface ExchangedToken {
  readonly token: AccessToken;
  /** For `TokenCache.reject`, if the platform rejects the token. */
  readonly cacheKey: string;
  /** The principal of the exchange. */
  readonly principal: string;
}

/** A refusal of one user, in the form of a failure so that the token cache can pass it on. */
interface RefusedUser extends IssueFailure {
  readonly refusal: ExchangeRefusal;
}

/**
 * Exchanges users' tokens and caches the results per user. It never falls back to another credential: a user's request
 * is never sent in the service's name.
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
    const { exchange, tokens, clock, hash, telemetry } = this.#deps;
    const { assertionExpiresAt: end = Infinity, ...request } = user;
    const { assertion, audience = null, scope = null } = request;
    // All users without a token would share one key.
    if (assertion === '' || end <= clock.now()) throw sessionError('expired', 'the token of the session has expired');

    const { principal, proof } = await this.#identity();
    const cacheKey = JSON.stringify(['exchanged', principal, proof, audience, scope, hash(assertion)]);
    const outcome = await tokens.get(cacheKey, { block: BLOCK }, async (now) =>
      cacheable(checkedOutcome(await exchange.exchange(request, now), EXCHANGE, telemetry), end),
    );
    if (outcome.kind === 'failure') {
      if (!isRefusedUser(outcome)) throw exchangeError(outcome);
      const { reason, log, claims } = outcome.refusal;
      throw sessionError(reason, log, claims);
    }
    // The entry may come from a request that did not know when the user's token expires.
    return { token: capped(outcome.token, end), cacheKey, principal };
  }

  /** The identity of the exchange; an exchange that cannot state it is reported as out of order. */
  async #identity(): Promise<Identity> {
    try {
      return await statedIdentity(this.#deps.exchange);
    } catch (error) {
      throw exchangeError(unusable(BLOCK, reasonOf(error, 'the token exchange')));
    }
  }
}

function cacheable(outcome: IssueOutcome | ExchangeRefusal | WrongResult, end: number): IssueOutcome | RefusedUser {
  if (outcome.kind === 'token') return { kind: 'token', token: capped(outcome.token, end) };
  if (outcome.kind === 'failure') return outcome;
  return {
    kind: 'failure',
    // An expired token stays expired, so the user's own key backs off. Consent may be granted any moment, and
    // `incomplete` does not back off.
    reason: outcome.reason === 'expired' ? 'refused' : 'incomplete',
    block: 'session',
    fields: [],
    advice: '',
    log: outcome.log,
    refusal: outcome,
  };
}

function capped(token: AccessToken, end: number): AccessToken {
  return { value: token.value, expiresAt: Math.min(token.expiresAt, end) };
}

function isRefusedUser(failure: IssueFailure): failure is RefusedUser {
  return 'refusal' in failure;
}

function exchangeError(failure: IssueFailure): AgentBffError {
  return serviceAuthError(failure, {
    incomplete: "The configuration of the exchange of users' tokens is incomplete.",
    refused: "The exchange of users' tokens was refused.",
  });
}
