import * as v from 'valibot';
import { ConfigurationError } from '../../domain/errors.js';
import { nearest } from '../../domain/shared/nearest.js';
import { hasMethods } from '../../domain/shared/option-checks.js';
import { type Secret, secret } from '../../domain/shared/secret.js';
import { HEADER_KEY, isHeaderKey } from './header-secret.js';
import type {
  IdpAConfig,
  IdpAServiceUserConfig,
  IdpBServiceConfig,
  OnBehalfOfConfig,
  ServerConfig,
  ServiceAccountConfig,
  TimeoutsConfig,
} from './server-config.js';
import { AUTH_PROVIDERS } from './provider-flows.js';
import { nameHint, STRATEGIES } from './strategy-names.js';

type Check = v.GenericSchema<unknown>;

/** One field: how it is checked, what it is when absent, and the environment variable that sets it. */
interface Row<Value = unknown> {
  readonly check: Check;
  readonly default: Value;
  readonly variable: string;
  /** Whether the variable holds several values, with commas between. */
  readonly isList?: boolean;
  /** Whether nothing may print it. */
  readonly isSecret?: boolean;
}

/** A number has a default, a text is empty without a value, and everything else may be absent. */
type RowOf<Value> = [NonNullable<Value>] extends [number]
  ? Row<number>
  : [NonNullable<Value>] extends [string]
    ? Row<string>
    : Row;

type Rows<Block> = { readonly [Name in keyof Block]-?: RowOf<Block[Name]> };

/** The longest a timer of Node can wait, 24 days; one that is to wait longer fires at once. */
const MAX_MS = 2_147_483_647;

function text(variable = '', check: Check = v.string()): Row<string> {
  return { check, default: '', variable };
}

function secretText(variable = '', check?: Check): Row<string> {
  return { ...text(variable, check), isSecret: true };
}

function wholeNumber(standard: number, least = 0, most: number = Number.MAX_SAFE_INTEGER): Row<number> {
  const check = v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most));
  return { check, default: standard, variable: '' };
}

/** 0 waits for ever, unless `least` forbids it. */
function milliseconds(standard: number, least = 0): Row<number> {
  return wholeNumber(standard, least, MAX_MS);
}

function other(check: Check, variable = ''): Row {
  return { check, default: undefined, variable };
}

function texts(variable = ''): Row {
  return { ...other(v.array(v.string()), variable), isList: true };
}

const headerKey = v.pipe(
  v.string(),
  v.check((key) => key === '' || isHeaderKey(key), HEADER_KEY),
);
const store = v.custom<string | object>(
  (value) => typeof value === 'string' || hasMethods(value, ['get', 'set', 'delete']),
  'an address, or an object with get, set and delete',
);
const telemetry = v.custom<object>(
  (value) => value === 'silent' || [value].flat().every((one) => hasMethods(one, ['emit'])),
  'an object with emit, several, or "silent"',
);

/** The blocks whose fields are completed here; `upstream` has a reader of its own, which knows what a path may be. */
export interface Blocks {
  readonly serviceAccount: Rows<ServiceAccountConfig>;
  readonly idpA: Rows<IdpAConfig>;
  readonly idpAServiceUser: Rows<IdpAServiceUserConfig>;
  readonly idpBService: Rows<IdpBServiceConfig>;
  readonly onBehalfOf: Rows<OnBehalfOfConfig>;
  readonly timeouts: Rows<TimeoutsConfig>;
}

