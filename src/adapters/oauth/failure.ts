import { clockDifference } from '../../domain/shared/clock-difference.js';
import { networkFault } from '../../domain/shared/network-fault.js';
import { redactor } from '../../domain/shared/redaction.js';
import { type AnySettings, quoted, revealed, type Setting } from '../../domain/shared/setting.js';
import { USER_ERRORS } from '../../domain/shared/user-errors.js';
import type { ExchangeRefusal, IssueFailure } from '../../ports/identity-provider.js';
import { type ErrorResponse, type Fault, type ProviderError, type Stage, textMember } from './provider-error.js';

/** A provider's error in terms of the configuration. */
export interface Verdict {
  readonly reason: 'refused' | 'unavailable';
  /** Fields to check, by their names in the settings. */
  readonly fields: readonly string[];
  /** Facts for operators beyond the provider's own message. */
  readonly note?: string;
}

/** The settings a request was made from, by field. */
export interface RequestSettings<Settings = AnySettings> {
  /** The block to name if no field is known. */
  readonly block: string;
  readonly settings: Settings;
}

/**
 * The settings of an exchange of users' tokens; `block` is the provider's own, for settings the exchange does not set.
 * `routed` is the field that the route option `audience` replaces.
 */
export function exchangeSettings<Settings extends object>(
  block: string,
  settings: Settings,
  routed?: keyof Settings,
): RequestSettings<Settings> {
  const all: readonly Setting<unknown>[] = Object.values(settings);
  const own = all.find((setting) => setting.block === 'onBehalfOf' && revealed(setting) !== '');
  const replaced = routed && { [routed]: { ...settings[routed], block: 'route', field: 'audience' } };
  return { block: own?.block ?? block, settings: { ...settings, ...replaced } };
}

/** The interpretation of one provider's failures, for one kind of request. */
export interface FailureRules extends RequestSettings {
  /** The field with the provider's address. */
  readonly addressField: string;
  /** The field with its host, if different. */
  readonly hostField?: string;
  /** Interprets an error code of the provider's library; `undefined` means the default. */
  fault?(fault: Fault): Verdict | undefined;
  /** Interprets a response before its status is checked; `undefined` means the default. */
  special(response: ErrorResponse): Verdict | undefined;
  /** Interprets a refusal of the token endpoint. */
  refusal(response: ErrorResponse): Verdict;
  /** The fields of the request, those of the application's credential first. */
  readonly sent: readonly [string, string, ...string[]];
  /** Recognises errors of an exchange that the user has to resolve, in the words of this provider. */
  userRefusal(response: ErrorResponse): ExchangeRefusal['reason'] | undefined;
  /** Codes of this provider besides `error`, for the log. */
  codes?(response: ErrorResponse): readonly string[];
  /** The advice, if `check the … configuration block` is not the best one. */
  advice?(verdict: Verdict, check: string): string | undefined;
}

/** In characters. Long, because the ids that Entra's support needs are at the end of a text. */
const MAX_DETAIL = 1000;

/** Of words that are no OAuth error. */
const MAX_SAID = 500;

const TEMPORARY: ReadonlySet<string> = new Set(['server_error', 'temporarily_unavailable', 'slow_down']);

/** A refusal that names the fields to check. */
export function refused(...fields: readonly string[]): Verdict {
  return { reason: 'refused', fields };
}

