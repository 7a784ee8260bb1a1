import type { KeyvLike } from '../../adapters/keyv/keyv-cache-store.js';
import { MethodPolicy } from '../../domain/chat/method-policy.js';
import { ConfigurationError } from '../../domain/shared/errors.js';
import { nearest, similar } from '../../domain/shared/nearest.js';
import { isPlainObject, type OptionShape, readOptions, type Refusal } from '../../domain/shared/options.js';
import { withoutTrailingSlashes } from '../../domain/shared/paths.js';
import type { Secret } from '../../domain/shared/secret.js';
import { type AnyRows, hasFields, type ValuesOf, valuesOf } from '../../domain/shared/setting.js';
import type { Endpoint } from '../../domain/upstream/platform-call.js';
import type { CacheStore } from '../../ports/cache-store.js';
import type { ExchangeBlock } from '../../ports/identity-provider.js';
import { type CacheAddress, cacheAddress } from './addresses.js';
import { warningsOf, withWarnings } from './env.js';
import { DEFAULT_EXCHANGE, EXCHANGES, principalOf, type ProviderBlocks, type ProviderName } from './providers.js';
import { type ConfigSettings, FIELDS, type PlainSettings } from './schema.js';
import type { ServerConfig } from './server-config.js';

type Derived = 'a2aUrl' | 'agentCardUrl' | 'serviceApiUrl' | 'a2aMethods' | 'cacheStore';

/** Texts are empty when absent; secrets are wrapped. Behind this type nothing has a default any more. */
export interface ResolvedConfig extends Omit<ValuesOf<PlainSettings>, Derived>, ProviderBlocks, ExchangeBlock {
  readonly agent: Endpoint | undefined;
  /** The address of the agent's card; undefined when it is to be looked for. */
  readonly agentCard: Endpoint | undefined;
  readonly serviceApi: Endpoint | undefined;
  /** True if any field of the block `serviceAccount` is filled. */
  readonly hasServiceAccount: boolean;
  /** One policy for all credentials when configured; else closed for services and open for sessions. */
  readonly servicePolicy: MethodPolicy;
  readonly sessionPolicy: MethodPolicy;
  readonly timeouts: ResolvedTimeouts;
  /** The provider that exchanges users' tokens. */
  readonly exchangeProvider: ProviderName;
  /** True if every session route exchanges; else those that ask for it. */
  readonly alwaysExchange: boolean;
  /** Undefined when there is none, or one at `cacheAddress`. */
  readonly cacheStore: CacheStore | KeyvLike | undefined;
  readonly cacheAddress: CacheAddress | undefined;
  readonly customProviders: ReadonlySet<string>;
  /** Tells the platform, as this configuration addresses it, from others that share a store. */
  readonly place: string;
}

/** All deadlines in milliseconds. */
export type ResolvedTimeouts = ValuesOf<ConfigSettings['timeouts']> & {
  /** For chat messages, whose agents may work for minutes before they speak. */
  readonly chat: Pick<ValuesOf<ConfigSettings['timeouts']>, 'headersMs' | 'bodyIdleMs' | 'bodyMs'>;
};

type Values = Readonly<Record<string, unknown>>;

/** The rows of all fields as the options of one function. */
const SHAPE = shapeOf(FIELDS) as OptionShape<keyof ServerConfig>;

/**
 * Checks a configuration and completes it, with further providers of a toolkit: the table of fields says how, and here is what is made of several fields.
 *
 * @throws ConfigurationError naming block and field.
 */
export function resolveConfig(
  config: ServerConfig,
  { identityProviders = {} }: Pick<ServerConfig, 'identityProviders'> = {},
): ResolvedConfig {
  if (!hasFields(config)) {
    const hint = 'Pass an object to configureServer.';
    throw new ConfigurationError({ detail: 'The configuration is not an object.', hint, block: 'configureServer' });
  }
  // Merged with nothing, an instance of a class becomes an object of its fields.
  const plain = mergeConfig({}, config);
  const providers = { ...plain.identityProviders, ...identityProviders };
  const all = { ...plain, identityProviders: providers };
  const given = readOptions<ServerConfig>('configureServer', SHAPE, plain, all, refusal);
  const read = unwrapped(settingsOf(FIELDS, given as Values, 'configureServer') as ConfigSettings);
  const { a2aUrl, agentCardUrl, serviceApiUrl, a2aMethods, cacheStore, timeouts, ...same } = read;
  const { authProvider, onBehalfOf } = same;
  const exchangeProvider =
    onBehalfOf.provider.value || (EXCHANGES.includes(authProvider) ? authProvider : DEFAULT_EXCHANGE);
  return {
    ...same,
    agent: a2aUrl,
    agentCard: agentCardUrl,
    serviceApi: serviceApiUrl,
    serviceAccount: completedAccount(same.serviceAccount, given.serviceApiUrl),
    hasServiceAccount: Object.keys(given.serviceAccount ?? {}).length > 0,
    servicePolicy: new MethodPolicy(a2aMethods ?? 'chat'),
    sessionPolicy: new MethodPolicy(a2aMethods ?? 'all'),
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
    cacheAddress: typeof cacheStore === 'string' ? cacheAddress(cacheStore) : undefined,
    identityProviders: providers,
    customProviders: new Set(Object.keys(providers)),
  };
}