/** The table of configuration: checks, defaults, variables and secrets are read from here and nowhere else. */
export const BLOCKS: Blocks = {
  serviceAccount: {
    serviceAccountId: text('SERVICE_ACCOUNT_ID'),
    keyId: text('SERVICE_ACCOUNT_KEY_ID'),
    privateKeyPem: secretText('SERVICE_ACCOUNT_PRIVATE_KEY'),
    privateKeyPath: text('SERVICE_ACCOUNT_PRIVATE_KEY_PATH'),
    audience: other(v.union([v.string(), v.array(v.string()), v.literal(false)]), 'SERVICE_ACCOUNT_AUDIENCE'),
    subject: text(),
    issuer: text(),
    claims: other(v.record(v.string(), v.unknown())),
  },
  idpA: {
    domain: text('IDP_A_DOMAIN'),
    clientId: text('IDP_A_CLIENT_ID'),
    clientSecret: secretText('IDP_A_CLIENT_SECRET'),
    audience: text('IDP_A_AUDIENCE'),
    scope: text('IDP_A_SCOPE'),
    realm: text('IDP_A_REALM'),
  },
  idpAServiceUser: {
    username: text('IDP_A_SERVICE_USER_USERNAME'),
    password: secretText('IDP_A_SERVICE_USER_PASSWORD'),
  },
  idpBService: {
    tenantId: text('IDP_B_TENANT_ID'),
    clientId: text('IDP_B_CLIENT_ID'),
    scope: text('IDP_B_SCOPE'),
    clientSecret: secretText('IDP_B_CLIENT_SECRET'),
    certificatePath: text('IDP_B_CERTIFICATE_PATH'),
    privateKeyPath: text('IDP_B_PRIVATE_KEY_PATH'),
  },
  onBehalfOf: {
    provider: text(),
    scope: text(),
    audience: text(),
    subjectTokenType: text(),
    clientId: text(),
    tenantId: text(),
    clientSecret: secretText(),
    certificatePath: text(),
    privateKeyPath: text(),
  },
  timeouts: {
    connectMs: milliseconds(5_000),
    headersMs: milliseconds(60_000),
    bodyIdleMs: milliseconds(60_000),
    bodyMs: milliseconds(60_000),
    streamIdleMs: milliseconds(0),
    requestBodyMs: milliseconds(60_000),
    requestIdleMs: milliseconds(30_000),
    sendIdleMs: milliseconds(60_000),
    lookupMs: milliseconds(10_000, 1),
    identityProviderMs: milliseconds(5_000, 1),
    sessionMs: milliseconds(15_000),
    cacheMs: milliseconds(50, 1),
  },
};

/** The fields beside the blocks. */
export const FIELDS: Rows<Omit<ServerConfig, keyof Blocks>> = {
  a2aUrl: text('A2A_URL'),
  serviceApiUrl: text('SERVICE_API_URL'),
  serviceApiKey: secretText('SERVICE_API_KEY', headerKey),
  serviceProjectId: text('SERVICE_PROJECT_ID'),
  serviceAuthStrategy: text('SERVICE_AUTH_STRATEGY'),
  authProvider: text('AUTH_PROVIDER'),
  publicUrl: text('PUBLIC_URL'),
  agentCardUrl: text(),
  bindings: other(v.array(v.picklist(['JSONRPC', 'HTTP+JSON']))),
  upstream: other(v.custom<object>((value) => typeof value === 'object' && value !== null, 'an object')),
  a2aMethods: other(v.union([v.picklist(['chat', 'all']), v.array(v.string())])),
  bodyLimitBytes: wholeNumber(2_097_152, 1),
  maxInFlight: wholeNumber(0),
  keepAliveMs: milliseconds(15_000),
  allowedOrigins: texts(),
  allowedHosts: texts(),
  authUnavailableStatus: { check: v.picklist([401, 503]), default: 401, variable: '' },
  cacheStore: other(store, 'CACHE_URL'),
  cacheKeys: texts('CACHE_KEYS'),
  chatLimit: other(v.custom<object>((value) => hasMethods(value, ['admit']), 'an object with admit')),
  telemetry: other(telemetry),
};

/** Names of objects that are merged field by field; `claims` inside one of them is a value like any other. */
export const MERGED: ReadonlySet<string> = new Set([...Object.keys(BLOCKS), 'upstream', 'paths', 'headers']);

/** Where an environment variable goes. */
export interface Variable {
  readonly name: string;
  /** Empty for a field beside the blocks. */
  readonly block: string;
  readonly field: string;
  readonly isList: boolean;
}

/** Every environment variable the package reads. */
export const VARIABLES: readonly Variable[] = [
  ...variablesOf('', FIELDS),
  ...Object.entries(BLOCKS).flatMap(([block, rows]) => variablesOf(block, rows as Readonly<Record<string, Row>>)),
];

function variablesOf(block: string, rows: Readonly<Record<string, Row>>): readonly Variable[] {
  return Object.entries(rows)
    .filter(([, { variable }]) => variable !== '')
    .map(([field, { variable, isList = false }]) => ({ name: variable, block, field, isList }));
}

/** A block or the fields beside them, complete: a secret is wrapped, a text is empty without a value, a number has its default. */
export type Completed<Block, Secrets extends keyof Block = never> = {
  readonly [Name in keyof Block]-?: Name extends Secrets
    ? Secret
    : [NonNullable<Block[Name]>] extends [string]
      ? string
      : [NonNullable<Block[Name]>] extends [number]
        ? number
        : Block[Name];
};

