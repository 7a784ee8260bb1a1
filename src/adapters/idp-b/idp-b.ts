import { ConfidentialClientApplication, type INetworkModule, type NetworkResponse } from '@azure/msal-node';
import type { Secret } from '../../domain/shared/secret.js';
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
import type { CertificateFile } from '../keys/certificate.js';
import {
  exchangeSettings,
  type FailureRules,
  missingFields,
  refused,
  type RequestSettings,
  type Verdict,
} from '../oauth/failure.js';
import { type ConnectionOptions, OAuthClient, type TokenRequest } from '../oauth/oauth-client.js';
import { type ErrorResponse, member, textMember } from '../oauth/provider-error.js';
import type { TokenCall } from '../oauth/token-call.js';
import {
  certificateOf,
  exchangeApplication,
  type IdpBBlocks,
  type IdpBSettings,
  type TenantAddress,
  tenantAddress,
} from './descriptor.js';

/** An application at `idp_b`. An empty value means that the field is not set. An exchange uses `scope` if a request names neither scope nor audience. */
export interface IdpBOptions extends ConnectionOptions {
  readonly settings: IdpBSettings;
  /** The certificate, which takes precedence over the secret; `undefined` if neither path is set. */
  readonly certificate: Pick<CertificateFile, 'read'> | undefined;
}

// Otherwise an environment variable could send the credential to another host.
const NO_REGION = 'DisableMsalForceRegion';

/**
 * An application at a provider like Entra. It gets service tokens by certificate or secret, and exchanges users' tokens
 * (On-Behalf-Of); an exchanged token never outlives the user's own.
 */
export class IdpBApplication implements IdentityProvider, TokenExchange {
  readonly block: string = 'idpBService';
  readonly identity: () => Promise<Identity>;
  readonly #client: OAuthClient;
  readonly #options: IdpBOptions;
  readonly #address: TenantAddress | string;

  constructor(options: IdpBOptions) {
    this.identity = options.identity;
    this.#options = options;
    this.#address = tenantAddress(options.settings.tenantId.value.trim(), options.settings.authority.value);
    this.#client = new OAuthClient(options, typeof this.#address === 'object' && this.#address.isHttp);
  }

  async issue(now: number): Promise<IssueOutcome> {
    const request = this.#request(
      'client_credentials',
      { block: this.block, settings: this.#options.settings },
      now,
      (library, scopes) => library.acquireTokenByClientCredential({ scopes, skipCache: true, azureRegion: NO_REGION }),
    );
    return 'kind' in request ? request : this.#client.issue(request, now);
  }

  async exchange(exchanged: TokenExchangeRequest, now: number): Promise<IssueOutcome | ExchangeRefusal> {
    const { assertion, scope = '', audience = '' } = exchanged;
    const settings = this.#options.settings;
    // Entra has no audience parameter: it is the part of a scope before the last slash, and `.default` means all consented scopes.
    const value = scope || (audience === '' ? settings.scope.value : `${audience}/.default`);
    const wanted = { ...settings, scope: { ...settings.scope, value } };
    const request = this.#request(
      'on_behalf_of',
      exchangeSettings(this.block, wanted, scope || audience === '' ? undefined : 'scope'),
      now,
      (library, scopes) => library.acquireTokenOnBehalfOf({ scopes, oboAssertion: assertion, skipCache: true }),
    );
    return 'kind' in request ? request : this.#client.exchange(assertion, request, now);
  }

  /** The request for the scopes of these settings, or the failure if the provider cannot be called. */
  #request(
    grant: Grant,
    { block, settings }: RequestSettings<IdpBSettings>,
    now: number,
    ask: (library: ConfidentialClientApplication, scopes: string[]) => Promise<unknown>,
  ): TokenRequest | IssueFailure {
    const { tenantId, clientId, scope, clientSecret } = settings;
    const secret = this.#options.certificate === undefined ? { clientSecret } : {};
    const instead = { clientSecret: ['certificatePath', 'privateKeyPath'] };
    const missing = missingFields({ block, settings: { tenantId, clientId, scope, ...secret } }, instead);
    if (missing !== undefined) return missing;
    const address = this.#address;
    if (typeof address === 'string') {
      const { block, field } = tenantId;
      const advice = `Check "${field}" in the "${block}" configuration block: it ${address}.`;
      return { kind: 'failure', reason: 'refused', block, fields: [field], advice, log: `${field} ${address}` };
    }
    const credential = clientCredential(settings, this.#options.certificate, now);
    if (credential.kind === 'failure') return credential;
    return {
      send: async (call) => {
        await ask(this.#library(address, credential, call), scope.value.trim().split(/\s+/));
        // msal-node sets an expiry of its own, so the response itself is used.
        if (call.token === undefined) throw new Error('the library sent no request for a token');
        return call.token;
      },
      rules: failureRules(grant, credential.kind, { block, settings }),
      secrets: [credential.secret.reveal()],
    };
  }

  // One per call: the caches of msal-node mix up users and replay failures (decision 8).
  #library(
    { authority, host, isHttp }: TenantAddress,
    { kind, secret, thumbprintSha256 }: ClientCredential,
    call: TokenCall,
  ): ConfidentialClientApplication {
    return new ConfidentialClientApplication({
      auth: {
        clientId: this.#options.settings.clientId.value.trim(),
        // The library accepts https only, so a loopback address is rewritten and still called by http.
        authority: isHttp ? authority.replace('http:', 'https:') : authority,
        // Otherwise msal-node asks a public address of Microsoft whether to trust an unknown host.
        knownAuthorities: [host],
        // The library rejects two credentials.
        ...(kind === 'secret'
          ? { clientSecret: secret.reveal() }
          : { clientCertificate: { thumbprintSha256, privateKey: secret.reveal() } }),
      },
      system: { networkClient: networkOf(call, isHttp ? host : undefined), disableInternalRetries: true },
    });
  }
}

