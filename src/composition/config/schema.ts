import type { KeyvLike } from '../../adapters/keyv/keyv-cache-store.js';
import { readSealingKey, type SealingKey } from '../../adapters/keyv/sealed-cache-store.js';
import type { HostName } from '../../adapters/web/admission.js';
import { ConfigurationError } from '../../domain/shared/errors.js';
import {
  accept,
  hasMethods,
  headerKey,
  text as string,
  texts as strings,
  type OptionCheck,
} from '../../domain/shared/options.js';
import { optionalSecret, type Secret, secret } from '../../domain/shared/secret.js';
import { withoutTrailingSlashes } from '../../domain/shared/paths.js';
import { type Endpoint, endpoint } from '../../domain/upstream/platform-call.js';
import type { CacheStore } from '../../ports/cache-store.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { VisitorLimit } from '../../ports/visitor-limit.js';
import { allowedHost } from './allowed-hosts.js';
import type {
  IdpAConfig,
  IdpAServiceUserConfig,
  IdpBServiceConfig,
  OnBehalfOfConfig,
  ServerConfig,
  ServiceAccountConfig,
  TimeoutsConfig,
} from './server-config.js';
import { type ResolvedUpstream, resolveUpstream } from './upstream-config.js';

/** The fields of a configuration once they are read: complete, secrets wrapped. `Read` names those that are no longer what they were set as. */
type ReadFields<Config, Read> = {
  readonly [Name in keyof Config]-?: Name extends keyof Read ? Read[Name] : NonNullable<Config[Name]>;
};

/** The configuration once its fields are read; what is made of several fields is not in it. */
export type ConfigFields = ReadFields<
  ServerConfig,
  {
    readonly a2aUrl: Endpoint | undefined;
    readonly serviceApiUrl: Endpoint | undefined;
    readonly agentCardUrl: Endpoint | undefined;
    readonly serviceApiKey: Secret | undefined;
    readonly authProvider: string;
    readonly serviceAccount: ReadFields<ServiceAccountConfig, { readonly privateKeyPem: Secret | undefined }>;
    readonly idpA: ReadFields<IdpAConfig, { readonly clientSecret: Secret }>;
    readonly idpAServiceUser: ReadFields<IdpAServiceUserConfig, { readonly password: Secret }>;
    readonly idpBService: ReadFields<IdpBServiceConfig, { readonly clientSecret: Secret }>;
    readonly onBehalfOf: ReadFields<OnBehalfOfConfig, { readonly provider: string; readonly clientSecret: Secret }>;
    readonly timeouts: ReadFields<TimeoutsConfig, object>;
    readonly upstream: ResolvedUpstream;
    readonly a2aMethods: ServerConfig['a2aMethods'];
    readonly bindings: readonly string[];
    readonly allowedOrigins: ReadonlySet<string>;
    readonly mediaOrigins: ReadonlySet<string>;
    readonly allowedHosts: readonly HostName[];
    readonly authUnavailableStatus: number;
    readonly cacheStore: string | CacheStore | KeyvLike | undefined;
    readonly cacheKeys: readonly SealingKey[];
    readonly chatLimit: VisitorLimit | undefined;
    readonly telemetry: readonly Telemetry[] | undefined;
  }
>;

/**
 * What a field says of whose a credential is: `principal`, whom it stands for or where it is sent; `proof`, only how that is proved; `neither`.
 * Renders and agent cards are shared by one principal, tokens by one principal and proof.
 */
type Side = 'principal' | 'proof' | 'neither';

/** One field: its side, what it may be, what it becomes (without a value: its default), and the environment variable that sets it. */
interface Field<Value = unknown> {
  readonly side: Side;
  readonly check: OptionCheck;
  readonly read: (value: unknown) => Value;
  readonly variable?: string | undefined;
  /** Whether the variable holds several values, with commas between. */
  readonly isList?: boolean;
  /** Other forms of the same value, in the same block: whichever is given later counts. */
  readonly replaces?: readonly string[];
}

/** A row for every field, and for no other. A block is a row of rows; set again, it is merged field by field. */
type Rows<Value> = { readonly [Name in keyof Value]: Field<Value[Name]> | { readonly fields: Rows<Value[Name]> } };

/** What a site sets, by field. */
export type Values = Readonly<Record<string, unknown>>;

/** The table as it is walked. */
export type AnyRows = { readonly [name: string]: Partial<Field> & { readonly fields?: AnyRows } };

/** The longest a timer of Node can wait, 24 days; one that is to wait longer fires immediately. */
const MAX_MS = 2_147_483_647;

const isString = (value: unknown): boolean => typeof value === 'string';
export const object: OptionCheck = accept(isObject, 'an object');
export const providers: OptionCheck = accept(
  (value) => isObject(value) && Object.values(value).every((one) => hasMethods(one, ['identity', 'issue'])),
  'an object of providers, each with identity and issue',
);