/** Completes values by their rows; `Secrets` names those whose row is a secret's. */
export function completed<Block extends object, Secrets extends keyof Block = never>(
  rows: Rows<Block>,
  values: Block | undefined,
): Completed<Block, Secrets> {
  const result: Record<string, unknown> = {};
  for (const [name, row] of Object.entries(rows as Readonly<Record<string, Row>>)) {
    const value = (values as Readonly<Record<string, unknown>> | undefined)?.[name] ?? row.default;
    result[name] = row.isSecret === true ? secret(value as string) : value;
  }
  return result as Completed<Block, Secrets>;
}

const blockSchemas = Object.fromEntries(
  Object.entries(BLOCKS).map(([name, rows]) => [name, v.strictObject(checksOf(rows as Readonly<Record<string, Row>>))]),
);
const fieldSchemas = {
  ...checksOf(FIELDS),
  ...Object.fromEntries(Object.entries(blockSchemas).map(([name, check]) => [name, v.optional(check)])),
};
const schema = v.strictObject(fieldSchemas);

function checksOf(rows: Readonly<Record<string, Row>>): Record<string, Check> {
  return Object.fromEntries(Object.entries(rows).map(([name, { check }]) => [name, v.optional(check)]));
}

/**
 * Checks what is wrong whatever happens later: unknown fields, values of a wrong type, unknown strategies and providers.
 *
 * @throws ConfigurationError naming block, field and the nearest valid value.
 */
export function checkConfig(config: unknown, customProviders: ReadonlySet<string>): void {
  const result = v.safeParse(schema, config, { abortPipeEarly: true });
  if (!result.success) throw configurationError(result.issues[0]);
  const { serviceAuthStrategy, authProvider, onBehalfOf } = result.output as ServerConfig;
  checkName('serviceAuthStrategy', serviceAuthStrategy, [...STRATEGIES, ...customProviders]);
  checkName('provider', onBehalfOf?.provider, AUTH_PROVIDERS);
  checkName('authProvider', authProvider, [...AUTH_PROVIDERS, ...customProviders]);
}

function checkName(field: string, value: string | undefined, known: readonly string[]): void {
  const hint = value === undefined || value === '' ? undefined : nameHint(value, known);
  if (hint === undefined) return;
  const detail = `Invalid value for "${field}" in configureServer.`;
  throw new ConfigurationError({ detail, hint, block: 'configureServer', fields: [field] });
}

function configurationError(issue: v.BaseIssue<unknown>): ConfigurationError {
  const [first = '', second = ''] = (issue.path ?? []).map(({ key }) => String(key));
  // A place inside a list, or deeper inside a block's field, is still that field.
  const block = second !== '' && Object.hasOwn(BLOCKS, first) ? first : '';
  const field = block === '' ? first : second;
  const inside = block === '' ? 'configureServer' : `the "${block}" configuration block`;
  const known = Object.keys(block === '' ? fieldSchemas : BLOCKS[block as keyof Blocks]);
  // Values are never quoted: a secret may sit in the wrong field.
  if (field === '') {
    return new ConfigurationError({
      detail: 'The configuration is not an object.',
      hint: 'Pass an object to configureServer.',
      block: 'configureServer',
    });
  }
  if (!known.includes(field) && issue.expected === 'never') {
    return new ConfigurationError({
      detail: `Unknown field "${field}" in ${inside}.`,
      hint: `Did you mean "${nearest(field, known)}"?`,
      block: block === '' ? 'configureServer' : block,
      fields: [field],
    });
  }
  return new ConfigurationError({
    detail: `Invalid value for "${field}" in ${inside}.`,
    hint: `Set it to ${expected(issue)}.`,
    block: block === '' ? 'configureServer' : block,
    fields: [field],
  });
}

function expected(issue: v.BaseIssue<unknown>): string {
  if (issue.type === 'custom' || issue.type === 'check') return issue.message;
  if (issue.type === 'integer') return 'a whole number';
  const { requirement } = issue;
  if (issue.type === 'min_value') return `a number of at least ${String(requirement)}`;
  if (issue.type === 'max_value') return `a number of at most ${String(requirement)}`;
  return (issue.expected ?? 'another value').replaceAll(/[()]/g, '').replaceAll(' | ', ' or ');
}
