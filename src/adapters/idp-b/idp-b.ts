import { ConfidentialClientApplication, type INetworkModule, type NetworkResponse } from '@azure/msal-node';
import type { IdentityProvider, IssueFailure, IssueOutcome } from '../../ports/identity-provider.js';
import type { ExchangeRefusal, TokenExchange, TokenExchangeRequest } from '../../ports/token-exchange.js';
import { credentialFingerprint } from '../oauth/credential-fingerprint.js';
import { fromRoute, missingFields, type Places, placesIn } from '../oauth/failure.js';
import { type ConnectionOptions, OAuthClient, type TokenRequest } from '../oauth/oauth-client.js';
import type { TokenCall } from '../oauth/token-call.js';
import { type ClientCredential, clientCredential, type ClientCredentialOptions } from './client-credential.js';
import { failureRules, type Grant } from './failure-rules.js';
import { type TenantAddress, tenantAddress } from './tenant-address.js';

/** What every token of `idp_b` depends on; an empty string is a value not supplied. */
export interface IdpBOptions extends ClientCredentialOptions, ConnectionOptions {
  /** Identifier or domain of the tenant. */
  readonly tenantId: string;
  readonly clientId: string;
  /** Sent as it is; Entra wants one that ends in `/.default`. An exchange uses it when a request names neither scope nor audience. */
  readonly scope: string;
  /** Address of the cloud, without the tenant. Default: `https://login.microsoftonline.com`. */
  readonly authority?: string | undefined;
  /** Names of the fields the `onBehalfOf` block sets; the others are those of `idpBService`. Default: none. */
  readonly own?: ReadonlySet<string> | undefined;
}

// Else a variable of the environment could send the credential to another host.
const NO_REGION = 'DisableMsalForceRegion';

/** An application at an Entra-like provider. */
class Application {
  readonly client: OAuthClient;
  /** As configured. */
  readonly scope: string;
  /** Where its values were configured. */
  readonly places: Places;
  readonly #options: IdpBOptions;
  readonly #address: TenantAddress;
  readonly #clientId: string;

  constructor(options: IdpBOptions) {
    this.#options = options;
    this.scope = options.scope;
    this.places = placesIn('idpBService', options.own);
    this.#address = tenantAddress(options.tenantId.trim(), options.authority ?? '');
    this.#clientId = options.clientId.trim();
    this.client = new OAuthClient(options);
  }

  /** Tenant, application, scope and credential, without a secret in it. */
  async fingerprint(grant: Grant): Promise<string> {
    const { clientSecret, certificate, scope, fingerprintKey } = this.#options;
    const reading = await certificate?.read();
    // By its advice: another fault is another failure, so a back-off must not repeat the words of the last one.
    const proof = reading?.kind === 'certificate' ? reading.thumbprintSha256 : reading?.advice;
    return JSON.stringify([
      'idp_b',
      grant,
      this.#address.kind === 'address' ? this.#address.authority : '',
      this.#clientId,
      reading?.kind ?? 'secret',
      credentialFingerprint([proof ?? clientSecret.reveal()], fingerprintKey),
      scope,
    ]);
  }

