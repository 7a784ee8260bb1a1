import type { KeyvLike } from '../../adapters/keyv/keyv-store.js';
import { readSealingKey, type SealingKey } from '../../adapters/keyv/entry-seal.js';
import type { DispatcherLike } from '../../adapters/undici/dispatcher-upstream.js';
import type { HostName } from '../../adapters/web/admission.js';
import { isTokenText, withoutScheme } from '../../domain/credentials/credential.js';
import { MAX_TIMER_MS } from '../../domain/shared/deadline.js';
import { nameHint, similar } from '../../domain/shared/nearest.js';
import {
  accept,
  flag,
  hasMethods,
  headerKey,
  methods,
  type OptionCheck,
  text as string,
  texts as strings,
} from '../../domain/shared/options.js';
import { optionalSecret, type Secret, secret } from '../../domain/shared/secret.js';
import {
  type AnyRows,
  hasFields,
  invalidField,
  row,
  type Rows,
  secretRow,
  watched,
  type SettingRow,
  type SettingsOf,
  type Side,
  textRow,
} from '../../domain/shared/setting.js';
import { type Endpoint, endpoint } from '../../domain/upstream/platform-call.js';
import type { CacheStore } from '../../ports/cache-store.js';
import type { ExchangeBlock } from '../../domain/shared/provider-descriptor.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { VisitorLimit } from '../../ports/visitor-limit.js';
import { allowedHost, originOf, publicAddress } from './addresses.js';
import { AUTH_PROVIDERS, EXCHANGES, type ProviderBlocks, providerOf, PROVIDERS, VENDORS } from './providers.js';
import { type ServerConfig, STRATEGIES, type TimeoutsConfig } from './server-config.js';
import { type ResolvedUpstream, resolveUpstream, UPSTREAM } from './upstream-config.js';

/** The blocks whose settings are read individually. */
type Blocks = ProviderBlocks & ExchangeBlock & { readonly timeouts: SettingsOf<TimeoutsConfig> };

/** The dispatchers of a site. */
export type Ways = Readonly<Record<'agent' | 'platform', DispatcherLike | undefined>>;

/** The settings outside blocks. Those whose type changes when they are read are listed. */
export type PlainSettings = SettingsOf<
  Omit<ServerConfig, keyof Blocks>,
  {
    readonly a2aUrl: Endpoint | undefined;
    readonly serviceApiUrl: Endpoint | undefined;
    readonly agentCardUrl: Endpoint | undefined;
    readonly serviceApiKey: Secret | undefined;
    readonly serviceToken: Secret | undefined;
    readonly serviceAuthStrategy: string;
    readonly authProvider: string;
    readonly upstream: ResolvedUpstream;
    readonly dispatcher: Ways | undefined;
    readonly a2aMethods: ServerConfig['a2aMethods'];
    readonly conversations: ServerConfig['conversations'];
    readonly bindings: readonly string[];
    readonly allowedOrigins: ReadonlySet<string>;
    readonly mediaOrigins: ReadonlySet<string>;
    readonly allowedHosts: readonly HostName[];
    readonly cacheStore: string | CacheStore | KeyvLike | undefined;
    readonly cacheKeys: readonly SealingKey[];
    readonly chatLimit: VisitorLimit | undefined;
    readonly userLimit: VisitorLimit | undefined;
    readonly telemetry: readonly Telemetry[] | undefined;
  }
>;

/** A configuration whose fields have been read: complete, with secrets wrapped. */
export type ConfigSettings = PlainSettings & Blocks;

/** A row for every field of every block that a site can set, and for no other block. */
type BlockRows = {
  readonly [Block in keyof Blocks]: {
    readonly fields: { readonly [Name in keyof NonNullable<ServerConfig[Block]>]-?: SettingRow };
  };
};

/** A common name, so it is read under the strategy `static_token` only. */
export const SERVICE_TOKEN = 'SERVICE_TOKEN';

const bearerToken: OptionCheck = accept(
  (value) => typeof value === 'string' && (value === '' || isTokenText(withoutScheme(value))),
  'the token alone: ASCII, no spaces',
);
const isString = (value: unknown): boolean => typeof value === 'string';
const areProviders: OptionCheck = accept(
  (value) => hasFields(value) && Object.values(value).every((one) => hasMethods(one, ['identity', 'issue'])),
  'an object of providers, each with identity and issue',
);
export const providers: OptionCheck = (value, all) => {
  const taken = Object.keys(Object(value) as object).find((name) => isTaken(name));
  return (
    areProviders(value, all) ?? (taken && `Rename "${taken}": this package has a strategy or provider of this name.`)
  );
};

/** True for the names of this package, and of its flows, which a provider of the site would replace. */
function isTaken(name: string): boolean {
  return [...STRATEGIES, ...AUTH_PROVIDERS].includes(name) || providerOf(name) !== undefined;
}

/** The blocks of all providers. */
const PROVIDER_ROWS = Object.fromEntries(
  Object.values(PROVIDERS).flatMap(({ blocks }) => Object.entries(blocks).map(([name, fields]) => [name, { fields }])),
) as Rows<ProviderBlocks> & Pick<BlockRows, keyof ProviderBlocks>;

