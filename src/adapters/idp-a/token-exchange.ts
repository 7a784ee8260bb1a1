import type { IssueOutcome } from '../../ports/identity-provider.js';
import type { ExchangeRefusal, TokenExchange, TokenExchangeRequest } from '../../ports/token-exchange.js';
import { credentialFingerprint } from '../oauth/credential-fingerprint.js';
import { redactSecrets } from '../oauth/redact-secrets.js';
import { jwtExpiry, tokenExpiry } from '../oauth/token-expiry.js';
import { classifyFailure, MAX_DETAIL } from './classify-failure.js';
import { missingFields } from './missing-fields.js';
import type { ProviderError } from './provider-error.js';
import { requestedScope } from './requested-scope.js';
import { TokenEndpoint, type TokenEndpointOptions } from './token-endpoint.js';

/** What an exchanged token of `idp_a` depends on besides the user; an empty string is a value not supplied. */
export interface IdpATokenExchangeOptions extends TokenEndpointOptions {
  /** Used when a request names no audience. */
  readonly audience: string;
  /** Used when a request names no scope. */
  readonly scope: string;
  /** The type of the user's token; Auth0 wants the one registered for the exchange. Empty: `urn:ietf:params:oauth:token-type:access_token`. */
  readonly subjectTokenType: string;
  /** Key of the credential fingerprint; processes that share a cache share it. Default: random for this process. */
  readonly fingerprintKey?: string | Uint8Array | undefined;
}

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

/** Exchanges a user's token at an Auth0-like provider (RFC 8693); the result never outlives the user's own token. */
export class IdpATokenExchange implements TokenExchange {
  readonly #options: IdpATokenExchangeOptions;
  readonly #endpoint: TokenEndpoint;

  constructor(options: IdpATokenExchangeOptions) {
    this.#options = options;
    this.#endpoint = new TokenEndpoint(options);
  }

  fingerprint(): Promise<string> {
    const { clientId, clientSecret, audience, scope, fingerprintKey } = this.#options;
    const credential = credentialFingerprint([clientSecret.reveal()], fingerprintKey);
    const defaults = [audience, requestedScope(scope), this.#subjectTokenType()];
    return Promise.resolve(
      JSON.stringify(['idp_a', this.#endpoint.issuer, clientId, ...defaults, 'token_exchange', credential]),
    );
  }

  async exchange(request: TokenExchangeRequest, now: number): Promise<IssueOutcome | ExchangeRefusal> {
    const { domain, clientId, clientSecret } = this.#options;
    const { assertion } = request;
    const missing = missingFields({ idpA: { domain, clientId, clientSecret: clientSecret.reveal() } });
    if (missing !== undefined) return missing;
    if (assertion === '') return { kind: 'user-refused', reason: 'expired', detail: 'the session has no token' };

    const audience = request.audience ?? this.#options.audience;
    const scope = requestedScope(request.scope ?? this.#options.scope);
    const answer = await this.#endpoint.request(
      TOKEN_EXCHANGE,
      {
        subject_token: assertion,
        subject_token_type: this.#subjectTokenType(),
        ...(audience !== '' && { audience }),
        ...(scope !== '' && { scope }),
      },
      now,
    );
    if (answer.kind === 'error') {
      const secrets = [clientSecret.reveal(), assertion];
      return userRefusal(answer.error, secrets) ?? classifyFailure(answer.error, 'token_exchange', secrets);
    }
    const { value, expiresInSeconds } = answer;
    const expiresAt = Math.min(
      tokenExpiry(value, expiresInSeconds, now),
      jwtExpiry(assertion) ?? Number.POSITIVE_INFINITY,
    );
    return { kind: 'token', token: { value, expiresAt } };
  }

  #subjectTokenType(): string {
    const { subjectTokenType } = this.#options;
    return subjectTokenType === '' ? ACCESS_TOKEN : subjectTokenType;
  }
}

// Only what the user can mend is the user's: a wrong client secret must not end every session.
function userRefusal(error: ProviderError, secrets: readonly string[]): ExchangeRefusal | undefined {
  if (error.kind !== 'answer' || error.status >= 500) return undefined;
  const reason = EXCHANGE_REFUSALS.get(error.error) ?? subjectTokenRefusal(error.error, error.description);
  if (reason === undefined) return undefined;
  const detail = redactSecrets(`${error.status} ${error.error}: ${error.description}`, secrets, MAX_DETAIL);
  return { kind: 'user-refused', reason, detail };
}

const EXCHANGE_REFUSALS: ReadonlyMap<string, ExchangeRefusal['reason']> = new Map([
  ['invalid_grant', 'expired'],
  ['invalid_token', 'expired'],
  ['login_required', 'expired'],
  ['consent_required', 'interaction'],
  ['interaction_required', 'interaction'],
  ['mfa_required', 'interaction'],
  ['mfa_registration_required', 'interaction'],
]);

// RFC 8693 §2.2.2 wants `invalid_request` for a user's token that is not accepted, which also stands for much else.
function subjectTokenRefusal(error: string, description: string): ExchangeRefusal['reason'] | undefined {
  const aboutToken = /subject[_ ]token(?!_type)/i.test(description);
  return error === 'invalid_request' && aboutToken ? 'expired' : undefined;
}
