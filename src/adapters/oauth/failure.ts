import { redactor } from '../../domain/shared/redaction.js';
import type { IssueFailure, ExchangeRefusal } from '../../ports/identity-provider.js';
import type { ErrorResponse, Fault, ProviderError } from './provider-error.js';

/** What an error of the provider means for the configuration. */
export interface Verdict {
  readonly reason: 'refused' | 'unavailable';
  readonly fields: readonly string[];
  /** Default: what `places` says. */
  readonly block?: string;
  /** What an operator should know beyond the provider's own words. */
  readonly note?: string;
}

/** Where the value of a field was configured. */
export interface Place {
  readonly block: string;
  readonly field: string;
}

/** Where the values of one application were configured: in the provider's own block, or in `onBehalfOf`. */
export interface Places {
  /** The block of whatever has no field. */
  readonly block: string;
  readonly of: (field: string) => Place;
}

/** The places of an application all of whose values stand in `block`, but for those of an exchange's `own`. */
export function placesIn(block: string, own: ReadonlySet<string> = new Set()): Places {
  return {
    block: own.size === 0 ? block : 'onBehalfOf',
    of: (field) => ({ block: own.has(field) ? 'onBehalfOf' : block, field }),
  };
}

/** The same places, but that the value of one field came with the request: from an option of the route. */
export function fromRoute(places: Places, field: string, option: string): Places {
  return { ...places, of: (name) => (name === field ? { block: 'route', field: option } : places.of(name)) };
}

/** What tells the failures of one provider from those of others, for one kind of request. */
export interface FailureRules {
  readonly places: Places;
  /** The field that says where the provider is. */
  readonly addressField: string;
  /** The field that says which host it is, where that is another one. */
  readonly hostField?: string;
  /** What a code of the provider's library means; undefined: what it means everywhere. */
  fault(fault: Fault): Verdict | undefined;
  /** What counts before the status does; undefined for nothing. */
  special(response: ErrorResponse): Verdict | undefined;
  /** What an OAuth error of the token endpoint means. */
  refusal(response: ErrorResponse): Verdict;
  /** Whether an error of an exchange is the user's in words of this provider. */
  userRefusal?(response: ErrorResponse): ExchangeRefusal['reason'] | undefined;
  /** Codes of this provider beside `error`, for the log. */
  codes?(response: ErrorResponse): readonly string[];
  /** The sentence for the reader where `check the … configuration block` is not the best one. */
  advice?(verdict: Verdict, check: string): string | undefined;
}

/** In characters: the ids that Entra's support asks for stand at the end of a long text. */
const MAX_DETAIL = 1000;

const TEMPORARY: ReadonlySet<string> = new Set(['server_error', 'temporarily_unavailable', 'slow_down']);

/** A refusal that names the fields to check. */
export function refused(...fields: readonly string[]): Verdict {
  return { reason: 'refused', fields };
}

