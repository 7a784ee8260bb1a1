import { SecretFile, textFile } from '../../adapters/keys/secret-file.js';
import { sha256, systemClock } from '../../adapters/system/system.js';
import type { KeyvLike } from '../../adapters/keyv/keyv-store.js';
import { MethodPolicy } from '../../domain/chat/method-policy.js';
import { ConfigurationError, isAgentBffError } from '../../domain/shared/errors.js';
import { nearest, similar } from '../../domain/shared/nearest.js';
import {
  hasMethods,
  isPlainObject,
  type OptionCheck,
  type OptionShape,
  type Level,
  readOptions,
  type Refusal,
} from '../../domain/shared/options.js';
import { withoutTrailingSlashes } from '../../domain/shared/paths.js';
import type { Secret } from '../../domain/shared/secret.js';
import {
  type AnyRows,
  hasFields,
  invalidField,
  quoted,
  type Setting,
  type SettingRow,
  type ValuesOf,
  valuesOf,
  type VariableHint,
  withVariables,
} from '../../domain/shared/setting.js';
import type { Endpoint } from '../../domain/upstream/platform-call.js';
import type { CacheStore } from '../../ports/cache-store.js';
import type { Clock } from '../../ports/clock.js';
import type { ExchangeBlock } from '../../domain/shared/provider-descriptor.js';
import { type CacheAddress, cacheAddress } from './addresses.js';
import { inEnvironment, withOrigin, withoutForeign } from './env.js';
import { didYouMean, pathsOf, routeHint } from './option-hint.js';
import { DEFAULT_EXCHANGE, EXCHANGES, principalOf, type ProviderBlocks, type ProviderName } from './providers.js';
import { type ConfigSettings, FIELDS, type PlainSettings } from './schema.js';
import type { ServerConfig } from './server-config.js';

type Derived = 'a2aUrl' | 'agentCardUrl' | 'serviceApiUrl' | 'a2aMethods' | 'cacheStore';

/** Complete: texts are empty if absent, and secrets are wrapped. No code after this applies defaults. */
export interface ResolvedConfig extends Omit<ValuesOf<PlainSettings>, Derived>, ProviderBlocks, ExchangeBlock {
  readonly agent: Endpoint | undefined;
  /** The address of the agent's card; undefined to search for it. */
  readonly agentCard: Endpoint | undefined;
  readonly serviceApi: Endpoint | undefined;
  /** True if any field of the block `serviceAccount` is set. */
  readonly hasServiceAccount: boolean;
  /** One policy for all credentials if configured; otherwise closed for services and open for sessions. */
  readonly servicePolicy: MethodPolicy;
  readonly sessionPolicy: MethodPolicy;
  readonly timeouts: ResolvedTimeouts;
  /** The provider that exchanges users' tokens. */
  readonly exchangeProvider: ProviderName;
  /** True if every session route exchanges tokens; otherwise only those with the option. */
  readonly alwaysExchange: boolean;
  /** Undefined if there is none, or if it is at `cacheAddress`. */
  readonly cacheStore: CacheStore | KeyvLike | undefined;
  readonly cacheAddress: CacheAddress | undefined;
  readonly customProviders: ReadonlySet<string>;
  /** The secrets in files. */
  readonly files: readonly SecretFile[];
  /** The sentence after a hint about these fields, which names their environment variables. */
  readonly variables: VariableHint;
  /** Distinguishes this platform, as configured, from others that share a store. */
  readonly platformKey: string;
}

/** All deadlines in milliseconds. */
export type ResolvedTimeouts = ValuesOf<ConfigSettings['timeouts']> & {
  /** For chat messages, whose agents may work for minutes before they respond. */
  readonly chat: Pick<ValuesOf<ConfigSettings['timeouts']>, 'headersMs' | 'bodyIdleMs' | 'bodyMs'>;
};

type Values = Readonly<Record<string, unknown>>;

/** The rows of all fields as the options of one function. */
export const SHAPE = shapeOf(FIELDS) as OptionShape<keyof ServerConfig>;