/** All the code knows of each field; what it means stands beside its type in `ServerConfig`, whose fields this must have exactly. */
const ROWS: Rows<ConfigFields> = {
  a2aUrl: { ...address('neither', 'a2aUrl', 'A2A_URL'), check: agentAddress },
  serviceApiUrl: address('principal', 'serviceApiUrl', 'SERVICE_API_URL'),
  serviceApiKey: field(
    'principal',
    (value, all) => string(value, all) ?? (value === '' ? undefined : headerKey(value, all)),
    optionalSecret,
    'SERVICE_API_KEY',
  ),
  // It is sent in a header field.
  serviceProjectId: {
    ...text('principal', 'SERVICE_PROJECT_ID'),
    check: accept((value) => isString(value) && /^[ -~]*$/.test(String(value)), 'an id in ASCII'),
  },
  serviceAuthStrategy: text('principal', 'SERVICE_AUTH_STRATEGY'),
  authProvider: text('principal', 'AUTH_PROVIDER'),
  identityProviders: {
    // Each states its own identity.
    ...field('neither', providers, (own: ServerConfig['identityProviders'] = {}) => own),
    fields: {} as never,
  },
  serviceAccount: {
    fields: {
      serviceAccountId: text('principal', 'SERVICE_ACCOUNT_ID'),
      keyId: text('proof', 'SERVICE_ACCOUNT_KEY_ID'),
      privateKeyPem: {
        ...field('proof', string, optionalSecret, 'SERVICE_ACCOUNT_PRIVATE_KEY'),
        replaces: ['privateKeyPath'],
      },
      privateKeyPath: { ...text('proof', 'SERVICE_ACCOUNT_PRIVATE_KEY_PATH'), replaces: ['privateKeyPem'] },
      audience: field(
        'principal',
        accept(
          (value) => value === false || isString(value) || isListOf(value, isString),
          'a string, a list of strings, or false',
        ),
        (audience: string | readonly string[] | false = '') => audience,
        'SERVICE_ACCOUNT_AUDIENCE',
      ),
      subject: text('principal'),
      issuer: text('principal'),
      claims: field('principal', object, (claims: Readonly<Record<string, unknown>> = {}) => claims),
    },
  },
  idpA: {
    fields: {
      domain: text('principal', 'IDP_A_DOMAIN'),
      clientId: text('principal', 'IDP_A_CLIENT_ID'),
      clientSecret: secretText('IDP_A_CLIENT_SECRET'),
      audience: text('principal', 'IDP_A_AUDIENCE'),
      scope: text('principal', 'IDP_A_SCOPE'),
      realm: text('principal', 'IDP_A_REALM'),
    },
  },
  idpAServiceUser: {
    fields: {
      username: text('principal', 'IDP_A_SERVICE_USER_USERNAME'),
      password: secretText('IDP_A_SERVICE_USER_PASSWORD'),
    },
  },
  idpBService: {
    fields: {
      tenantId: text('principal', 'IDP_B_TENANT_ID'),
      authority: text('principal', 'IDP_B_AUTHORITY'),
      clientId: text('principal', 'IDP_B_CLIENT_ID'),
      scope: text('principal', 'IDP_B_SCOPE'),
      clientSecret: secretText('IDP_B_CLIENT_SECRET'),
      certificatePath: text('proof', 'IDP_B_CERTIFICATE_PATH'),
      privateKeyPath: text('proof', 'IDP_B_PRIVATE_KEY_PATH'),
    },
  },
  publicUrl: field('neither', string, publicAddress, 'PUBLIC_URL'),
  agentCardUrl: address('neither', 'agentCardUrl', 'A2A_AGENT_CARD_URL'),
  bindings: field(
    'neither',
    accept(
      (value) => isListOf(value, (item) => item === 'JSONRPC' || item === 'HTTP+JSON'),
      'a list of "JSONRPC" and "HTTP+JSON"',
    ),
    (bindings: readonly string[] = []) => [...new Set(['JSONRPC', ...bindings])],
  ),
  // Has a reader of its own, which knows what a path may be; its blocks are listed for merging.
  upstream: {
    ...field('principal', object, resolveUpstream),
    fields: { paths: { fields: {} }, headers: { fields: {} } } as never,
  },
  a2aMethods: field(
    'neither',
    accept(
      (value) => value === 'chat' || value === 'all' || isListOf(value, isString),
      '"chat", "all", or a list of strings',
    ),
    (methods?: ServerConfig['a2aMethods']) => methods,
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
  trustBrandCss: field(
    'neither',
    accept((value) => typeof value === 'boolean', 'true or false'),
    (trusted?: boolean) => trusted ?? false,
  ),
  allowedHosts: field('neither', strings, (hosts: readonly string[] = []) => hosts.map(allowedHost)),
  authUnavailableStatus: field(
    'neither',
    accept((value) => value === 401 || value === 503, '401 or 503'),
    (status?: number) => status ?? 401,
  ),
  onBehalfOf: {
    fields: {
      provider: text('principal'),
      scope: text('principal'),
      audience: text('principal'),
      subjectTokenType: text('principal'),
      clientId: text('principal'),
      tenantId: text('principal'),
      clientSecret: secretText(),
      certificatePath: text('proof'),
      privateKeyPath: text('proof'),
    },
  },
  cacheStore: field(
    'neither',
    accept(
      (value) => isString(value) || hasMethods(value, ['get', 'set', 'delete']),
      'an address, or an object with get, set and delete',
    ),
    (store?: string | CacheStore | KeyvLike) => store,
    'CACHE_URL',
  ),
  // They key the digest of every proof.
  cacheKeys: {
    ...field('proof', strings, (keys: readonly string[] = []) => keys.map(sealingKey), 'CACHE_KEYS'),
    isList: true,
  },
  chatLimit: field(
    'neither',
    accept((value) => hasMethods(value, ['admit']), 'an object with admit'),
    (limit?: VisitorLimit) => limit,
  ),
  telemetry: field(
    'neither',
    accept(
      (value) => value === 'silent' || [value].flat().every((one) => hasMethods(one, ['emit'])),
      'an object with emit, several, or "silent"',
    ),
    (told?: ServerConfig['telemetry']) => (told === undefined ? undefined : told === 'silent' ? [] : [told].flat()),
  ),
};

/** The same table, to be walked. */
export const FIELDS: AnyRows = ROWS as AnyRows;

function field<Given, Value>(
  side: Side,
  check: OptionCheck,
  read: (value?: Given) => Value,
  variable?: string,
): Field<Value> {
  return { side, check, read: read as (value: unknown) => Value, variable };
}

function text(side: Side, variable?: string): Field<string> {
  return field(side, string, (value?: string) => value ?? '', variable);
}

/** Wrapped, so that nothing prints it, and `configuredSecrets` finds it. */
function secretText(variable?: string): Field<Secret> {
  return field('proof', string, (value?: string) => secret(value ?? ''), variable);
}

function address(side: Side, name: string, variable?: string): Field<Endpoint | undefined> {
  return field(side, string, (value?: string) => (value ? endpoint(name, value) : undefined), variable);
}

/** The address people copy from a browser is often that of the card. */
function agentAddress(value: unknown): string | undefined {
  if (!isString(value)) return string(value, {});
  if (!String(value).includes('/.well-known/')) return undefined;
  return 'That is the address of the agent card: leave out what begins with "/.well-known/", and set "agentCardUrl" to it where the agent is elsewhere.';
}

function milliseconds(initial: number, least = 0): Field<number> {
  return wholeNumber(initial, least, MAX_MS);
}

function wholeNumber(initial: number, least = 0, most = Infinity): Field<number> {
  const problem = (value: unknown): string | undefined => {
    if (typeof value !== 'number' || Number.isNaN(value)) return 'a number';
    if (!Number.isInteger(value)) return 'a whole number';
    if (value < least) return `a number of at least ${String(least)}`;
    return value > most ? `a number of at most ${String(most)}` : undefined;
  };
  const check: OptionCheck = (value) => {
    const words = problem(value);
    return words && `Set it to ${words}.`;
  };
  return field('neither', check, (value?: number) => value ?? initial);
}

function isListOf(value: unknown, isRight: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isRight);
}

