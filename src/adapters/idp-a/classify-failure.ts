import type { IssueFailure } from '../../ports/identity-provider.js';
import { redactSecrets } from '../oauth/redact-secrets.js';
import type { ProviderError } from './provider-error.js';

/** What kind of token was asked for. */
export type Grant = 'password' | 'client_credentials' | 'token_exchange';

type Answer = Extract<ProviderError, { kind: 'answer' }>;
type Fault = Extract<ProviderError, { kind: 'fault' }>;

interface Verdict {
  readonly reason: 'refused' | 'unavailable';
  readonly block: 'idpA' | 'idpAServiceUser';
  readonly fields: readonly string[];
  /** What an operator should know beyond the provider's own words. */
  readonly note?: string;
}

/** In characters. */
export const MAX_DETAIL = 500;
const CLIENT_FIELDS = ['clientId', 'clientSecret'] as const;
const USER_FIELDS = ['username', 'password'] as const;

/** Turns what went wrong at the provider into the block and the fields to check; `secrets` are kept out of the detail. */
export function classifyFailure(error: ProviderError, grant: Grant, secrets: readonly string[]): IssueFailure {
  const { reason, block, fields, note } = error.kind === 'fault' ? judgeFault(error) : judgeAnswer(error, grant);
  const named = fields.length === 0 ? '' : `: ${fields.map((field) => `"${field}"`).join(', ')}`;
  const code = error.kind === 'fault' ? error.code : `${error.status} ${error.error}`.trimEnd();
  const parts = [`${error.stage} request failed`, code, error.description, note ?? ''].filter((part) => part !== '');
  return {
    kind: 'failure',
    reason,
    block,
    fields,
    advice: `Check the "${block}" configuration block${named}.`,
    detail: redactSecrets(parts.join(': '), secrets, MAX_DETAIL),
    ...(error.kind === 'answer' && error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
  };
}

function judgeFault({ code }: Fault): Verdict {
  if (WRONG_DOMAIN.has(code)) return client('domain');
  if (/^(UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO_|CERT_|ERR_TLS_|ERR_SSL_|HOSTNAME_MISMATCH)/.test(code)) {
    return outage('the TLS certificate is not trusted here; NODE_EXTRA_CA_CERTS adds an authority');
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return outage('no such host: a wrong domain, or DNS is down');
  return outage();
}

const WRONG_DOMAIN: ReadonlySet<string> = new Set([
  'ERR_INVALID_URL',
  'OAUTH_HTTP_REQUEST_FORBIDDEN',
  'OAUTH_REQUEST_PROTOCOL_FORBIDDEN',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_MISSING_SERVER_METADATA',
  'OAUTH_INVALID_SERVER_METADATA',
]);

function judgeAnswer(answer: Answer, grant: Grant): Verdict {
  const { stage, status, error, description } = answer;
  if (error === 'too_many_attempts') return user(grant, ['username'], 'the user is blocked');
  if (status === 429) return { ...user(grant, ['username'], 'rate limited'), reason: 'unavailable' };
  // Auth0 reports a missing default directory as its own failure, in words only.
  if (stage === 'token' && grant === 'password' && ABOUT_REALM.test(description)) return client('realm');
  if (status >= 500 || status === 408 || status === 425 || TEMPORARY.has(error)) return outage();
  if (stage === 'metadata' || error === '') return client('domain');
  return judgeOAuthError(answer, grant);
}

const ABOUT_REALM = /default connection|\brealm\b|connection .*(not found|does not exist|not enabled|disabled)/i;
const TEMPORARY: ReadonlySet<string> = new Set(['server_error', 'temporarily_unavailable', 'slow_down']);

function judgeOAuthError({ status, error, description }: Answer, grant: Grant): Verdict {
  switch (error) {
    case 'invalid_client':
      return client(...CLIENT_FIELDS);
    case 'invalid_grant':
      return grant === 'password' ? user(grant, USER_FIELDS) : client(...CLIENT_FIELDS);
    case 'unauthorized_client':
    case 'unsupported_grant_type':
      return grantNotAllowed();
    case 'invalid_scope':
      return client('scope');
    case 'invalid_target':
      return client('audience');
    case 'mfa_required':
    case 'mfa_registration_required':
      return user(grant, ['username'], 'a second factor is required of this user');
    // Auth0's names for a blocked user, a leaked password and a login it finds suspicious.
    case 'unauthorized':
    case 'requires_verification':
      return user(grant, ['username']);
    case 'password_leaked':
      return user(grant, ['password']);
    case 'access_denied':
      return judgeDenial(status, description, grant);
    case 'invalid_request':
      return judgeRequest(description);
    default:
      return { reason: 'refused', block: 'idpA', fields: [] };
  }
}

function judgeDenial(status: number, description: string, grant: Grant): Verdict {
  // Auth0 says 401 access_denied where others say invalid_client.
  if (status === 401) return client(...CLIENT_FIELDS);
  if (/service not found|not authorized to access|client-grant/i.test(description)) return client('audience');
  if (/\bscopes?\b/i.test(description)) return client('scope');
  return user(grant, ['username'], 'a policy of the tenant stands against it');
}

function judgeRequest(description: string): Verdict {
  if (/grant type/i.test(description)) return grantNotAllowed();
  if (/\baudience\b|\bresource\b/i.test(description)) return client('audience');
  if (/\bscope\b/i.test(description)) return client('scope');
  return { reason: 'refused', block: 'idpA', fields: [] };
}

function client(...fields: readonly string[]): Verdict {
  return { reason: 'refused', block: 'idpA', fields };
}

function grantNotAllowed(): Verdict {
  return { ...client('clientId'), note: 'the grant must be enabled for this application' };
}

// Without a service user of its own, a grant can only be refused for its application.
function user(grant: Grant, fields: readonly string[], note?: string): Verdict {
  const verdict: Verdict =
    grant === 'password' ? { reason: 'refused', block: 'idpAServiceUser', fields } : client('clientId');
  return note === undefined ? verdict : { ...verdict, note };
}

function outage(note?: string): Verdict {
  const verdict: Verdict = { reason: 'unavailable', block: 'idpA', fields: ['domain'] };
  return note === undefined ? verdict : { ...verdict, note };
}