/** An agent may work for minutes before it speaks (decision 84). */
const CHAT_SILENCE_MS = 300_000;

/** Every secret of a configuration, for the one place that takes them out of texts. */
export function configuredSecrets(value: unknown, depth = 4): string[] {
  if (isSecret(value)) return [value.reveal()];
  // Only plain blocks: what a site brings, such as a store, is not ours to look into.
  if (!isPlainObject(value) || depth === 0) return [];
  return Object.values(value).flatMap((inner) => configuredSecrets(inner, depth - 1));
}

/**
 * Merges field by field, also inside blocks: `undefined` leaves a value, an empty string clears it (spec §2.1).
 * A value given in one form replaces one given earlier in another: a key file the key that was configured as text.
 */
export function mergeConfig(current: ServerConfig, changes: ServerConfig): ServerConfig {
  // What is no object is refused where configurations are checked, in words.
  if (!hasFields(changes)) return changes as ServerConfig;
  // Warnings of earlier calls have been reported.
  return withWarnings(merged(FIELDS, current as Values, changes), warningsOf(changes));
}

function merged(rows: AnyRows, current: Values, changes: Values): Values {
  // A map, since `__proto__` as a property of an object would vanish here, and pass where unknown names are refused.
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
  const options = Object.entries(rows).map(([name, { check, fields = {} }]) => [name, check ?? shapeOf(fields)]);
  return { options: Object.fromEntries(options) as OptionShape['options'] };
}

/** The errors of a configuration name block and field. */
const refusal: Refusal = ({ path, all }, problem, names, hint) => {
  const [block = 'configureServer', ...blocks] = path.split('.').slice(0, -1);
  const fields = names.map((name) => [...blocks, name].join('.'));
  const inside = path === '' ? block : `the "${block}" configuration block`;
  const quoted = fields.map((field) => `"${field}"`).join(' and ');
  return new ConfigurationError({
    detail: `${problem.replace('option', 'field')} ${quoted} in ${inside}.`,
    hint: problem === 'Unknown option' ? names.map((name) => unknownHint(name, path, all)).join(' ') : hint,
    block,
    fields,
  });
};

function unknownHint(unknown: string, path: string, config: object): string {
  let [shape, values]: [OptionShape, object] = [SHAPE, config];
  for (const name of path.split('.').slice(0, -1)) {
    shape = shape.options[name] as OptionShape;
    values = (values as Values)[name] as object;
  }
  // `process.env` itself.
  const isEnvironment = Object.keys(values).some((name) => /^[A-Z][A-Z\d_]+$/.test(name));
  if (isEnvironment) return 'Pass variables through configFromEnv(process.env).';
  const known = Object.keys(shape.options);
  const shortened = known.filter((name) => isShortened(unknown, name));
  const meant = similar(unknown, known) ?? nearest(unknown, shortened);
  return meant === '' ? `Known fields: ${known.join(', ')}.` : `Did you mean "${meant}"?`;
}

/** True if a name has the letters of another in their order, as "keyId" has those of "kid", and "serviceApiKey" those of "apiKey". */
function isShortened(short: string, name: string): boolean {
  const letters = short.toLowerCase();
  let found = 0;
  for (const letter of name.toLowerCase()) if (letter === letters[found]) found += 1;
  return found === letters.length;
}

/** The settings of all fields of a block, and of the blocks inside. */
function settingsOf(rows: AnyRows, values: Values, block: string): object {
  const entries = Object.entries(rows).map(([field, { read, side, fields = {} }]) => {
    const value = values[field];
    if (read === undefined) return [field, settingsOf(fields, (value ?? {}) as Values, field)];
    return [field, { value: read(value), block, field, side }];
  });
  return Object.fromEntries(entries) as object;
}

/** The values of the settings outside of all blocks, and the settings of the blocks. */
function unwrapped(
  settings: ConfigSettings,
): ValuesOf<PlainSettings> & Omit<ConfigSettings, keyof PlainSettings> & { readonly place: string } {
  const entries = Object.entries(settings).map(([name, setting]) => [
    name,
    'side' in setting ? setting.value : setting,
  ]);
  return { ...Object.fromEntries(entries), place: principalOf(settings) };
}

/** A service account is its own issuer and subject, and its tokens are for the platform, unless it is configured otherwise. */
function completedAccount(
  account: ProviderBlocks['serviceAccount'],
  serviceApiUrl = '',
): ProviderBlocks['serviceAccount'] {
  const { serviceAccountId, subject, issuer, audience } = account;
  return {
    ...account,
    audience: {
      ...audience,
      value: audience.value === '' ? withoutTrailingSlashes(serviceApiUrl.trim()) : audience.value,
    },
    subject: { ...subject, value: subject.value || serviceAccountId.value },
    issuer: { ...issuer, value: issuer.value || serviceAccountId.value },
  };
}

function isSecret(value: unknown): value is Secret {
  return typeof (Object(value) as Partial<Secret>).reveal === 'function';
}