/** A row for each field. The fields are documented in `ServerConfig`, which must have exactly the same ones. */
const ROWS: Rows<ConfigSettings> & BlockRows = {
  a2aUrl: { ...address('neither', 'a2aUrl', 'A2A_URL'), check: agentAddress },
  serviceApiUrl: address('principal', 'serviceApiUrl', 'SERVICE_API_URL'),
  serviceApiKey: watched(
    row('principal', (value, all) => string(value, all) ?? headerKey(value, all), optionalSecret, 'SERVICE_API_KEY'),
  ),
  // The key is sent in a header field.
  serviceProjectId: {
    ...textRow('principal', 'SERVICE_PROJECT_ID'),
    check: accept((value) => isString(value) && /^[ -~]*$/.test(String(value)), 'an id in ASCII'),
  },
  serviceAuthStrategy: { ...textRow('principal', 'SERVICE_AUTH_STRATEGY'), check: strategyName },
  serviceToken: watched(
    row(
      'principal',
      (value, all) => string(value, all) ?? bearerToken(value, all),
      (value?: string) => optionalSecret(withoutScheme(value ?? '')),
      SERVICE_TOKEN,
    ),
  ),
  authProvider: {
    ...textRow('principal', 'AUTH_PROVIDER'),
    check: providerName,
    isForeign: (value, all) => providerName(value, all)?.startsWith('Known') === true,
  },
  // Each states its own identity.
  identityProviders: {
    ...row('neither', providers, (own: ServerConfig['identityProviders'] = {}) => own),
    fields: {},
  },
  ...PROVIDER_ROWS,
  publicUrl: row('neither', string, publicAddress, 'PUBLIC_URL'),
  agentCardUrl: address('neither', 'agentCardUrl', 'A2A_AGENT_CARD_URL'),
  bindings: row(
    'neither',
    accept(
      (value) => isListOf(value, (item) => item === 'JSONRPC' || item === 'HTTP+JSON'),
      'a list of "JSONRPC" and "HTTP+JSON"',
    ),
    (bindings: readonly string[] = []) => [...new Set(['JSONRPC', ...bindings])],
  ),
  upstream: {
    ...row('principal', UPSTREAM, resolveUpstream),
    fields: { paths: { fields: {} }, headers: { fields: {} } },
  },
  dispatcher: row(
    'neither',
    accept(
      (value) => isDispatcher(value) || isPair(value),
      'a dispatcher of undici, such as new ProxyAgent(address), or to { agent, platform } with one each; an address, or an agent of node:http, is none',
    ),
    (given?: ServerConfig['dispatcher']) =>
      given &&
      (isDispatcher(given) ? { agent: given, platform: given } : { agent: given.agent, platform: given.platform }),
  ),
  a2aMethods: usual(
    accept(
      (value) => value === 'chat' || value === 'all' || isListOf(value, isString),
      '"chat", "all", or a list of strings',
    ),
    undefined,
  ),
  conversations: usual(
    accept((value) => value === 'open' || value === 'visitor', '"open" or "visitor"'),
    undefined,
    'A2A_CONVERSATIONS',
  ),
  timeouts: {
    fields: {
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
  },
  bodyLimitBytes: wholeNumber(2_097_152, 1),
  maxInFlight: wholeNumber(0),
  keepAliveMs: milliseconds(15_000),
  allowedOrigins: origins('allowedOrigins'),
  mediaOrigins: origins('mediaOrigins'),
  trustBrandCss: usual(flag, false),
  configPerUser: usual(flag, true),
  allowedHosts: row('neither', strings, (hosts: readonly string[] = []) => hosts.map(allowedHost)),
  authUnavailableStatus: usual(
    accept((value) => value === 401 || value === 503, '401 or 503'),
    401,
  ),
  onBehalfOf: {
    fields: {
      provider: { ...textRow('principal'), check: (value, all) => string(value, all) ?? nameHint(value, EXCHANGES) },
      scope: textRow('principal'),
      audience: textRow('principal'),
      subjectTokenType: textRow('principal'),
      clientId: textRow('principal'),
      tenantId: textRow('principal'),
      clientSecret: secretRow(),
      certificatePath: textRow('proof'),
      privateKeyPath: textRow('proof'),
    },
  },
  cacheStore: {
    ...usual(
      accept(
        // A `Map` and most LRU caches can be iterated.
        (value) =>
          isString(value) || (hasMethods(value, ['get', 'set', 'delete']) && !(Symbol.iterator in Object(value))),
        'an address, a Keyv, or a CacheStore with get, set and delete; a Map keeps entries that have expired',
      ),
      undefined,
      'CACHE_URL',
    ),
    file: 'read at start',
    isForeign: isOtherStore,
  },
  // These keys are used for the digest of every proof.
  cacheKeys: {
    ...row('proof', strings, (keys: readonly string[] = []) => keys.map(sealingKey), 'CACHE_KEYS'),
    isList: true,
    file: 'read at start',
    // A shorter text is no key, whatever its form.
    isForeign: (value, { cacheStore, conversations }: ServerConfig) =>
      (cacheStore === undefined || isOtherStore(cacheStore)) &&
      conversations !== 'visitor' &&
      [value].flat().every((key) => !/^[\w+/=-]{22,}$/.test(String(key))),
  },
  chatLimit: usual(methods('admit'), undefined),
  name: usual(
    accept(
      (value) => isString(value) && /^[\w.-]{0,64}$/.test(String(value)),
      'up to 64 letters, digits, dots, underscores and hyphens',
    ),
    '',
  ),
  userLimit: usual(methods('admit'), undefined),
  telemetry: row(
    'neither',
    accept(
      (value) => value === 'silent' || [value].flat().every(isTelemetry),
      'an object with emit, such as loggerTelemetry(logger), several, or "silent"',
    ),
    (telemetry?: ServerConfig['telemetry']) =>
      telemetry === undefined ? undefined : telemetry === 'silent' ? [] : [telemetry].flat(),
  ),
};

/** The table with a type for iterating. */
export const FIELDS: AnyRows = ROWS as AnyRows;

/** A key alone needs no strategy. */
function strategyName(value: unknown, all: object): string | undefined {
  const hint = named(STRATEGIES)(value, all);
  const isKey = hint !== undefined && typeof value === 'string' && /key/i.test(value);
  return isKey ? `${hint} For "serviceApiKey" alone, leave it out.` : hint;
}

/** Accepts these names, and those of the site's own providers. */
function named(known: readonly string[]): OptionCheck {
  return (value, all: Pick<ServerConfig, 'identityProviders'>) =>
    string(value, all) ?? nameHint(value, [...known, ...Object.keys(all.identityProviders ?? {})]);
}

/** For the name of a vendor, such as "auth0", the hint is its provider, also in another spelling. */
function providerName(value: unknown, all: object): string | undefined {
  const hint = named(AUTH_PROVIDERS)(value, all);
  const vendor = hint === undefined || typeof value !== 'string' ? undefined : similar(value, [...VENDORS.keys()]);
  return vendor === undefined
    ? hint
    : `Set it to "${String(VENDORS.get(vendor))}", which is for providers like ${vendor}.`;
}

/** True for the address of a server that is neither Redis nor Valkey, nor almost. */
function isOtherStore(value: unknown): boolean {
  const text = typeof value === 'string' ? value.trim() : '';
  const [, scheme] = /^([a-z][a-z\d.-]*)(?:\+\w+)?:\/\//i.exec(text) ?? [];
  return scheme !== undefined && similar(scheme, ['redis', 'rediss', 'valkey', 'valkeys']) === undefined;
}

function isDispatcher(value: unknown): value is DispatcherLike {
  return hasMethods(value, ['dispatch']);
}

function isPair(value: unknown): boolean {
  const isWay = ([name, one]: [string, unknown]): boolean =>
    (name === 'agent' || name === 'platform') && (one === undefined || isDispatcher(one));
  return hasFields(value) && Object.entries(value).every(isWay);
}

function address(side: Side, name: string, variable?: string): SettingRow<Endpoint | undefined> {
  return row(side, string, (value?: string) => (value ? endpoint(name, value) : undefined), variable);
}

/** Rejects the address of the card, which people often copy from a browser. */
function agentAddress(value: unknown): string | undefined {
  if (!isString(value)) return string(value, {});
  if (!String(value).includes('/.well-known/')) return undefined;
  return 'This is the address of the agent card: remove the part from "/.well-known/" on, and set "agentCardUrl" to it if the agent is elsewhere.';
}

function milliseconds(initial: number, least = 0): SettingRow<number> {
  return wholeNumber(initial, least, MAX_TIMER_MS);
}

function wholeNumber(initial: number, least = 0, most = Infinity): SettingRow<number> {
  const isRight = (value: unknown): boolean =>
    Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
  const end = most === Infinity ? '' : ` to ${String(most)}`;
  return usual(accept(isRight, `a whole number from ${String(least)}${end}`), initial);
}

/** A value that is read as it is; `initial` if there is none. */
function usual<Value>(check: OptionCheck, initial: Value, variable?: string): SettingRow<Value> {
  return row('neither', check, (value?: Value) => value ?? initial, variable);
}

/** False for a logger that is an emitter, such as one of pino or winston: its `emit` calls listeners it does not have. */
export function isTelemetry(value: unknown): boolean {
  return hasMethods(value, ['emit']) && !hasMethods(value, ['info', 'on']);
}

function isListOf(value: unknown, isRight: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isRight);
}

function origins(name: string): SettingRow<ReadonlySet<string>> {
  return row('neither', strings, (given: readonly string[] = []) => new Set(given.map((one) => originOf(one, name))));
}

function sealingKey(value: string): SealingKey {
  const reading = readSealingKey(secret(value));
  if (reading.kind === 'key') return reading.key;
  throw invalidField('cacheKeys', 'Invalid key in "cacheKeys".', reading.advice);
}
