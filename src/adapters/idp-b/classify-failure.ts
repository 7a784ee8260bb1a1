import type { IssueFailure } from '../../ports/identity-provider.js';
import { redactSecrets } from '../oauth/redact-secrets.js';
import { BLOCK } from './block.js';
import type { ClientCredential } from './client-credential.js';
import type { ProviderError } from './provider-error.js';

/** What was asked for, and with what. */
export interface RequestContext {
  readonly grant: 'client_credentials' | 'on_behalf_of';
  readonly scope: string;
  readonly credential: ClientCredential['kind'];
  /** Texts to keep out of the detail. */
  readonly secrets: readonly string[];
}

type Answer = Extract<ProviderError, { kind: 'answer' }>;
type Fault = Extract<ProviderError, { kind: 'fault' }>;

interface Verdict {
  readonly reason: 'refused' | 'unavailable';
  readonly fields: readonly string[];
  /** What an operator should know beyond the provider's own words. */
  readonly note?: string;
}

/** In characters: the ids that Entra's support asks for stand at the end of a long text. */
export const MAX_DETAIL = 1000;
const CERTIFICATE_FIELDS = ['certificatePath', 'privateKeyPath'] as const;

/** Turns what went wrong at the provider, or in msal-node, into the fields to check. */
export function classifyFailure(error: ProviderError, context: RequestContext): IssueFailure {
  const verdict = error.kind === 'fault' ? judgeFault(error, context) : judgeAnswer(error, context);
  return {
    kind: 'failure',
    reason: verdict.reason,
    block: BLOCK,
    fields: verdict.fields,
    advice: adviceFor(verdict, context),
    detail: redactSecrets(detailOf(error, verdict.note), context.secrets, MAX_DETAIL),
    ...(error.kind === 'answer' && error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
  };
}

/** What the provider said, in one line; not redacted yet. */
export function detailOf(error: ProviderError, note = ''): string {
  const stage = error.stage === 'local' ? 'msal-node failed' : `${error.stage} request failed`;
  return [stage, codeOf(error), note, error.description].filter((part) => part !== '').join(': ');
}

function codeOf(error: ProviderError): string {
  if (error.kind === 'fault') return error.code;
  const { status, suberror, numbers, description } = error;
  const unsaid = numbers.map((number) => `AADSTS${number}`).filter((number) => !description.includes(number));
  return [status, error.error, suberror, ...unsaid].filter((part) => part !== '').join(' ');
}

function adviceFor({ reason, fields }: Verdict, { grant, scope }: RequestContext): string {
  const named = fields.length === 0 ? '' : `: ${fields.map((field) => `"${field}"`).join(', ')}`;
  const check = `check the "${BLOCK}" configuration block${named}`;
  if (reason === 'unavailable') return `Try again later; if that does not help, ${check}.`;
  if (fields.includes('scope') && grant === 'client_credentials' && !scope.trim().endsWith('/.default')) {
    return `Let "scope" in the "${BLOCK}" configuration block end in "/.default".`;
  }
  return `${check.replace('c', 'C')}.`;
}

function judgeFault({ code, description }: Fault, { credential }: RequestContext): Verdict {
  switch (code) {
    case 'missing_tenant_id_error':
    case 'ERR_NOT_HTTPS':
    case 'authority_uri_insecure':
    case 'url_parse_error':
    case 'empty_url_error':
      return refused('tenantId');
    case 'empty_input_scopes_error':
      return refused('scope');
    // msal-node says the second when a certificate comes without its thumbprint.
    case 'invalid_client_credential':
    case 'state_not_found':
      return refused('clientSecret', 'certificatePath');
    default:
      break;
  }
  // What signs for msal-node has no codes for a key it cannot use.
  if (credential === 'certificate' && (code.startsWith('ERR_OSSL_') || /secretOrPrivateKey/.test(description))) {
    return refused(...CERTIFICATE_FIELDS);
  }
  if (/^(UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO_|CERT_|ERR_TLS_|ERR_SSL_|HOSTNAME_MISMATCH)/.test(code)) {
    return outage('the TLS certificate is not trusted here; NODE_EXTRA_CA_CERTS adds an authority');
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return outage('no such host: a wrong address, or DNS is down');
  // A failure msal-node remembers and replays has an empty code or bare numbers as its code.
  return outage();
}

function judgeAnswer(answer: Answer, context: RequestContext): Verdict {
  const { stage, status, error, numbers } = answer;
  if (status === 429) return { reason: 'unavailable', fields: ['clientId'], note: 'rate limited' };
  if (status < 300 && error === '') return outage();
  if (status >= 500 || status === 408 || status === 425 || TEMPORARY.has(error)) return outage();
  const sharper = numbers.map((number) => FIELDS_BY_NUMBER.get(number)).find((fields) => fields !== undefined);
  if (sharper !== undefined) return refused(...sharper);
  if (stage === 'metadata' || error === '') return refused('tenantId');
  return judgeOAuthError(answer, context);
}

const TEMPORARY: ReadonlySet<string> = new Set(['server_error', 'temporarily_unavailable', 'slow_down']);

// They only choose among fields of what was refused anyway: Microsoft may renumber them at any time.
const FIELDS_BY_NUMBER: ReadonlyMap<number, readonly string[]> = new Map<number, readonly string[]>([
  [7000215, ['clientSecret']],
  [7000222, ['clientSecret']],
  [700016, ['clientId', 'tenantId']],
  [7000229, ['clientId', 'tenantId']],
  [7000112, ['clientId']],
  [90002, ['tenantId']],
  [900021, ['tenantId']],
  [900023, ['tenantId']],
  [500011, ['scope']],
  [70011, ['scope']],
  [1002012, ['scope']],
  [700023, CERTIFICATE_FIELDS],
  [700027, CERTIFICATE_FIELDS],
  [700030, CERTIFICATE_FIELDS],
]);

function judgeOAuthError({ error, description }: Answer, { credential }: RequestContext): Verdict {
  switch (error) {
    case 'invalid_client':
      if (credential === 'secret') return refused('clientId', 'clientSecret');
      return { ...refused(...CERTIFICATE_FIELDS), note: 'not registered, or the clock of this server is wrong' };
    case 'unauthorized_client':
      return refused('clientId', 'tenantId');
    case 'invalid_tenant':
      return refused('tenantId');
    case 'invalid_scope':
    case 'invalid_resource':
    case 'invalid_target':
      return refused('scope');
    case 'unsupported_grant_type':
    case 'invalid_grant':
    case 'access_denied':
      return { ...refused('clientId'), note: 'a policy or an assignment of the tenant stands against the application' };
    case 'invalid_request':
      if (/\btenant\b/i.test(description)) return refused('tenantId');
      return /\b(scope|resource)\b/i.test(description) ? refused('scope') : refused();
    default:
      return refused();
  }
}

function refused(...fields: readonly string[]): Verdict {
  return { reason: 'refused', fields };
}

function outage(note?: string): Verdict {
  const verdict: Verdict = { reason: 'unavailable', fields: ['tenantId'] };
  return note === undefined ? verdict : { ...verdict, note };
}
