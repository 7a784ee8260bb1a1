import type { IdentityProvider, IssueOutcome } from '../../ports/identity-provider.js';
import type { Secret } from '../../domain/shared/secret.js';
import { credentialFingerprint } from '../oauth/credential-fingerprint.js';
import { tokenExpiry } from '../oauth/token-expiry.js';
import { classifyFailure } from './classify-failure.js';
import { missingFields } from './missing-fields.js';
import { requestedScope } from './requested-scope.js';
import { TokenEndpoint, type TokenEndpointOptions } from './token-endpoint.js';

/** What a service token of `idp_a` depends on; an empty string is a value not supplied. */
export interface IdpAProviderOptions extends TokenEndpointOptions {
  /** Signs in as the service user, or as the application itself. */
  readonly grant: 'password' | 'client_credentials';
  readonly audience: string;
  readonly scope: string;
  /** Name of the user directory; without one the tenant's default directory is asked. */
  readonly realm: string;
  readonly username: string;
  readonly password: Secret;
  /** Key of the credential fingerprint; processes that share a cache share it. Default: random for this process. */
  readonly fingerprintKey?: string | Uint8Array | undefined;
}

const PASSWORD_REALM = 'http://auth0.com/oauth/grant-type/password-realm';

/** Gets service tokens from an Auth0-like provider: password grant or client credentials (spec §5.3). */
export class IdpAProvider implements IdentityProvider {
  readonly block: string = 'idpA';
  readonly #options: IdpAProviderOptions;
  readonly #endpoint: TokenEndpoint;
  readonly #scope: string;

  constructor(options: IdpAProviderOptions) {
    this.#options = options;
    this.#endpoint = new TokenEndpoint(options);
    this.#scope = requestedScope(options.scope);
  }

  fingerprint(): Promise<string> {
    const { grant, clientId, audience, realm, username, fingerprintKey } = this.#options;
    const principal = grant === 'password' ? [username, realm] : ['', ''];
    const credential = credentialFingerprint(this.#secrets(), fingerprintKey);
    return Promise.resolve(
      JSON.stringify([
        'idp_a',
        this.#endpoint.issuer,
        clientId,
        ...principal,
        audience,
        this.#scope,
        grant,
        credential,
      ]),
    );
  }

  async issue(now: number): Promise<IssueOutcome> {
    const { grant, domain, clientId, clientSecret, username, password } = this.#options;
    const missing = missingFields({
      idpA: { domain, clientId, clientSecret: clientSecret.reveal() },
      ...(grant === 'password' && { idpAServiceUser: { username, password: password.reveal() } }),
    });
    if (missing !== undefined) return missing;
    const answer = await this.#endpoint.request(...this.#request(), now);
    if (answer.kind === 'error') return classifyFailure(answer.error, grant, this.#secrets());
    const { value, expiresInSeconds } = answer;
    return { kind: 'token', token: { value, expiresAt: tokenExpiry(value, expiresInSeconds, now) } };
  }

  #request(): [grant: string, parameters: Record<string, string>] {
    const { grant, audience, realm, username, password } = this.#options;
    const wanted = { ...(audience !== '' && { audience }), ...(this.#scope !== '' && { scope: this.#scope }) };
    if (grant === 'client_credentials') return [grant, wanted];
    const signIn = { ...wanted, username, password: password.reveal() };
    return realm === '' ? [grant, signIn] : [PASSWORD_REALM, { ...signIn, realm }];
  }

  #secrets(): string[] {
    const { grant, clientSecret, password } = this.#options;
    return grant === 'password' ? [clientSecret.reveal(), password.reveal()] : [clientSecret.reveal()];
  }
}