  /** The request for a list of scopes separated by spaces, or the reason why nobody can be asked. */
  async request(
    grant: Grant,
    scope: string,
    now: number,
    places: Places,
    ask: (library: ConfidentialClientApplication, scopes: string[]) => Promise<unknown>,
  ): Promise<TokenRequest | IssueFailure> {
    const { tenantId, clientId, certificate } = this.#options;
    const clientSecret = certificate === undefined ? this.#options.clientSecret.reveal() : 'not needed';
    const instead = { clientSecret: ['certificatePath', 'privateKeyPath'] };
    const missing = missingFields(places, { tenantId, clientId, scope, clientSecret }, instead);
    if (missing !== undefined) return missing;
    const address = this.#address;
    if (address.kind === 'unusable') {
      const { block } = places.of('tenantId');
      const advice = `Check "tenantId" in the "${block}" configuration block: it ${address.note}.`;
      const detail = `tenantId ${address.note}`;
      return { kind: 'failure', reason: 'refused', block, fields: ['tenantId'], advice, detail };
    }
    const credential = await clientCredential(this.#options, places, now);
    if (credential.kind === 'failure') return credential;
    return {
      send: (call) => ask(this.#library(address, credential, call), scope.trim().split(/\s+/)),
      rules: failureRules({ grant, scope, credential: credential.kind, places }),
      secrets: [credential.secret.reveal()],
    };
  }

  // One for each call: what msal-node remembers mixes up users and replays failures (decision 8).
  #library(
    { authority, host }: Extract<TenantAddress, { kind: 'address' }>,
    { kind, secret, thumbprintSha256 }: ClientCredential,
    call: TokenCall,
  ): ConfidentialClientApplication {
    return new ConfidentialClientApplication({
      auth: {
        clientId: this.#clientId,
        authority,
        // Else msal-node asks a public address of Microsoft whether to trust a host it has not in its list.
        knownAuthorities: [host],
        // It refuses two credentials.
        ...(kind === 'secret'
          ? { clientSecret: secret.reveal() }
          : { clientCertificate: { thumbprintSha256, privateKey: secret.reveal() } }),
      },
      system: { networkClient: networkOf(call), disableInternalRetries: true },
    });
  }
}

function networkOf(call: TokenCall): INetworkModule {
  const good = <T>(body: Promise<object>): Promise<NetworkResponse<T>> =>
    body.then((found) => ({ status: 200, headers: {}, body: found as T }));
  return {
    sendGetRequestAsync: (url, options) => good(call.get(url, options?.headers)),
    sendPostRequestAsync: (url, options) => good(call.post(url, options?.headers, options?.body)),
  };
}

/** Gets service tokens from an Entra-like provider: client credentials, by certificate or by secret (spec §5.4). */
export class IdpBProvider implements IdentityProvider {
  readonly block: string = 'idpBService';
  readonly #application: Application;

  constructor(options: IdpBOptions) {
    this.#application = new Application(options);
  }

  fingerprint(): Promise<string> {
    return this.#application.fingerprint('client_credentials');
  }

  async issue(now: number): Promise<IssueOutcome> {
    const request = await this.#application.request(
      'client_credentials',
      this.#application.scope,
      now,
      this.#application.places,
      (library, scopes) => library.acquireTokenByClientCredential({ scopes, skipCache: true, azureRegion: NO_REGION }),
    );
    return 'kind' in request ? request : this.#application.client.issue(request, now);
  }
}

/** Exchanges a user's token at an Entra-like provider (On-Behalf-Of); the result never outlives the user's own token. */
export class IdpBTokenExchange implements TokenExchange {
  readonly #application: Application;

  constructor(options: IdpBOptions) {
    this.#application = new Application(options);
  }

  fingerprint(): Promise<string> {
    return this.#application.fingerprint('on_behalf_of');
  }

  async exchange(exchanged: TokenExchangeRequest, now: number): Promise<IssueOutcome | ExchangeRefusal> {
    const { assertion, scope = '', audience = '' } = exchanged;
    // Entra has no audience: it is the part of a scope before the last slash, and `.default` stands for all that was consented to.
    const wanted = scope || (audience === '' ? this.#application.scope : `${audience}/.default`);
    const configured = this.#application.places;
    const places = scope || audience === '' ? configured : fromRoute(configured, 'scope', 'audience');
    const request = await this.#application.request('on_behalf_of', wanted, now, places, (library, scopes) =>
      library.acquireTokenOnBehalfOf({ scopes, oboAssertion: assertion, skipCache: true }),
    );
    return 'kind' in request ? request : this.#application.client.exchange(assertion, request, now);
  }
}