/** The failure with the block and the fields to check; `secrets` are redacted from its log. */
export function issueFailure(error: ProviderError, rules: FailureRules, secrets: readonly string[]): IssueFailure {
  const verdict = error.kind === 'fault' ? judgeFault(error, rules) : judgeResponse(error, rules);
  const { reason, note } = verdict;
  const [first, ...others] = grouped(verdict.fields, rules);
  const check = `check ${[first, ...others].map(inWords).join('; and ')}`;
  const isRefused = reason === 'refused' && error.kind === 'response' && error.error !== '';
  const isOurs = first.fields.length > 0 || error.stage === 'local' || isRefused;
  const advice = isOurs
    ? (rules.advice?.(verdict, check) ?? `${check.replace('c', 'C')}.`)
    : `Look at the server's log: the provider of ${inWords(first)}, or a proxy in front of it, issues no token.`;
  return {
    kind: 'failure',
    reason,
    ...first,
    advice: clockNote(error) === '' ? advice : `${advice} Set the clock of this server.`,
    log: logOf(error, rules, secrets, note),
    ...(error.kind === 'response' && error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
  };
}

type Group = Pick<IssueFailure, 'block' | 'fields'>;

/** The fields, grouped by block. The request's own block comes first: an exchange sets the differences. */
function grouped(names: readonly string[], { block, settings }: RequestSettings): [Group, ...Group[]] {
  const found = names.flatMap((name) => settings[name] ?? []);
  const blocks = new Set([block, ...found.map((setting) => setting.block)]);
  const [first = { block, fields: [] }, ...others] = [...blocks]
    .map((name) => ({ block: name, fields: found.filter((one) => one.block === name).map(({ field }) => field) }))
    .filter((group) => group.fields.length > 0);
  return [first, ...others];
}

function inWords({ block, fields }: Group): string {
  if (block === 'route') return `the options of the route: ${quoted(fields)}`;
  return `the "${block}" configuration block${fields.length === 0 ? '' : `: ${quoted(fields)}`}`;
}

function logOf(error: ProviderError, rules: FailureRules, secrets: readonly string[], note = ''): string {
  const stage = error.stage === 'local' ? '' : `${error.stage} request failed`;
  const codes = error.kind === 'fault' ? [error.code] : [error.status, error.error, ...(rules.codes?.(error) ?? [])];
  const clean = redactor(secrets);
  const said = error.kind === 'fault' ? '' : clean(error.said).replace(/\s+/g, ' ').trim().slice(0, MAX_SAID);
  const claims = error.kind === 'fault' ? '' : textMember(error.body, 'claims');
  const requested = claims && `requests claims ${claims}`;
  const words = [note, clockNote(error), error.description, said, requested];
  const parts = [stage, codes.filter((code) => code !== '').join(' '), ...words];
  return clean(parts.filter((part) => part !== '').join(': ')).slice(0, MAX_DETAIL);
}

/** A difference of the clocks may be the cause of a refusal. */
function clockNote(error: ProviderError): string {
  return error.kind === 'fault' ? '' : clockDifference(error.aheadMs, "the provider's");
}

function judgeFault(fault: Fault, rules: FailureRules): Verdict {
  const { code, stage } = fault;
  const known = rules.fault?.(fault);
  if (known !== undefined) return known;
  const { addressField, hostField: host = addressField } = rules;
  if (code === 'ERR_INVALID_URL' || code === 'ERR_NOT_HTTPS') return refused(addressField);
  // A fault of the network is never caused by the path.
  const meaning = networkFault(code);
  return outage(meaning === undefined ? addressField : host, stage, meaning);
}

function judgeResponse(response: ErrorResponse, rules: FailureRules): Verdict {
  const { stage, status, error } = response;
  const special = rules.special(response);
  if (special !== undefined) return special;
  const isTemporary = status >= 500 || status === 408 || status === 425 || TEMPORARY.has(error);
  const isSuccess = status < 300 && error === '';
  if (isTemporary || (isSuccess && status === 200 && stage === 'metadata')) return outage(rules.addressField, stage);
  const note = isSuccess && status !== 200 ? 'OAuth requires the status 200 (RFC 6749 §5.1)' : '';
  // The page of a firewall or proxy says nothing about the address.
  if (stage === 'metadata' && status === 403 && response.isPage) return refused();
  if (stage === 'metadata') return { ...refused(rules.addressField), note };
  const known = rules.refusal(response);
  if (known.fields.length > 0) return known;
  const named = namedIn(response, rules);
  if (named.length === 0 && isSuccess) return note === '' ? outage('', stage) : { ...refused(), note };
  if (named.length > 0 || response.isPage) return refused(...named);
  if (status === 401) return refused(...rules.sent.slice(0, 2));
  // Without a word, anything that was sent may be wrong.
  const { sent, addressField, settings } = rules;
  const isSent = (field: string): boolean =>
    field !== addressField && revealed(settings[field] ?? { value: '' }) !== '';
  return refused(...(error === '' && MAY_NAME.includes(status) ? sent.filter(isSent) : []));
}

/** Statuses of refusals that are about the request; 404 and 405 are about the endpoint. */
const MAY_NAME = [200, 400, 401, 403, 422];

/** The fields a refusal names. A web page is that of a proxy. */
function namedIn({ status, isPage, description, said }: ErrorResponse, { sent }: FailureRules): readonly string[] {
  if (isPage || !MAY_NAME.includes(status)) return [];
  const pattern = (field: string): string => field.replace(/Path$/, '').replace(/[A-Z]/g, '[ _-]?$&');
  return sent.filter((field) => new RegExp(`\\b${pattern(field)}`, 'i').test(`${description} ${said}`));
}

/** After discovery the address is right. */
function outage(field: string, stage: Stage, note = ''): Verdict {
  return { reason: 'unavailable', fields: stage === 'token' ? [] : [field], note };
}

/** The refusal of an exchange, if caused by the user and not the application: a wrong client secret must not end every session. */
export function userRefusal(
  error: ProviderError,
  rules: FailureRules,
  secrets: readonly string[],
): ExchangeRefusal | undefined {
  if (error.kind === 'fault' || error.stage !== 'token' || error.status >= 500 || error.status === 429) {
    return undefined;
  }
  const reason = rules.userRefusal(error) ?? USER_ERRORS.get(error.error);
  const claims = textMember(error.body, 'claims');
  return reason && { kind: 'user-refused', reason, log: logOf(error, rules, secrets), ...(claims && { claims }) };
}

/**
 * The failure that names every setting without a value; undefined if all are set. Fields are in the order of the
 * settings. `alternatives`: fields that together may replace one field.
 */
export function missingFields(
  request: RequestSettings,
  alternatives: Readonly<Record<string, readonly string[]>> = {},
): IssueFailure | undefined {
  const empty = Object.entries(request.settings).filter(([, setting]) => revealed(setting).trim() === '');
  if (empty.length === 0) return undefined;
  const groups = grouped(
    empty.map(([name]) => name),
    request,
  );
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
    log: `not configured: ${empty.map(([, setting]) => `${setting.block}.${setting.field}`).join(', ')}`,
  };
}