/** Turns what went wrong into the block and the fields to check; `secrets` are kept out of the detail. */
export function issueFailure(error: ProviderError, rules: FailureRules, secrets: readonly string[]): IssueFailure {
  const verdict = error.kind === 'fault' ? judgeFault(error, rules) : judgeResponse(error, rules);
  const { reason, note } = verdict;
  const [first, ...others] = grouped(
    verdict.fields,
    verdict.block === undefined ? rules.places : placesIn(verdict.block),
  );
  const check = `check ${[first, ...others].map(inWords).join('; and ')}`;
  return {
    kind: 'failure',
    reason,
    ...first,
    advice: rules.advice?.(verdict, check) ?? `${check.replace('c', 'C')}.`,
    detail: detailOf(error, rules, secrets, note),
    ...(error.kind === 'response' && error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
  };
}

type Group = Pick<IssueFailure, 'block' | 'fields'>;

/** The fields by the block to check. The exchange's own comes first: it was set to differ. */
function grouped(fields: readonly string[], { block, of }: Places): [Group, ...Group[]] {
  const found = fields.map(of);
  const blocks = new Set([block, ...found.map((place) => place.block)]);
  const [first = { block, fields: [] }, ...others] = [...blocks]
    .map((name) => ({ block: name, fields: found.filter((place) => place.block === name).map(({ field }) => field) }))
    .filter((group) => group.fields.length > 0);
  return [first, ...others];
}

function inWords({ block, fields }: Group): string {
  if (block === 'route') return `the options of the route: ${quoted(fields)}`;
  return `the "${block}" configuration block${fields.length === 0 ? '' : `: ${quoted(fields)}`}`;
}

function detailOf(error: ProviderError, rules: FailureRules, secrets: readonly string[], note = ''): string {
  const stage = error.stage === 'local' ? '' : `${error.stage} request failed`;
  const codes = error.kind === 'fault' ? [error.code] : [error.status, error.error, ...(rules.codes?.(error) ?? [])];
  const parts = [stage, codes.filter((code) => code !== '').join(' '), note, error.description];
  return redactor(secrets)(parts.filter((part) => part !== '').join(': ')).slice(0, MAX_DETAIL);
}

function judgeFault(fault: Fault, rules: FailureRules): Verdict {
  const { code } = fault;
  const known = rules.fault(fault);
  if (known !== undefined) return known;
  if (code === 'ERR_INVALID_URL' || code === 'ERR_NOT_HTTPS') return refused(rules.addressField);
  if (/^(UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO_|CERT_|ERR_TLS_|ERR_SSL_|HOSTNAME_MISMATCH)/.test(code)) {
    return unreachable(rules, 'the TLS certificate is not trusted here; NODE_EXTRA_CA_CERTS adds an authority');
  }
  if (code === 'ECONNREFUSED') return unreachable(rules);
  const isUnknownHost = code === 'ENOTFOUND' || code === 'EAI_AGAIN';
  return isUnknownHost ? unreachable(rules, 'no such host: a wrong address, or DNS is down') : outage(rules);
}

function judgeResponse(response: ErrorResponse, rules: FailureRules): Verdict {
  const { stage, status, error } = response;
  const special = rules.special(response);
  if (special !== undefined) return special;
  const isTemporary = status >= 500 || status === 408 || status === 425 || TEMPORARY.has(error);
  if (isTemporary || (status < 300 && error === '')) return outage(rules);
  return stage === 'metadata' || error === '' ? refused(rules.addressField) : rules.refusal(response);
}

function outage({ addressField }: FailureRules): Verdict {
  return { reason: 'unavailable', fields: [addressField] };
}

function unreachable({ addressField, hostField = addressField }: FailureRules, note = ''): Verdict {
  return { reason: 'unavailable', fields: [hostField], note };
}

/** The refusal of an exchange, if the user and not the application is the reason: a wrong client secret must not end every session. */
export function userRefusal(
  error: ProviderError,
  rules: FailureRules,
  secrets: readonly string[],
): ExchangeRefusal | undefined {
  if (error.kind === 'fault' || error.stage !== 'token' || error.status >= 500 || error.status === 429) {
    return undefined;
  }
  const reason = rules.userRefusal?.(error) ?? USER_REFUSALS.get(error.error);
  return reason && { kind: 'user-refused', reason, detail: detailOf(error, rules, secrets) };
}

const USER_REFUSALS: ReadonlyMap<string, ExchangeRefusal['reason']> = new Map([
  ['invalid_grant', 'expired'],
  ['invalid_token', 'expired'],
  ['bad_token', 'expired'],
  ['login_required', 'expired'],
  ['consent_required', 'interaction'],
  ['interaction_required', 'interaction'],
  ['mfa_required', 'interaction'],
  ['mfa_registration_required', 'interaction'],
]);

/**
 * The failure that names every field without a value; undefined when all are filled. Fields are in the order given.
 * `alternatives`: fields that may be filled together in the place of one.
 */
export function missingFields(
  places: Places,
  values: Readonly<Record<string, string>>,
  alternatives: Readonly<Record<string, readonly string[]>> = {},
): IssueFailure | undefined {
  const empty = Object.keys(values).filter((field) => values[field]?.trim() === '');
  if (empty.length === 0) return undefined;
  const groups = grouped(empty, places);
  const named = (field: string): string => {
    const instead = alternatives[field];
    return instead === undefined ? `"${field}"` : `"${field}", or ${quoted(instead, ' and ')}`;
  };
  const [{ block, fields }] = groups;
  const blanks = groups.map(
    (group) => `the "${group.block}" configuration block: ${group.fields.map(named).join(', ')}`,
  );
  return {
    kind: 'failure',
    reason: 'incomplete',
    block,
    fields: fields.flatMap((field) => [field, ...(alternatives[field] ?? [])]),
    advice: `Fill in ${blanks.join('; and ')}.`,
    detail: `not configured: ${empty.map((field) => `${places.of(field).block}.${field}`).join(', ')}`,
  };
}

function quoted(fields: readonly string[], separator = ', '): string {
  return fields.map((field) => `"${field}"`).join(separator);
}
