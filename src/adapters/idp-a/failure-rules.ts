import { type FailureRules, type Places, refused, type Verdict } from '../oauth/failure.js';
import type { ErrorResponse } from '../oauth/provider-error.js';

/** What kind of token was asked for. */
export type Grant = 'password' | 'client_credentials' | 'token_exchange';

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

/** What the failures of an Auth0-like provider mean. */
export function failureRules(grant: Grant, places: Places): FailureRules {
  return {
    places,
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
      if (/subject_token_type/i.test(description)) return { ...refused('subjectTokenType'), block: 'onBehalfOf' };
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
  return { reason: 'refused', block: 'idpAServiceUser', fields: fields.length === 0 ? ['username'] : fields, note };
}
