import { allowInsecureRequests, ClientSecretPost, customFetch, discovery, genericGrantRequest } from 'openid-client';
import { firstFilled, type Setting } from '../../domain/shared/setting.js';
import type { Identity } from '../../ports/identity.js';
import type { IdentityProvider, IssueFailure, IssueOutcome } from '../../ports/identity-provider.js';
import type { ExchangeBlock, ProviderContext } from '../../ports/provider-descriptor.js';
import type { ExchangeRefusal, TokenExchange, TokenExchangeRequest } from '../../ports/token-exchange.js';
import {
  exchangeSettings,
  type FailureRules,
  missingFields,
  refused,
  type RequestSettings,
  type Verdict,
} from '../oauth/failure.js';
import { type ConnectionOptions, OAuthClient, type TokenRequest } from '../oauth/oauth-client.js';
import type { ErrorResponse } from '../oauth/provider-error.js';
import {
  type IdpAApplication,
  type IdpABlocks,
  type IssuerAddress,
  issuerAddress,
  requestedScope,
} from './descriptor.js';

/** A provider of service tokens. An empty value is one not supplied. */
export interface IdpAProviderOptions extends ConnectionOptions {
  /** Signs in as the service user, or as the application itself. */
  readonly grant: 'password' | 'client_credentials';
  readonly settings: IdpABlocks['idpA'] & IdpABlocks['idpAServiceUser'];
}

/** An exchange of users' tokens. `audience` and `scope` are used when a request names none. */
export interface IdpATokenExchangeOptions extends ConnectionOptions {
  readonly settings: IdpAApplication & {
    /** The type of the user's token; Auth0 wants the one registered for the exchange. Empty: `urn:ietf:params:oauth:token-type:access_token`. */
    readonly subjectTokenType: Setting;
  };
}

const PASSWORD_REALM = 'http://auth0.com/oauth/grant-type/password-realm';
const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

/** An application at an Auth0-like provider, which sends its secret in the form. */
class Application {
  readonly client: OAuthClient;
  readonly #settings: IdpAApplication;
  readonly #address: IssuerAddress;

  constructor(settings: IdpAApplication, connection: ConnectionOptions) {
    this.#settings = settings;
    this.#address = issuerAddress(settings.domain.value);
    this.client = new OAuthClient(
      connection,
      this.#address.kind === 'issuer' && this.#address.url.protocol === 'http:',
    );
  }

  missing(): IssueFailure | undefined {
    const { domain, clientId, clientSecret } = this.#settings;
    return missingFields({ block: domain.block, settings: { domain, clientId, clientSecret } });
  }

  /** Lets openid-client find the token endpoint and ask there. Empty parameters are left out. */
  request(
    type: string,
    parameters: Readonly<Record<string, string>>,
    rules: FailureRules,
    secrets: readonly string[],
  ): TokenRequest {
    const clientId = this.#settings.clientId.value;
    const clientSecret = this.#settings.clientSecret.value.reveal();
    const filled = Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== ''));
    const send: TokenRequest['send'] = async (call) => {
      if (this.#address.kind === 'unusable') {
        throw Object.assign(new Error(this.#address.detail), { code: 'ERR_INVALID_URL' });
      }
      const { url } = this.#address;
      const configuration = await discovery(url, clientId, undefined, ClientSecretPost(clientSecret), {
        [customFetch]: async (to, { method, headers, body }) => {
          const form = body instanceof URLSearchParams ? body.toString() : '';
          return Response.json(await (method === 'GET' ? call.get(to, headers) : call.post(to, headers, form)));
        },
        execute: url.protocol === 'http:' ? [allowInsecureRequests] : [],
      });
      const { access_token, expires_in } = await genericGrantRequest(configuration, type, filled);
      return { value: access_token, expiresInSeconds: expires_in };
    };
    return { send, rules, secrets: [clientSecret, ...secrets] };
  }
}

