import type { IdentityProvider, IssueOutcome } from '../../ports/identity-provider.js';
import { tokenExpiry } from '../oauth/token-expiry.js';
import { BLOCK } from './block.js';
import { classifyFailure } from './classify-failure.js';
import { TokenClient, type TokenClientOptions } from './token-client.js';

/** What a service token of `idp_b` depends on; an empty string is a value not supplied. */
export interface IdpBProviderOptions extends TokenClientOptions {
  /** Sent as it is; Entra wants one that ends in `/.default`. */
  readonly scope: string;
}

/** Gets service tokens from an Entra-like provider: client credentials, by certificate or by secret (spec §5.4). */
export class IdpBProvider implements IdentityProvider {
  readonly block: string = BLOCK;
  readonly #client: TokenClient;
  readonly #scope: string;

  constructor(options: IdpBProviderOptions) {
    this.#client = new TokenClient(options);
    this.#scope = options.scope;
  }

  async fingerprint(): Promise<string> {
    return JSON.stringify(['idp_b', 'client_credentials', ...(await this.#client.identity()), this.#scope]);
  }

  async issue(now: number): Promise<IssueOutcome> {
    const answer = await this.#client.request(
      (application, scopes) =>
        application.acquireTokenByClientCredential({ scopes, skipCache: true, azureRegion: NO_REGION }),
      this.#scope,
      now,
    );
    if (answer.kind === 'failure') return answer;
    if (answer.kind === 'error') {
      const { error, credential, secrets } = answer;
      return classifyFailure(error, { grant: 'client_credentials', scope: this.#scope, credential, secrets });
    }
    const { value, expiresInSeconds } = answer;
    return { kind: 'token', token: { value, expiresAt: tokenExpiry(value, expiresInSeconds, now) } };
  }
}

// Else a variable of the environment could send the credential to another host.
const NO_REGION = 'DisableMsalForceRegion';