/** The network client for msal-node. `httpHost` is the one host called by http, which msal-node addresses by https. */
function networkOf(call: TokenCall, httpHost: string | undefined): INetworkModule {
  const good = <T>(body: object): NetworkResponse<T> => ({ status: 200, headers: {}, body: body as T });
  const [plain, known] = [`http://${httpHost ?? ''}/`, `https://${httpHost ?? ''}/`];
  const called = (url: string): string => (httpHost === undefined ? url : url.replace(known, plain));
  return {
    sendGetRequestAsync: async (url, options) => {
      const metadata = await call.get(called(url), options?.headers);
      if (httpHost === undefined) return good(metadata);
      return good(JSON.parse(JSON.stringify(metadata).replaceAll(plain, known)) as object);
    },
    sendPostRequestAsync: async (url, options) => good(await call.post(called(url), options?.headers, options?.body)),
  };
}

/** The provider of service tokens. */
export function provider(flow: string, { idpBService }: IdpBBlocks, context: ProviderContext): IdentityProvider {
  return application(flow, idpBService, context);
}

/** The exchange of users' tokens. */
export function exchange(blocks: IdpBBlocks & ExchangeBlock, context: ProviderContext): TokenExchange {
  return application('idp_b.exchange', exchangeApplication(blocks), context);
}

function application(
  flow: string,
  settings: IdpBSettings,
  { timeoutMs, fetch, telemetry, clock, identityOf }: ProviderContext,
): IdpBApplication {
  const certificate = certificateOf(settings, clock, telemetry);
  const { tenantId, authority, clientSecret } = settings;
  // All spellings are one tenant.
  const tenant = tenantAddress(tenantId.value.trim(), authority.value);
  const stated = {
    ...settings,
    ...(typeof tenant === 'object' && {
      tenantId: { ...tenantId, value: '' },
      authority: { ...authority, value: tenant.authority },
    }),
    // A secret that a certificate overrides is not part of the proof.
    ...(certificate !== undefined && { clientSecret: { ...clientSecret, value: '' } }),
  };
  const identity = identityOf(flow, stated, () => {
    const reading = certificate?.read();
    // The advice distinguishes failures, so that a back-off does not repeat the message of another failure.
    return reading?.kind === 'certificate' ? reading.thumbprintSha256 : (reading?.advice ?? '');
  });
  return new IdpBApplication({ settings, certificate, timeoutMs, fetch, identity });
}

/** The secret part of the application's credential. */
interface ClientCredential {
  readonly kind: 'secret' | 'certificate';
  /** The client secret, or the private key of the certificate in PEM form. */
  readonly secret: Secret;
  /** Of the certificate; empty for a client secret. */
  readonly thumbprintSha256: string;
}

/** Chooses the credential, and detects an unusable certificate before any request; `now` is milliseconds since the epoch. */
function clientCredential(
  { clientSecret, certificatePath }: IdpBSettings,
  certificate: Pick<CertificateFile, 'read'> | undefined,
  now: number,
): ClientCredential | IssueFailure {
  if (certificate === undefined) return { kind: 'secret', secret: clientSecret.value, thumbprintSha256: '' };
  const reading = certificate.read();
  const { block } = certificatePath;
  if (reading.kind === 'unusable') return { ...reading, kind: 'failure', block };
  const { thumbprintSha256, privateKeyPem: secret, notBefore, notAfter } = reading;
  if (now > notAfter) return outOfDates(block, 'has expired', 'ended', notAfter);
  if (now < notBefore) return outOfDates(block, 'is not valid yet', 'starts', notBefore);
  return { kind: 'certificate', secret, thumbprintSha256 };
}

function outOfDates(block: string, state: string, verb: string, at: number): IssueFailure {
  return {
    kind: 'failure',
    reason: 'refused',
    block,
    fields: ['certificatePath', 'privateKeyPath'],
    advice: `Replace the certificate of "certificatePath" and "privateKeyPath" in the "${block}" configuration block: it ${state}.`,
    log: `the certificate ${state}: its validity ${verb} on ${new Date(at).toISOString()}, by the clock of this server`,
  };
}

/** The kind of token to request. */
type Grant = 'client_credentials' | 'on_behalf_of';

const SECRET = ['clientId', 'clientSecret'] as const;
const FILES = ['certificatePath', 'privateKeyPath'] as const;
const CERTIFICATE = refused(...FILES);