/** Gets service tokens from an Auth0-like provider: password grant or client credentials (spec §5.3). */
export class IdpAProvider implements IdentityProvider {
  readonly block: string = 'idpA';
  readonly #options: IdpAProviderOptions;
  readonly #application: Application;

  constructor(options: IdpAProviderOptions) {
    this.#options = options;
    this.#application = new Application(options.settings, options);
  }

  identity(): Promise<Identity> {
    return this.#options.identity();
  }

  async issue(now: number): Promise<IssueOutcome> {
    const { grant, settings } = this.#options;
    const { audience, scope, realm, username, password } = settings;
    const user = grant === 'password' ? { username, password } : {};
    const missing = this.#application.missing() ?? missingFields({ block: username.block, settings: user });
    if (missing !== undefined) return missing;
    const [name, word] = [username.value, password.value.reveal()];
    const isInRealm = grant === 'password' && realm.value !== '';
    const request = this.#application.request(
      isInRealm ? PASSWORD_REALM : grant,
      {
        audience: audience.value,
        scope: requestedScope(scope.value),
        ...(grant === 'password' && { username: name, password: word }),
        ...(isInRealm && { realm: realm.value }),
      },
      failureRules(grant, { block: this.block, settings: { ...settings } }),
      grant === 'password' ? [word] : [],
    );
    return this.#application.client.issue(request, now);
  }
}

/** Exchanges a user's token at an Auth0-like provider (RFC 8693); the result never outlives the user's own token. */
export class IdpATokenExchange implements TokenExchange {
  readonly #options: IdpATokenExchangeOptions;
  readonly #application: Application;

  constructor(options: IdpATokenExchangeOptions) {
    this.#options = options;
    this.#application = new Application(options.settings, options);
  }

  identity(): Promise<Identity> {
    return this.#options.identity();
  }

  async exchange(exchanged: TokenExchangeRequest, now: number): Promise<IssueOutcome | ExchangeRefusal> {
    const { settings } = this.#options;
    const { assertion, audience = settings.audience.value, scope = settings.scope.value } = exchanged;
    const missing = this.#application.missing();
    if (missing !== undefined) return missing;
    const request = this.#application.request(
      TOKEN_EXCHANGE,
      {
        subject_token: assertion,
        subject_token_type: settings.subjectTokenType.value || ACCESS_TOKEN,
        audience,
        scope: requestedScope(scope),
      },
      failureRules(
        'token_exchange',
        exchangeSettings('idpA', settings, exchanged.audience === undefined ? undefined : 'audience'),
      ),
      [],
    );
    return this.#application.client.exchange(assertion, request, now);
  }
}

/** The provider of a flow of `idp_a`. */
export function provider(flow: string, { idpA, idpAServiceUser }: IdpABlocks, context: ProviderContext): IdpAProvider {
  const settings = { ...idpA, ...idpAServiceUser };
  const grant = flow === 'idp_a.password' ? 'password' : 'client_credentials';
  return new IdpAProvider({ grant, settings, ...connection(flow, grant === 'password' ? settings : idpA, context) });
}

/** The exchange at `idp_a`: what `onBehalfOf` leaves out is the provider's own. */
export function exchange(
  { idpA, onBehalfOf }: IdpABlocks & ExchangeBlock,
  context: ProviderContext,
): IdpATokenExchange {
  const { domain, clientId, clientSecret } = idpA;
  const audience = firstFilled(onBehalfOf.audience, idpA.audience);
  const scope = firstFilled(onBehalfOf.scope, idpA.scope);
  const { subjectTokenType } = onBehalfOf;
  const settings = { domain, clientId, clientSecret, audience, scope, subjectTokenType };
  return new IdpATokenExchange({ settings, ...connection('idp_a.exchange', settings, context) });
}