/**
 * Checks a configuration and completes it, including additional providers of a toolkit. The table of fields defines the
 * rules; values that depend on several fields are computed here. `maker` is the function that the site called.
 *
 * @throws ConfigurationError naming block and field.
 */
export function resolveConfig(
  config: ServerConfig,
  {
    identityProviders = {},
    clock = systemClock,
  }: Pick<ServerConfig, 'identityProviders'> & { readonly clock?: Clock | undefined } = {},
  maker: string = TOP,
): ResolvedConfig {
  if (!hasFields(config)) {
    const hint = `Pass an object to ${maker}.`;
    throw new ConfigurationError({ detail: 'The configuration is not an object.', hint, block: maker });
  }
  // Merging turns an instance of a class into an object of its fields.
  const plain = mergeConfig({}, config);
  const providers = { ...plain.identityProviders, ...identityProviders };
  const all = { ...plain, identityProviders: providers };
  const variables: VariableHint = (block, fields) => inEnvironment(plain, block === maker ? TOP : block, fields);
  const files: SecretFile[] = [];
  const [given, read, address] = readFields(plain, all, variables, { clock, files }, maker);
  const { a2aUrl, agentCardUrl, serviceApiUrl, a2aMethods, cacheStore, timeouts } = read;
  const same: Omit<typeof read, Derived | 'timeouts'> = read;
  const { authProvider, onBehalfOf } = same;
  const exchangeProvider =
    onBehalfOf.provider.value || (EXCHANGES.includes(authProvider) ? authProvider : DEFAULT_EXCHANGE);
  const policy = (usual: keyof typeof POLICIES): MethodPolicy =>
    typeof a2aMethods === 'object' ? new MethodPolicy(a2aMethods) : POLICIES[a2aMethods ?? usual];
  // Extends the object instead of copying it, because a site with thousands of tenants configures each of them.
  return Object.assign(same, {
    name: same.name || sha256(JSON.stringify([same.platformKey, a2aUrl])).slice(0, 8),
    agent: a2aUrl,
    agentCard: agentCardUrl,
    serviceApi: serviceApiUrl,
    serviceAccount: completedAccount(same.serviceAccount, given.serviceApiUrl),
    hasServiceAccount: Object.keys(given.serviceAccount ?? {}).length > 0,
    servicePolicy: policy('chat'),
    sessionPolicy: policy('all'),
    timeouts: {
      ...valuesOf(timeouts),
      chat: {
        headersMs: given.timeouts?.headersMs ?? CHAT_SILENCE_MS,
        bodyIdleMs: given.timeouts?.bodyIdleMs ?? CHAT_SILENCE_MS,
        bodyMs: given.timeouts?.bodyMs ?? 0,
      },
    },
    exchangeProvider: exchangeProvider as ProviderName,
    alwaysExchange: given.onBehalfOf !== undefined,
    cacheStore: typeof cacheStore === 'string' ? undefined : cacheStore,
    cacheAddress: address,
    identityProviders: providers,
    customProviders: new Set(Object.keys(providers)),
    variables,
    files,
  });
}

/** The checked fields, their settings, and the address of the store; an error names the environment variables of its fields too. */
function readFields(plain: ServerConfig, all: object, variables: VariableHint, files: Files, maker: string) {
  try {
    const given = readOptions<ServerConfig>(maker, SHAPE, withoutForeign(plain, all), all, refusal);
    const settings = settingsOf(FIELDS, given as Values, TOP, files) as ConfigSettings;
    const { cacheStore } = settings;
    const address = typeof cacheStore.value === 'string' ? cacheAddress(cacheStore.value, maker) : undefined;
    return [given, unwrapped(settings), address] as const;
  } catch (error) {
    const named = withVariables(error, variables);
    // The rows of the table do not know which function was called.
    if (isAgentBffError(named) && named.block === TOP) Object.assign(named, { block: maker });
    throw named;
  }
}

/** The block of fields outside a block. */
const TOP = 'configureServer';

