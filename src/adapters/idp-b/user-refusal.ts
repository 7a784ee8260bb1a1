import type { ExchangeRefusal } from '../../ports/token-exchange.js';
import { redactSecrets } from '../oauth/redact-secrets.js';
import { detailOf, MAX_DETAIL } from './classify-failure.js';
import type { ProviderError } from './provider-error.js';

type Reason = ExchangeRefusal['reason'];

/** The refusal, if the user and not the application is the reason: a wrong client secret must not end every session. */
export function userRefusal(error: ProviderError, secrets: readonly string[]): ExchangeRefusal | undefined {
  if (error.kind !== 'answer' || error.stage !== 'token' || error.status >= 500 || error.status === 429) {
    return undefined;
  }
  const reason = refusalReason(error);
  if (reason === undefined) return undefined;
  return { kind: 'user-refused', reason, detail: redactSecrets(detailOf(error), secrets, MAX_DETAIL) };
}

function refusalReason({ error, suberror, numbers }: Extract<ProviderError, { kind: 'answer' }>): Reason | undefined {
  switch (error) {
    case 'interaction_required':
    case 'consent_required':
      return 'interaction';
    case 'login_required':
    case 'invalid_token':
    case 'bad_token':
      return 'expired';
    case 'invalid_grant':
      if (INTERACTION_SUBERRORS.has(suberror)) return 'interaction';
      return numbers.some((number) => INTERACTION_NUMBERS.has(number)) ? 'interaction' : 'expired';
    // Entra has no better word for a user's token it cannot read.
    case 'invalid_request':
      return numbers.some((number) => ASSERTION_NUMBERS.has(number)) ? 'expired' : undefined;
    default:
      return undefined;
  }
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