function connection(
  flow: string,
  settings: IdpAApplication,
  { timeoutMs, fetch, identityOf }: ProviderContext,
): ConnectionOptions {
  const { domain } = settings;
  // However it is spelled, it is one tenant.
  const issuer = issuerAddress(domain.value);
  const tenant = { ...domain, value: issuer.kind === 'issuer' ? issuer.url.href : domain.value };
  return { timeoutMs, fetch, identity: identityOf(flow, { ...settings, domain: tenant }) };
}

/** The kind of token asked for. */
type Grant = 'password' | 'client_credentials' | 'token_exchange';

const APPLICATION = refused('clientId', 'clientSecret');
const GRANT: Verdict = { ...refused('clientId'), note: 'the grant must be enabled for this application' };

const WRONG_DOMAIN: ReadonlySet<string> = new Set([
  'OAUTH_HTTP_REQUEST_FORBIDDEN',
  'OAUTH_REQUEST_PROTOCOL_FORBIDDEN',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_MISSING_SERVER_METADATA',
  'OAUTH_INVALID_SERVER_METADATA',
]);

const ABOUT_REALM = /default connection|\brealm\b|connection .*(not found|does not exist|not enabled|disabled)/i;

/** The meaning of the failures of an Auth0-like provider. */
function failureRules(grant: Grant, request: RequestSettings): FailureRules {
  return {
    ...request,
    addressField: 'domain',
    fault: ({ code }) => (WRONG_DOMAIN.has(code) ? refused('domain') : undefined),
    special: ({ stage, status, error, description }) => {
      if (error === 'too_many_attempts') return user(grant, 'the user is blocked');
      if (status === 429) return { ...user(grant, 'rate limited'), reason: 'unavailable' };
      // Auth0 reports a missing default directory as its own failure, in words only.
      return stage === 'token' && grant === 'password' && ABOUT_REALM.test(description) ? refused('realm') : undefined;
    },
    refusal: (response) => refusal(response, grant),
    // RFC 8693 §2.2.2 wants `invalid_request` for a user's token that is not accepted, which also stands for much else.
    userRefusal: ({ error, description }) =>
      error === 'invalid_request' && /subject[_ ]token(?!_type)/i.test(description) ? 'expired' : undefined,
  };
}

const REFUSALS: ReadonlyMap<string, Verdict> = new Map([
  ['invalid_client', APPLICATION],
  ['unauthorized_client', GRANT],
  ['unsupported_grant_type', GRANT],
  ['invalid_scope', refused('scope')],
  ['invalid_target', refused('audience')],
]);

function refusal({ status, error, description }: ErrorResponse, grant: Grant): Verdict {
  switch (error) {
    case 'invalid_grant':
      return grant === 'password' ? user(grant, '', 'username', 'password') : APPLICATION;
    case 'mfa_required':
    case 'mfa_registration_required':
      return user(grant, 'a second factor is required of this user');
    // Auth0's names for a blocked user, a leaked password and a login it finds suspicious.
    case 'unauthorized':
    case 'requires_verification':
      return user(grant);
    case 'password_leaked':
      return user(grant, '', 'password');
    case 'access_denied':
      // Auth0 says 401 access_denied where others say invalid_client.
      if (status === 401) return APPLICATION;
      if (/service not found|not authorized to access|client-grant/i.test(description)) return refused('audience');
      if (/\bscopes?\b/i.test(description)) return refused('scope');
      return user(grant, 'a policy of the tenant stands against it');
    case 'invalid_request':
      if (/subject_token_type/i.test(description)) return refused('subjectTokenType');
      if (/grant type/i.test(description)) return GRANT;
      if (/\b(audience|resource)\b/i.test(description)) return refused('audience');
      return /\bscope\b/i.test(description) ? refused('scope') : refused();
    default:
      return REFUSALS.get(error) ?? refused();
  }
}

// Without a service user of its own, a grant can only be refused for its application.
function user(grant: Grant, note = '', ...fields: readonly string[]): Verdict {
  if (grant !== 'password') return { ...refused('clientId'), note };
  return { reason: 'refused', fields: fields.length === 0 ? ['username'] : fields, note };
}
