import type { IssueOutcome } from '../../ports/identity-provider.js';
import type { ExchangeRefusal, TokenExchange, TokenExchangeRequest } from '../../ports/token-exchange.js';
import { jwtExpiry, tokenExpiry } from '../oauth/token-expiry.js';
import { classifyFailure } from './classify-failure.js';
import { TokenClient, type TokenClientOptions } from './token-client.js';
import { userRefusal } from './user-refusal.js';

/** What an exchanged token of `idp_b` depends on besides the user; an empty string is a value not supplied. */
export interface IdpBTokenExchangeOptions extends TokenClientOptions {
  /** Used when a request names neither scope nor audience. */
  readonly scope: string;
}

/** Exchanges a user's token at an Entra-like provider (On-Behalf-Of); the result never outlives the user's own token. */
export class IdpBTokenExchange implements TokenExchange {
  readonly #client: TokenClient;
  readonly #scope: string;

  constructor(options: IdpBTokenExchangeOptions) {
    this.#client = new TokenClient(options);
    this.#scope = options.scope;
  }

  async fingerprint(): Promise<string> {
    return JSON.stringify(['idp_b', 'on_behalf_of', ...(await this.#client.identity()), this.#scope]);
  }

  async exchange(request: TokenExchangeRequest, now: number): Promise<IssueOutcome | ExchangeRefusal> {
    const { assertion } = request;
    const scope = this.#requestedScope(request);
    if (assertion === '') return { kind: 'user-refused', reason: 'expired', detail: 'the session has no token' };
    const answer = await this.#client.request(
      (application, scopes) => application.acquireTokenOnBehalfOf({ scopes, oboAssertion: assertion, skipCache: true }),
      scope,
      now,
    );
    if (answer.kind === 'failure') return answer;
    if (answer.kind === 'error') {
      const { error, credential } = answer;
      const secrets = [...answer.secrets, assertion];
      return (
        userRefusal(error, secrets) ?? classifyFailure(error, { grant: 'on_behalf_of', scope, credential, secrets })
      );
    }
    const { value, expiresInSeconds } = answer;
    const expiresAt = Math.min(
      tokenExpiry(value, expiresInSeconds, now),
      jwtExpiry(assertion) ?? Number.POSITIVE_INFINITY,
    );
    return { kind: 'token', token: { value, expiresAt } };
  }

  // Entra has no audience: it is the part of a scope before the last slash, and `.default` stands for all that was consented to.
  #requestedScope({ scope = '', audience = '' }: TokenExchangeRequest): string {
    if (scope !== '') return scope;
    return audience === '' ? this.#scope : `${audience}/.default`;
  }
}
