import type { ExchangeOutcome, IssueFailure } from '../../ports/identity-provider.js';
import type { SessionToken } from '../../ports/session-token-source.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { sessionFailed } from '../shared/errors.js';
import { warnOnce } from '../shared/warnings.js';
import { isTokenText } from './credential.js';

// Checks what functions of the site return: JavaScript has no types, and a wrong result would be blamed on another part.

/** The failure of a provider or an exchange of the site whose result is wrong: `option` has the function. */
export interface WrongResult extends IssueFailure {
  readonly option: 'identityProviders' | 'tokenExchange';
}

export const NO_SESSION_TOKEN = 'it returned no token in "accessToken": return its text, in ASCII, without blanks';

type Fields = Readonly<Record<string, unknown>>;

/** The result of a session source. @throws AgentBffError naming the field and what to return. */
export function checkedSession(found: SessionToken, telemetry: Telemetry): SessionToken {
  const { kind, accessToken, expiresAt } = Object(found) as Fields;
  if (!['token', 'no-session', 'expired'].includes(String(kind)))
    throw sessionFailed('it returned no known "kind": return a token as a string, or null');
  if (kind === 'token' && typeof accessToken !== 'string') throw sessionFailed(NO_SESSION_TOKEN);
  if (isSeconds(expiresAt)) throw sessionFailed(`it returned ${inSeconds('expiresAt')}`);
  // An expiry that is no time, such as NaN, would never be reached, and the token cached forever.
  const isTime = expiresAt === undefined || !Number.isNaN(Number(expiresAt ?? Number.NaN));
  const timed = isTime ? found : ({ ...found, expiresAt: undefined } as unknown as SessionToken);
  return withLog(timed, 'The session source', telemetry);
}

/** The outcome of a provider or an exchange of the site, complete; `block` is the one to check. */
export function checkedOutcome<Outcome extends ExchangeOutcome>(
  outcome: Outcome,
  { option, name, block }: Pick<WrongResult, 'option' | 'block'> & { readonly name: string },
  telemetry: Telemetry,
): Outcome | WrongResult {
  const wrong = wrongIn(Object(outcome) as Fields);
  const usual = { block, fields: [], advice: 'Correct what it returns.' };
  if (wrong === undefined) return withLog({ ...usual, ...outcome }, name, telemetry);
  return { kind: 'failure', reason: 'unavailable', ...usual, log: `${name} returned ${wrong}`, option };
}

const REASONS: Readonly<Record<string, readonly unknown[]>> = {
  failure: ['incomplete', 'refused', 'unavailable'],
  'user-refused': ['expired', 'interaction'],
};

function wrongIn({ kind, token, reason }: Fields): string | undefined {
  const reasons = REASONS[String(kind)];
  if (reasons !== undefined)
    return reasons.includes(reason) ? undefined : `no known "reason": return one of ${reasons.join(', ')}`;
  if (kind !== 'token') return 'no known "kind": return { kind: \'token\', token: { value, expiresAt } } or a failure';
  const { value, expiresAt } = Object(token) as Fields;
  if (!isTokenText(value)) return 'no token in "token.value": return its text, in ASCII, without blanks';
  if (isSeconds(expiresAt)) return inSeconds('token.expiresAt');
  return typeof expiresAt === 'number' ? undefined : 'no number in "token.expiresAt": return milliseconds since 1970';
}

/** True for seconds since the epoch: as milliseconds, they would be before 1974. */
function isSeconds(at: unknown): boolean {
  return typeof at === 'number' && at > 1e9 && at < 1e11;
}

function inSeconds(field: string): string {
  return `"${field}" in seconds: return milliseconds, 1,000 times as much`;
}

/** A result with its text for the log in `log`, also if it is in `detail`, which is public in errors. */
export function withLog<Result extends object>(result: Result, name: string, telemetry: Telemetry): Result {
  const { detail: said, ...rest } = result as Result & { readonly detail?: string };
  if (said === undefined) return result;
  const detail = `${name} returned a text for the log. Return it as "log" instead of "detail".`;
  warnOnce(telemetry, 'detail_returned', detail);
  return { log: String(said), ...rest } as unknown as Result;
}
