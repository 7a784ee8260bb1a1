import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  customFetch,
  discovery,
  genericGrantRequest,
} from 'openid-client';
import { withoutTrailingSlashes } from '../../domain/shared/paths.js';
import { firstFilled } from '../../domain/shared/setting.js';
import type { ExchangeBlock, ProviderContext } from '../../domain/shared/provider-descriptor.js';
import type {
  ExchangeRefusal,
  Identity,
  IdentityProvider,
  IssueFailure,
  IssueOutcome,
  TokenExchange,
  TokenExchangeRequest,
} from '../../ports/identity-provider.js';
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
import { type IdpABlocks, issuerAddress, requestedScope } from './descriptor.js';

/** The settings of an application at `idp_a`; for an exchange some are those of `onBehalfOf`. */
export type IdpASettings = IdpABlocks['idpA'] &
  IdpABlocks['idpAServiceUser'] &
  Pick<ExchangeBlock['onBehalfOf'], 'subjectTokenType'>;

/** An application at `idp_a`. An empty value means that the field is not set. An exchange uses `audience` and `scope` if a request names none. */
export interface IdpAOptions extends ConnectionOptions {
  readonly settings: IdpASettings;
  /** Signs in as the service user, or as the application itself. */
  readonly grant: 'password' | 'client_credentials';
}

const PASSWORD_REALM = 'http://auth0.com/oauth/grant-type/password-realm';
const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

/**
 * An application at a provider like Auth0. It gets service tokens by password grant or client credentials, and exchanges
 * users' tokens (RFC 8693); an exchanged token never outlives the user's own.
 */
export class IdpAApplication implements IdentityProvider, TokenExchange {
  readonly block: string = 'idpA';
  readonly takesTurns: boolean;
  readonly identity: () => Promise<Identity>;
  readonly #client: OAuthClient;
  readonly #options: IdpAOptions;
  readonly #issuer: URL | undefined;

  constructor(options: IdpAOptions) {
    this.identity = options.identity;
    this.#options = options;
    this.takesTurns = options.grant === 'password';
    this.#issuer = issuerAddress(options.settings.domain.value);
    this.#client = new OAuthClient(options, this.#issuer?.protocol === 'http:');
  }

  async issue(now: number): Promise<IssueOutcome> {
    const settings = this.#options.settings;
    const { audience, scope, realm, username, password } = settings;
    const isPassword = this.#options.grant === 'password';
    const user = isPassword ? { username, password } : {};
    const missing = this.#missing() ?? missingFields({ block: username.block, settings: user });
    if (missing !== undefined) {
      if (missing.block !== username.block || missing.fields.length === 1) return missing;
      const machine = 'For an application without a user, set "serviceAuthStrategy" to "client_credentials".';
      return { ...missing, advice: `${missing.advice} ${machine}` };
    }
    const request = this.#request(
      isPassword && realm.value !== '' ? PASSWORD_REALM : this.#options.grant,
      {
        audience: audience.value,
        scope: requestedScope(scope.value),
        ...(isPassword && { username: username.value, password: password.value.reveal(), realm: realm.value }),
      },
      failureRules(this.#options.grant, { block: this.block, settings: { ...settings } }),
    );
    return this.#client.issue(request, now);
  }

  async exchange(exchanged: TokenExchangeRequest, now: number): Promise<IssueOutcome | ExchangeRefusal> {
    const settings = this.#options.settings;
    const { assertion, audience = settings.audience.value, scope = settings.scope.value } = exchanged;
    const missing = this.#missing();
    if (missing !== undefined) return missing;
    const routed = exchanged.audience === undefined ? undefined : 'audience';
    const request = this.#request(
      TOKEN_EXCHANGE,
      {
        subject_token: assertion,
        subject_token_type: settings.subjectTokenType.value || ACCESS_TOKEN,
        audience,
        scope: requestedScope(scope),
      },
      failureRules('token_exchange', exchangeSettings(this.block, { ...settings }, routed)),
    );
    return this.#client.exchange(assertion, request, now);
  }

  #missing(): IssueFailure | undefined {
    const { domain, clientId, clientSecret } = this.#options.settings;
    return missingFields({ block: this.block, settings: { domain, clientId, clientSecret } });
  }

  /** Discovers the token endpoint with openid-client and sends the request. Empty parameters are left out. */
  #request(type: string, parameters: Readonly<Record<string, string>>, rules: FailureRules): TokenRequest {
    const { clientId, password, ...settings } = this.#options.settings;
    const clientSecret = settings.clientSecret.value.reveal();
    const filled = Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== ''));
    // The configuration has only valid domains, and a missing one sends no request.
    const url = this.#issuer as URL;
    const send: TokenRequest['send'] = async (call) => {
      const configuration = await discovery(url, clientId.value, undefined, authentication(clientSecret), {
        [customFetch]: async (to, { method, headers, body }) => {
          const form = body instanceof URLSearchParams ? body.toString() : '';
          if (method !== 'GET') return Response.json(await call.post(to, headers, form));
          const metadata = await call.get(to, headers);
          // A slash at its end is no other issuer.
          const isSame = withoutTrailingSlashes(String(metadata['issuer'])) === withoutTrailingSlashes(url.href);
          return Response.json(isSame ? { ...metadata, issuer: url.href } : metadata);
        },
        execute: url.protocol === 'http:' ? [allowInsecureRequests] : [],
      });
      const { access_token, expires_in } = await genericGrantRequest(configuration, type, filled);
      return { value: access_token, expiresInSeconds: expires_in };
    };
    return { send, rules, secrets: [clientSecret, password.value.reveal()] };
  }
}

