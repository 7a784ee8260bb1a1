import { ConfidentialClientApplication, type INetworkModule, type NetworkResponse } from '@azure/msal-node';
import type {
  Identity,
  IdentityProvider,
  IssueFailure,
  IssueOutcome,
  ExchangeRefusal,
  TokenExchange,
  TokenExchangeRequest,
} from '../../ports/identity-provider.js';
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
  /** Address of the cloud or directory, without the tenant; http is for this machine alone. Default: `https://login.microsoftonline.com`. */
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
    this.client = new OAuthClient(options, this.#address.kind === 'address' && this.#address.isHttp);
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
    const hasAuthority = (this.#options.authority ?? '').trim() !== '';
    const clientSecret = certificate === undefined ? this.#options.clientSecret.reveal() : 'not needed';
    const instead = { clientSecret: ['certificatePath', 'privateKeyPath'] };
    const missing = missingFields(places, { tenantId, clientId, scope, clientSecret }, instead);
    if (missing !== undefined) return missing;
    const address = this.#address;
    if (address.kind === 'unusable') {
      const { block, field } = places.of(address.field);
      const advice = `Check "${field}" in the "${block}" configuration block: it ${address.note}.`;
      return { kind: 'failure', reason: 'refused', block, fields: [field], advice, detail: `${field} ${address.note}` };
    }
    const credential = await clientCredential(this.#options, places, now);
    if (credential.kind === 'failure') return credential;
    return {
      send: (call) => ask(this.#library(address, credential, call), scope.trim().split(/\s+/)),
      rules: failureRules({ grant, scope, credential: credential.kind, places, hasAuthority }),
      secrets: [credential.secret.reveal()],
    };
  }

  // One for each call: what msal-node remembers mixes up users and replays failures (decision 8).
  #library(
    { authority, host, isHttp }: Extract<TenantAddress, { kind: 'address' }>,
    { kind, secret, thumbprintSha256 }: ClientCredential,
    call: TokenCall,
  ): ConfidentialClientApplication {
    return new ConfidentialClientApplication({
      auth: {
        clientId: this.#clientId,
        // It takes https only; an address on this machine is called by http all the same.
        authority: isHttp ? authority.replace('http:', 'https:') : authority,
        // Else msal-node asks a public address of Microsoft whether to trust a host it has not in its list.
        knownAuthorities: [host],
        // It refuses two credentials.
        ...(kind === 'secret'
          ? { clientSecret: secret.reveal() }
          : { clientCertificate: { thumbprintSha256, privateKey: secret.reveal() } }),
      },
      system: { networkClient: networkOf(call, isHttp ? host : undefined), disableInternalRetries: true },
    });
  }
}

/** `httpHost`: the one host that is called by http, of which msal-node is told https. */
function networkOf(call: TokenCall, httpHost: string | undefined): INetworkModule {
  const good = <T>(body: object): NetworkResponse<T> => ({ status: 200, headers: {}, body: body as T });
  const [plain, told] = [`http://${httpHost ?? ''}/`, `https://${httpHost ?? ''}/`];
  const called = (url: string): string => (httpHost === undefined ? url : url.replace(told, plain));
  return {
    sendGetRequestAsync: async (url, options) => {
      const metadata = await call.get(called(url), options?.headers);
      if (httpHost === undefined) return good(metadata);
      return good(JSON.parse(JSON.stringify(metadata).replaceAll(plain, told)) as object);
    },
    sendPostRequestAsync: async (url, options) => good(await call.post(called(url), options?.headers, options?.body)),
  };
}

/** An object that gets tokens as an application, and has its identity. */
class OfApplication {
  readonly identity: () => Promise<Identity>;
  protected readonly application: Application;

  constructor(options: IdpBOptions) {
    this.identity = options.identity;
    this.application = new Application(options);
  }
}

/** Gets service tokens from an Entra-like provider: client credentials, by certificate or by secret (spec §5.4). */
export class IdpBProvider extends OfApplication implements IdentityProvider {
  readonly block: string = 'idpBService';

  async issue(now: number): Promise<IssueOutcome> {
    const request = await this.application.request(
      'client_credentials',
      this.application.scope,
      now,
      this.application.places,
      (library, scopes) => library.acquireTokenByClientCredential({ scopes, skipCache: true, azureRegion: NO_REGION }),
    );
    return 'kind' in request ? request : this.application.client.issue(request, now);
  }
}

/** Exchanges a user's token at an Entra-like provider (On-Behalf-Of); the result never outlives the user's own token. */
export class IdpBTokenExchange extends OfApplication implements TokenExchange {
  async exchange(exchanged: TokenExchangeRequest, now: number): Promise<IssueOutcome | ExchangeRefusal> {
    const { assertion, scope = '', audience = '' } = exchanged;
    // Entra has no audience: it is the part of a scope before the last slash, and `.default` stands for all that was consented to.
    const wanted = scope || (audience === '' ? this.application.scope : `${audience}/.default`);
    const configured = this.application.places;
    const places = scope || audience === '' ? configured : fromRoute(configured, 'scope', 'audience');
    const request = await this.application.request('on_behalf_of', wanted, now, places, (library, scopes) =>
      library.acquireTokenOnBehalfOf({ scopes, oboAssertion: assertion, skipCache: true }),
    );
    return 'kind' in request ? request : this.application.client.exchange(assertion, request, now);
  }
}