interface Files {
  readonly clock: Clock;
  readonly files: SecretFile[];
}

/** `{ path }`; from the environment also the variable that is set beside the one of the path. */
function isPath(value: unknown): value is { readonly path: string; readonly and?: string } {
  const { path, and: _and, ...others } = (isPlainObject(value) ? value : {}) as Values;
  return typeof path === 'string' && Object.keys(others).length === 0;
}

/** The value in a file. */
function valueIn(row: SettingRow, value: unknown, block: string, field: string, { clock, files }: Files): unknown {
  if (!isPath(value)) return row.read(value);
  const { path, and } = value;
  if (and !== undefined)
    throw invalidField(field, `${and} and ${and}_FILE are both set.`, 'Remove one of them.', block);
  if (row.file === 'watched') {
    const isUsable = (text: string): boolean => text !== '' && (row.check as OptionCheck)(text, {}) === undefined;
    const parse = (text: string): Secret | undefined => (isUsable(text) ? (row.read(text) as Secret) : undefined);
    const file = new SecretFile({ block, field }, path, parse, clock);
    files.push(file);
    return file;
  }
  const found = textFile(path, (text) => text.trim()).read();
  if (typeof found === 'string' && found !== '')
    return row.read(row.isList === true ? found.split(/[\s,]+/).filter(Boolean) : found);
  const reason = typeof found === 'string' ? 'empty' : found.code;
  const detail = `The file of "${field}" cannot be read: ${path} (${reason}).`;
  throw invalidField(field, detail, 'Set it to the path of a file of at most 64 KB that this process can read.');
}

const POLICIES = { chat: new MethodPolicy('chat'), all: new MethodPolicy('all') };

/** An agent may work for minutes before it responds (decision 84). */
const CHAT_SILENCE_MS = 300_000;

/** Every secret of a configuration, for redaction. */
export function configuredSecrets(value: unknown, depth = 4, found: string[] = []): string[] {
  if (hasMethods(value, ['reveal'])) found.push((value as Secret).reveal());
  // Only plain blocks: objects from the site, such as a store, are not inspected.
  else if (depth > 0 && isPlainObject(value))
    for (const name in value) configuredSecrets(value[name], depth - 1, found);
  return found;
}

/**
 * Merges field by field, also inside blocks: `undefined` leaves a value, an empty string clears it
 * (docs/configuration.md). A value in one form replaces an earlier one in another form: a key file replaces a key that
 * was configured as text.
 */
export function mergeConfig(current: ServerConfig, changes: ServerConfig): ServerConfig {
  // Left to the check of the configuration, which reports it.
  if (!hasFields(changes)) return changes as ServerConfig;
  return withOrigin(merged(FIELDS, withoutForeign(current) as Values, changes), changes, current);
}

function merged(rows: AnyRows, current: Values, changes: Values): Values {
  // A `Map`, since assigning `__proto__` to an object would drop the name, and so skip the check for unknown names.
  const values = new Map(Object.entries(current));
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) continue;
    const { fields, replaces = [] } = (Object.hasOwn(rows, name) ? rows[name] : undefined) ?? {};
    const replaced = value === '' ? [] : replaces.filter((other) => changes[other] === undefined);
    for (const other of replaced) values.delete(other);
    const isBlock = fields !== undefined && hasFields(value) && !Array.isArray(value);
    values.set(name, isBlock ? merged(fields, (values.get(name) ?? {}) as Values, value) : value);
  }
  return Object.fromEntries(values);
}

function shapeOf(rows: AnyRows): OptionShape {
  const options = Object.entries(rows).map(([name, { check, file, fields = {} }]) => {
    if (typeof check !== 'function' || file === undefined) return [name, check ?? shapeOf(fields)];
    return [name, (value: unknown, all: object) => (isPath(value) ? undefined : check(value, all))];
  });
  return { options: Object.fromEntries(options) as OptionShape['options'] };
}

