import type { ExchangeRefusal } from '../../ports/identity-provider.js';
import { type FailureRules, type Places, refused, type Verdict } from '../oauth/failure.js';
import { type ErrorResponse, type Fault, member, textMember } from '../oauth/provider-error.js';
import type { ClientCredential } from './client-credential.js';

/** What kind of token was asked for. */
export type Grant = 'client_credentials' | 'on_behalf_of';

/** What was asked for, and with what. */
export interface RequestContext {
  readonly grant: Grant;
  readonly scope: string;
  readonly credential: ClientCredential['kind'];
  readonly places: Places;
  /** Whether the site says which cloud or directory it is. */
  readonly hasAuthority: boolean;
}

const CERTIFICATE = refused('certificatePath', 'privateKeyPath');

/** What the failures of an Entra-like provider, and of msal-node itself, mean. */
export function failureRules({ grant, scope, credential, places, hasAuthority }: RequestContext): FailureRules {
  return {
    places,
    addressField: 'tenantId',
    hostField: hasAuthority ? 'authority' : 'tenantId',
    fault: (fault) => faultOfLibrary(fault, credential),
    special: ({ status }) =>
      status === 429 ? { reason: 'unavailable', fields: ['clientId'], note: 'rate limited' } : undefined,
    refusal: (response) => refusal(response, credential),
    userRefusal,
    codes: (response) => {
      const numbers = numbersOf(response).filter((number) => !response.description.includes(String(number)));
      return [textMember(response.body, 'suberror'), ...numbers.map((number) => `AADSTS${number}`)];
    },
    advice: ({ reason, fields }, check) => {
      if (reason === 'unavailable') return `Try again later; if that does not help, ${check}.`;
      const isIncomplete = grant === 'client_credentials' && !scope.trim().endsWith('/.default');
      if (!fields.includes('scope') || !isIncomplete) return undefined;
      return 'Let "scope" in the "idpBService" configuration block end in "/.default".';
    },
  };
}

const CREDENTIAL = refused('clientSecret', 'certificatePath');
const LIBRARY_FAULTS: ReadonlyMap<string, Verdict> = new Map([
  ['missing_tenant_id_error', refused('tenantId')],
  ['authority_uri_insecure', refused('tenantId')],
  ['empty_input_scopes_error', refused('scope')],
  ['invalid_client_credential', CREDENTIAL],
  // What msal-node says when a certificate comes without its thumbprint.
  ['state_not_found', CREDENTIAL],
]);

function faultOfLibrary({ code, description }: Fault, credential: ClientCredential['kind']): Verdict | undefined {
  // What signs for msal-node has no codes for a key it cannot use.
  const isKey = code.startsWith('ERR_OSSL_') || /secretOrPrivateKey/.test(description);
  return credential === 'certificate' && isKey ? CERTIFICATE : LIBRARY_FAULTS.get(code);
}

// They only choose among fields of what was refused anyway: Microsoft may renumber them at any time.
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
  note: 'a policy or an assignment of the tenant stands against the application',
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
    if (credential === 'secret') return refused('clientId', 'clientSecret');
    return { ...CERTIFICATE, note: 'not registered, or the clock of this server is wrong' };
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
  // Entra has no better word for a user's token it cannot read.
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

/** Entra's numbers, from the member for them or from the description. */
function numbersOf({ body, description }: ErrorResponse): readonly number[] {
  const codes = member(body, 'error_codes');
  const listed = Array.isArray(codes) ? codes.filter((code) => typeof code === 'number') : [];
  const written = /\bAADSTS(\d{4,8})\b/.exec(description)?.[1];
  return listed.length > 0 || written === undefined ? listed : [Number(written)];
}