/** Sends the secret in the form, and in `Authorization` to a provider whose metadata lists that way alone. */
function authentication(secret: string): ClientAuth {
  const [inForm, inField] = [ClientSecretPost(secret), ClientSecretBasic(secret)];
  return (server, ...request) => {
    const methods = server.token_endpoint_auth_methods_supported ?? [];
    const isInField = methods.includes('client_secret_basic') && !methods.includes('client_secret_post');
    (isInField ? inField : inForm)(server, ...request);
  };
}

/** The provider of service tokens for a flow. */
export function provider(flow: string, blocks: IdpABlocks & ExchangeBlock, context: ProviderContext): IdentityProvider {
  const { idpA, idpAServiceUser } = blocks;
  const isPassword = flow === 'idp_a.password';
  const stated = isPassword ? { ...idpA, ...idpAServiceUser } : idpA;
  return application(flow, isPassword ? 'password' : 'client_credentials', stated, blocks, context);
}

/** The exchange of users' tokens; settings missing in `onBehalfOf` are the provider's own. */
export function exchange(blocks: IdpABlocks & ExchangeBlock, context: ProviderContext): TokenExchange {
  const { idpA, onBehalfOf } = blocks;
  const audience = firstFilled(onBehalfOf.audience, idpA.audience);
  const scope = firstFilled(onBehalfOf.scope, idpA.scope);
  const stated = { ...idpA, audience, scope, subjectTokenType: onBehalfOf.subjectTokenType };
  return application('idp_a.exchange', 'client_credentials', stated, blocks, context);
}

/** An application whose identity consists of the settings `stated`. */
function application(
  flow: string,
  grant: IdpAOptions['grant'],
  stated: IdpABlocks['idpA'],
  { idpAServiceUser, onBehalfOf: { subjectTokenType } }: IdpABlocks & ExchangeBlock,
  { timeoutMs, fetch, identityOf }: ProviderContext,
): IdpAApplication {
  const { domain } = stated;
  // All spellings are one tenant.
  const tenant = { ...domain, value: issuerAddress(domain.value)?.href ?? '' };
  const identity = identityOf(flow, { ...stated, domain: tenant });
  const settings = { ...idpAServiceUser, subjectTokenType, ...stated };
  return new IdpAApplication({ grant, settings, timeoutMs, fetch, identity });
}

/** The kind of token to request. */
type Grant = 'password' | 'client_credentials' | 'token_exchange';

const SENT = ['clientId', 'clientSecret', 'audience', 'scope'] as const;
const APPLICATION = refused('clientId', 'clientSecret');
const GRANT: Verdict = { ...refused('clientId'), note: 'the grant must be enabled for this application' };

/** Codes of openid-client for metadata of another issuer, without an endpoint, or with one that is not https. */
const WRONG_DOMAIN = /^OAUTH_\w+_(?:FORBIDDEN|SERVER_METADATA|COMPARISON_FAILED)$/;

const ABOUT_REALM = /default connection|\brealm\b|connection .*(not found|does not exist|not enabled|disabled)/i;

/** Interprets the failures of a provider like Auth0. */
function failureRules(grant: Grant, request: RequestSettings): FailureRules {
  return {
    ...request,
    addressField: 'domain',
    fault: ({ code }) => (WRONG_DOMAIN.test(code) ? refused('domain') : undefined),
    special: ({ stage, status, error, description }) => {
      if (error === 'too_many_attempts') return user(grant, 'the user is blocked');
      if (status === 429) return { ...user(grant, 'rate limited'), reason: 'unavailable' };
      // Auth0 reports a missing default directory as its own failure, and only in prose.
      return stage === 'token' && grant === 'password' && ABOUT_REALM.test(description) ? refused('realm') : undefined;
    },
    refusal: (response) => refusal(response, grant),
    sent: grant === 'password' ? [...SENT, 'realm', 'username', 'password'] : SENT,
    // RFC 8693 §2.2.2 requires `invalid_request` for a rejected user token, but the code also has other meanings.
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
  if (error === 'invalid_grant') return grant === 'password' ? user(grant, '', 'username', 'password') : APPLICATION;
  if (/^mfa_(?:registration_)?required$/.test(error)) return user(grant, 'a second factor is required of this user');
  // Auth0's names for a blocked user, a suspicious login and a leaked password.
  if (error === 'unauthorized' || error === 'requires_verification') return user(grant);
  if (error === 'password_leaked') return user(grant, '', 'password');
  if (error === 'access_denied') {
    // Auth0 sends 401 access_denied instead of invalid_client.
    if (status === 401) return APPLICATION;
    if (/service not found|not authorized to access|client-grant/i.test(description)) return refused('audience');
    if (/\bscopes?\b/i.test(description)) return refused('scope');
    return user(grant, 'a policy of the tenant denies it');
  }
  if (error !== 'invalid_request') return REFUSALS.get(error) ?? refused();
  if (/subject_token_type/i.test(description)) return refused('subjectTokenType');
  if (/grant type/i.test(description)) return GRANT;
  if (/\b(audience|resource)\b/i.test(description)) return refused('audience');
  return /\bscope\b/i.test(description) ? refused('scope') : refused();
}

// Without its own service user, a grant can only be refused because of its application.
function user(grant: Grant, note = '', ...fields: readonly string[]): Verdict {
  if (grant !== 'password') return { ...refused('clientId'), note };
  return { reason: 'refused', fields: fields.length === 0 ? ['username'] : fields, note };
}