/** Whether a value has fields of the site's own: no list, no promise that nobody awaited, no map, no URL. */
export function isObject(value: unknown): value is Values {
  return ['[object Object]', '[object Module]'].includes(Object.prototype.toString.call(value));
}

function publicAddress(value = ''): string {
  if (value === '') return '';
  const { origin, path } = endpoint('publicUrl', value);
  return withoutTrailingSlashes(origin + path);
}

function origins(name: string): Field<ReadonlySet<string>> {
  return field('neither', strings, (given: readonly string[] = []) => new Set(given.map((one) => originOf(one, name))));
}

function originOf(origin: string, name: string): string {
  // Browsers leave the scheme's own port out.
  if (/^https?:\/\/[^/\\?#*\s,@]+$/i.test(origin) && URL.canParse(origin)) return new URL(origin).origin;
  throw new ConfigurationError({
    detail: `Invalid origin in "${name}".`,
    hint: 'List scheme and host only, such as https://shop.example.',
    block: 'configureServer',
    fields: [name],
  });
}

function sealingKey(value: string): SealingKey {
  const reading = readSealingKey(secret(value));
  if (reading.kind === 'key') return reading.key;
  throw new ConfigurationError({
    detail: 'Invalid key in "cacheKeys".',
    hint: reading.advice,
    block: 'configureServer',
    fields: ['cacheKeys'],
  });
}