/** Interprets the failures of a provider like Entra, and of msal-node itself. */
export function failureRules(
  grant: Grant,
  credential: ClientCredential['kind'],
  { block, settings }: RequestSettings<IdpBSettings>,
): FailureRules {
  const { scope, authority } = settings;
  return {
    block,
    settings: { ...settings },
    addressField: 'tenantId',
    hostField: authority.value.trim() === '' ? 'tenantId' : 'authority',
    // Of the scopes of a sign-in, msal-node sends none.
    fault: ({ code }) => (code === 'empty_input_scopes_error' ? refused('scope') : undefined),
    special: ({ status }) =>
      status === 429 ? { reason: 'unavailable', fields: ['clientId'], note: 'rate limited' } : undefined,
    refusal: (response) => refusal(response, credential),
    sent: [...(credential === 'secret' ? SECRET : FILES), 'tenantId', 'scope'],
    userRefusal,
    codes: (response) => {
      const numbers = numbersOf(response).filter(
        (number) => !`${response.description} ${response.said}`.includes(String(number)),
      );
      return [textMember(response.body, 'suberror'), ...numbers.map((number) => `AADSTS${number}`)];
    },
    advice: ({ reason, fields }, check) => {
      if (reason === 'unavailable') return `Try again later; if that does not help, ${check}.`;
      const isIncomplete = grant === 'client_credentials' && !scope.value.trim().endsWith('/.default');
      if (!fields.includes('scope') || !isIncomplete) return undefined;
      return `Make "scope" in the "${scope.block}" configuration block end in "/.default".`;
    },
  };
}

// These only refine which fields a refusal names: Microsoft may renumber them at any time.
const REFUSALS_BY_NUMBER: readonly (readonly [numbers: readonly number[], verdict: Verdict])[] = [
  [[7000215, 7000222], refused('clientSecret')],
  [[700016, 7000229], refused('clientId', 'tenantId')],
  [[7000112], refused('clientId')],
  [[90002, 900021, 900023], refused('tenantId')],
  [[500011, 70011, 1002012], refused('scope')],
  [[700023, 700027, 700030], CERTIFICATE],
];

const POLICY = {
  ...refused('clientId'),
  note: 'a policy or an assignment of the tenant denies the application',
};
const REFUSALS: ReadonlyMap<string, Verdict> = new Map([
  ['unauthorized_client', refused('clientId', 'tenantId')],
  ['invalid_tenant', refused('tenantId')],
  ['invalid_scope', refused('scope')],
  ['invalid_resource', refused('scope')],
  ['invalid_target', refused('scope')],
  ['unsupported_grant_type', POLICY],
  ['invalid_grant', POLICY],
  ['access_denied', POLICY],
]);

function refusal(response: ErrorResponse, credential: ClientCredential['kind']): Verdict {
  const { error, description } = response;
  const found = numbersOf(response);
  const sharper = REFUSALS_BY_NUMBER.find(([numbers]) => numbers.some((number) => found.includes(number)));
  if (sharper !== undefined) return sharper[1];
  if (error === 'invalid_client') {
    if (credential === 'secret') return refused(...SECRET);
    return { ...CERTIFICATE, note: 'not registered' };
  }
  if (error === 'invalid_request') {
    if (/\btenant\b/i.test(description)) return refused('tenantId');
    return /\b(scope|resource)\b/i.test(description) ? refused('scope') : refused();
  }
  return REFUSALS.get(error) ?? refused();
}

function userRefusal(response: ErrorResponse): ExchangeRefusal['reason'] | undefined {
  const numbers = numbersOf(response);
  const isInteraction =
    INTERACTION_SUBERRORS.has(textMember(response.body, 'suberror')) ||
    numbers.some((number) => INTERACTION_NUMBERS.has(number));
  if (response.error === 'invalid_grant' && isInteraction) return 'interaction';
  // Entra has no more specific error for an unreadable user token.
  const isAssertion = response.error === 'invalid_request' && numbers.some((number) => ASSERTION_NUMBERS.has(number));
  return isAssertion ? 'expired' : undefined;
}

const INTERACTION_SUBERRORS: ReadonlySet<string> = new Set([
  'consent_required',
  'basic_action',
  'additional_action',
  'message_only',
]);

// Consent, assignment to the application, second factor, conditional access.
const INTERACTION_NUMBERS: ReadonlySet<number> = new Set([
  65001, 65004, 50105, 50072, 50074, 50076, 50079, 50158, 53000, 53001, 53003,
]);

const ASSERTION_NUMBERS: ReadonlySet<number> = new Set([50013, 500131, 500133, 50027]);

/** Entra's error numbers, from their own member or from the description. */
function numbersOf({ body, description, said }: ErrorResponse): readonly number[] {
  const codes = member(body, 'error_codes');
  const listed = Array.isArray(codes) ? codes.filter((code) => typeof code === 'number') : [];
  const written = /\bAADSTS(\d{4,8})\b/.exec(description || said)?.[1];
  return listed.length > 0 || written === undefined ? listed : [Number(written)];
}
