import { allowInsecureRequests, ClientSecretPost, customFetch, discovery, genericGrantRequest } from 'openid-client';
import type { Secret } from '../../domain/shared/secret.js';
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
import { failureRules, type Grant } from './failure-rules.js';
import { type IssuerAddress, issuerAddress } from './issuer-address.js';
import { requestedScope } from './requested-scope.js';

/** What every token of `idp_a` depends on; an empty string is a value not supplied. */
interface ApplicationOptions extends ConnectionOptions {
  /** Host name or address of the tenant. */
  readonly domain: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  /** The API the token is for. An exchange uses it when a request names none. */
  readonly audience: string;
  /** An exchange uses it when a request names none. */
  readonly scope: string;
  /** Lets `domain` be an http address of this machine, for tests. Default false. */
  readonly allowInsecure?: boolean | undefined;
}

/** What a service token depends on besides. */
export interface IdpAProviderOptions extends ApplicationOptions {
  /** Signs in as the service user, or as the application itself. */
  readonly grant: 'password' | 'client_credentials';
  /** Name of the user directory; without one the tenant's default directory is asked. */
  readonly realm: string;
  readonly username: string;
  readonly password: Secret;
}

/** What an exchanged token depends on besides the user. */
export interface IdpATokenExchangeOptions extends ApplicationOptions {
  /** The type of the user's token; Auth0 wants the one registered for the exchange. Empty: `urn:ietf:params:oauth:token-type:access_token`. */
  readonly subjectTokenType: string;
  /** Names of the fields the `onBehalfOf` block sets; the others are those of `idpA`. Default: none. */
  readonly own?: ReadonlySet<string> | undefined;
}

const PASSWORD_REALM = 'http://auth0.com/oauth/grant-type/password-realm';
const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

const IN_IDP_A = placesIn('idpA');

/** An application at an Auth0-like provider, which sends its secret in the form. */
class Application {
  readonly client: OAuthClient;
  readonly #options: ApplicationOptions;
  readonly #address: IssuerAddress;

  constructor(options: ApplicationOptions) {
    this.#options = options;
    this.#address = issuerAddress(options.domain, options.allowInsecure ?? false);
    this.client = new OAuthClient(options, this.#address.kind === 'issuer' && this.#address.url.protocol === 'http:');
  }

  missing(): IssueFailure | undefined {
    const { domain, clientId, clientSecret } = this.#options;
    return missingFields(IN_IDP_A, { domain, clientId, clientSecret: clientSecret.reveal() });
  }

  /** Lets openid-client find the token endpoint and ask there. Empty parameters are left out. */
  request(
    grant: Grant,
    type: string,
    parameters: Readonly<Record<string, string>>,
    secrets: string[],
    places: Places = IN_IDP_A,
  ): TokenRequest {
    const { clientId, clientSecret } = this.#options;
    const filled = Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== ''));
    const send: TokenRequest['send'] = async (call) => {
      if (this.#address.kind === 'unusable') {
        throw Object.assign(new Error(this.#address.detail), { code: 'ERR_INVALID_URL' });
      }
      const { url } = this.#address;
      const configuration = await discovery(url, clientId, undefined, ClientSecretPost(clientSecret.reveal()), {
        [customFetch]: async (to, { method, headers, body }) => {
          const form = body instanceof URLSearchParams ? body.toString() : '';
          return Response.json(await (method === 'GET' ? call.get(to, headers) : call.post(to, headers, form)));
        },
        execute: url.protocol === 'http:' ? [allowInsecureRequests] : [],
      });
      await genericGrantRequest(configuration, type, filled);
    };
    return { send, rules: failureRules(grant, places), secrets };
  }
}

/** Gets service tokens from an Auth0-like provider: password grant or client credentials (spec §5.3). */
export class IdpAProvider implements IdentityProvider {
  readonly block: string = 'idpA';
  readonly #options: IdpAProviderOptions;
  readonly #application: Application;

  constructor(options: IdpAProviderOptions) {
    this.#options = options;
    this.#application = new Application(options);
  }

  identity(): Promise<Identity> {
    return this.#options.identity();
  }

  async issue(now: number): Promise<IssueOutcome> {
    const { grant, audience, scope, realm, username, password } = this.#options;
    const user = grant === 'password' ? { username, password: password.reveal() } : {};
    const missing = this.#application.missing() ?? missingFields(placesIn('idpAServiceUser'), user);
    if (missing !== undefined) return missing;
    const wanted = { audience, scope: requestedScope(scope), ...user };
    const secrets = this.#secrets();
    const request =
      grant === 'password' && realm !== ''
        ? this.#application.request(grant, PASSWORD_REALM, { ...wanted, realm }, secrets)
        : this.#application.request(grant, grant, wanted, secrets);
    return this.#application.client.issue(request, now);
  }

  #secrets(): string[] {
    const { grant, clientSecret, password } = this.#options;
    return grant === 'password' ? [clientSecret.reveal(), password.reveal()] : [clientSecret.reveal()];
  }
}

/** Exchanges a user's token at an Auth0-like provider (RFC 8693); the result never outlives the user's own token. */
export class IdpATokenExchange implements TokenExchange {
  readonly #options: IdpATokenExchangeOptions;
  readonly #application: Application;
  readonly #subjectTokenType: string;

  constructor(options: IdpATokenExchangeOptions) {
    this.#options = options;
    this.#application = new Application(options);
    this.#subjectTokenType = options.subjectTokenType === '' ? ACCESS_TOKEN : options.subjectTokenType;
  }

  identity(): Promise<Identity> {
    return this.#options.identity();
  }

  async exchange(exchanged: TokenExchangeRequest, now: number): Promise<IssueOutcome | ExchangeRefusal> {
    const { assertion, audience = this.#options.audience, scope = this.#options.scope } = exchanged;
    const missing = this.#application.missing();
    if (missing !== undefined) return missing;
    const parameters = {
      subject_token: assertion,
      subject_token_type: this.#subjectTokenType,
      audience,
      scope: requestedScope(scope),
    };
    const secrets = [this.#options.clientSecret.reveal()];
    const configured = placesIn('idpA', this.#options.own);
    const places = exchanged.audience === undefined ? configured : fromRoute(configured, 'audience', 'audience');
    const request = this.#application.request('token_exchange', TOKEN_EXCHANGE, parameters, secrets, places);
    return this.#application.client.exchange(assertion, request, now);
  }
}