/** Errors of a configuration name block and field. */
const refusal: Refusal = (level, problem, names, hint) => {
  const { path, maker } = level;
  const [block = maker, ...blocks] = path.split('.').slice(0, -1);
  const fields = names.map((name) => [...blocks, name].join('.'));
  const inside = path === '' ? block : `the "${block}" configuration block`;
  return new ConfigurationError({
    detail: `${problem.replace('option', 'field')} ${quoted(fields, ' and ')} in ${inside}.`,
    hint: problem === 'Unknown option' ? names.map((name) => unknownHint(name, level)).join(' ') : hint,
    block,
    fields,
  });
};

function unknownHint(unknown: string, { shape, options }: Level): string {
  const known = Object.keys(shape.options);
  // `process.env` itself.
  const isEnvironment = Object.keys(options).some((name) => /^[A-Z][A-Z\d_]+$/.test(name));
  if (isEnvironment) return 'Pass variables through configFromEnv(process.env).';
  const shortened = hasFields(options[unknown]) ? [] : known.filter((name) => isShortened(unknown, name));
  if (shortened.length > 0) return didYouMean([nearest(unknown, shortened)]);
  const elsewhere = pathsOf(unknown, SHAPE);
  if (elsewhere.length > 0) return didYouMean(elsewhere);
  const near = similar(unknown, known);
  if (near !== undefined) return didYouMean([near]);
  return routeHint(unknown) ?? `Known fields: ${known.join(', ')}.`;
}

/** True if a name contains the letters of another in their order, as "keyId" contains "kid", and "serviceApiKey" contains "apiKey". */
function isShortened(short: string, name: string): boolean {
  const letters = short.toLowerCase();
  let found = 0;
  for (const letter of name.toLowerCase()) if (letter === letters[found]) found += 1;
  return found === letters.length;
}

/** The settings of all fields of a block, and of nested blocks. */
function settingsOf(rows: AnyRows, values: Values, block: string, files: Files): object {
  const settings: Record<string, unknown> = {};
  for (const field in rows) {
    const row = rows[field] as Partial<SettingRow>;
    const value = values[field];
    const unset = value === undefined ? UNSET.get(row) : undefined;
    settings[field] = unset ?? settingOf(row, value, block, field, files);
    if (value === undefined) UNSET.set(row, settings[field] as object);
  }
  return settings;
}

/** The settings of fields without a value: one for all toolkits of a process, of which some have thousands. */
const UNSET = new WeakMap<Partial<SettingRow>, object>();

function settingOf(row: Partial<SettingRow>, value: unknown, block: string, field: string, files: Files): object {
  if (row.read === undefined) return settingsOf(row.fields ?? {}, (value ?? {}) as Values, field, files);
  return { value: valueIn(row as SettingRow, value, block, field, files), block, field, side: row.side };
}

/** The plain values of settings outside blocks, and the settings of the blocks. Replaces them in place. */
function unwrapped(
  settings: ConfigSettings,
): ValuesOf<PlainSettings> & Omit<ConfigSettings, keyof PlainSettings> & { readonly platformKey: string } {
  const platformKey = principalOf(settings);
  const values = settings as unknown as Record<string, object>;
  for (const name in values) {
    const setting = values[name] as Setting<object> | AnyRows;
    if ('side' in setting) values[name] = setting.value;
  }
  return Object.assign(values, { platformKey }) as unknown as ReturnType<typeof unwrapped>;
}

/** By default, a service account is its own issuer and subject, and its tokens are for the platform. */
function completedAccount(
  account: ProviderBlocks['serviceAccount'],
  serviceApiUrl = '',
): ProviderBlocks['serviceAccount'] {
  const { serviceAccountId, subject, issuer, audience } = account;
  const orElse = <Value>(setting: Setting<Value>, usual: Value): Setting<Value> =>
    setting.value === '' ? { ...setting, value: usual } : setting;
  return {
    ...account,
    audience: orElse(audience, withoutTrailingSlashes(serviceApiUrl.trim())),
    subject: orElse(subject, serviceAccountId.value),
    issuer: orElse(issuer, serviceAccountId.value),
  };
}
